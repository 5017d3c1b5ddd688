// The kernel's text formats as values.  Pure functions of text, which is taken as hostile: nothing
// here crashes or throws, and what comes back is bounded by the text's size and kMaxCpus.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hwtv::probe {

inline constexpr int kMaxCpus = 1 << 16;  // CPU numbers above are taken as nonsense

std::string_view trimmed(std::string_view text);
// Cuts `rest` after its first `separator` and gives what stood before; all of it when there is
// none.
std::string_view take_until(std::string_view& rest, char separator);

std::optional<int64_t> parse_int(std::string_view text);                // "-1"; the whole text
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);  // "0-3,8"; "" is no CPU
std::optional<int64_t> parse_size(std::string_view text);               // "48K" -> 49152 bytes

// "Key:   123 kB" lines of meminfo, status and smaps -> bytes.
std::optional<int64_t> parse_kib_field(std::string_view text, std::string_view key);
// "key 123" lines of memory.stat and vmstat.
std::optional<int64_t> parse_flat_field(std::string_view text, std::string_view key);
// "key\t: value" lines of cpuinfo: the first one.
std::optional<std::string> parse_cpuinfo_field(std::string_view text, std::string_view key);
std::vector<std::string> parse_words(std::string_view text);

// cpu.max: "150000 100000" -> 1.5 CPUs; "max 100000" -> 0 (no quota).
std::optional<double> parse_cpu_max(std::string_view text);

// A line of /proc/self/cgroup: "4:memory:/a/b"; no controllers in the v2 line "0::/a".
struct CgroupPath {
  std::vector<std::string> controllers;
  std::string path;
};
std::vector<CgroupPath> parse_cgroup_paths(std::string_view text);

// A line of /proc/self/mountinfo, as far as cgroups need it.
struct Mount {
  std::string root;                  // the folder of that file system which is mounted
  std::string folder;                // where
  std::string type;                  // "cgroup", "cgroup2"
  std::vector<std::string> options;  // of the file system: "rw", "memory"
};
std::vector<Mount> parse_mounts(std::string_view text);

// The Rss in bytes of all mappings in smaps that overlap [begin, end); none when no mapping does.
std::optional<int64_t> parse_smaps_rss(std::string_view text, uint64_t begin, uint64_t end);

}  // namespace hwtv::probe
