// Every parser of the kernel's texts on arbitrary bytes: no crash, and what comes back is bounded.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "probe/parse.h"

namespace hwtv::probe {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto cpus = parse_cpu_list(text)) CHECK(cpus->size() <= kMaxCpus);
  if (const auto bytes = parse_size(text)) CHECK(*bytes >= 0);
  if (const auto bytes = parse_kib_field(text, "MemTotal")) CHECK(*bytes >= 0);
  if (const auto rss = parse_smaps_rss(text, 0x1000, 0x7fff00000000)) CHECK(*rss >= 0);
  if (const auto quota = parse_cpu_max(text)) CHECK(*quota >= 0);
  parse_int(text);
  parse_flat_field(text, "inactive_file");
  parse_cpuinfo_field(text, "flags");
  CHECK(parse_words(text).size() <= size);
  CHECK(parse_cgroup_paths(text).size() <= size);
  CHECK(parse_mounts(text).size() <= size);
  return 0;
}

}  // namespace hwtv::probe
