#include "probe/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include "probe/parse.h"

namespace hwtv::probe {
namespace {

Observed<int64_t> field_of(const Observed<std::string>& text, const char* path, const char* key) {
  if (!text) return tl::unexpected(text.error());
  if (const auto bytes = parse_kib_field(*text, key)) return *bytes;
  return unobserved(Why::unparsable, std::string(path) + " (" + key + ")");
}

// The eighth number of the line "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", in
// ticks.
Observed<double> read_stolen(const Root& root) {
  const std::string path = "/proc/stat";
  const auto line = root.line(path);
  if (!line) return tl::unexpected(line.error());
  const std::vector<std::string> words = parse_words(*line);
  const auto ticks = words.size() > 8 && words[0] == "cpu" ? parse_int(words[8]) : std::nullopt;
  if (!ticks) return unobserved(Why::unparsable, path + " (steal)");
  return static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

MemoryFacts read_memory(const Root& root) {
  const char* path = "/proc/meminfo";
  const auto text = root.text(path);
  return {field_of(text, path, "MemTotal"), field_of(text, path, "MemAvailable"),
          field_of(text, path, "SwapTotal"), field_of(text, path, "SwapFree")};
}

ProcessMemory read_process_memory(const Root& root) {
  const char* path = "/proc/self/status";
  const auto text = root.text(path);
  return {field_of(text, path, "RssAnon"), field_of(text, path, "RssFile"),
          field_of(text, path, "VmHWM"), field_of(text, path, "VmSwap")};
}

Observed<int64_t> read_resident_bytes(const Root& root, const void* begin, int64_t n_bytes) {
  const std::string path = "/proc/self/smaps";
  const auto text = root.text(path);
  if (!text) return tl::unexpected(text.error());
  const auto from = reinterpret_cast<uintptr_t>(begin);
  if (const auto rss = parse_smaps_rss(*text, from, from + static_cast<uintptr_t>(n_bytes)))
    return *rss;
  return unobserved(Why::absent, path + " (a mapping at that address)");
}

Disturbance read_disturbance(const Root& root) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {used.ru_minflt, used.ru_majflt, used.ru_nivcsw, read_stolen(root)};
}

}  // namespace hwtv::probe
