// The kept rates as arbitrary bytes: refused, or rates that every reader can work with.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "hw/rates_file.h"

namespace hwtv::hw {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rates = parse_rates(text, {"0123456789abcdef", 2, {"avx2", "scalar"}});
  if (!rates) return 0;
  for (const double bytes : {1.0, 1e6, 1e9, 1e15}) {
    const Peak peak = rates->peak(bytes, "scalar");
    CHECK(peak.bytes_per_s > 0 && peak.flops_per_s > 0 && peak.int8_ops_per_s > 0);
  }
  return 0;
}

}  // namespace hwtv::hw
