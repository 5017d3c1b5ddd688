#include "probe/parse.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace hwtv::probe {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::optional<int64_t> scaled(std::optional<int64_t> number, int64_t factor) {
  if (!number || *number < 0 || *number > std::numeric_limits<int64_t>::max() / factor)
    return std::nullopt;
  return *number * factor;
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) parts.emplace_back(take_until(text, separator));
  return parts;
}

// mountinfo writes a space in a path as \040.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view take_until(std::string_view& rest, char separator) {
  const size_t at = rest.find(separator);
  const std::string_view before = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return before;
}

std::optional<int64_t> parse_int(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trimmed(text);
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const bool is_range = range.find('-') != std::string_view::npos;
    const auto first = parse_int(take_until(range, '-'));
    const auto last = is_range ? parse_int(range) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return std::nullopt;
    if (!cpus.empty() && *first <= cpus.back()) return std::nullopt;  // the kernel sorts them
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::optional<int64_t> parse_size(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  int64_t factor = 1;
  if (text.back() == 'K') factor = int64_t{1} << 10;
  if (text.back() == 'M') factor = int64_t{1} << 20;
  if (text.back() == 'G') factor = int64_t{1} << 30;
  if (factor > 1) text.remove_suffix(1);
  return scaled(parse_int(text), factor);
}

std::optional<int64_t> parse_kib_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ':') != key) continue;
    line = trimmed(line);
    if (line.size() < 3 || line.substr(line.size() - 2) != "kB") return std::nullopt;
    return scaled(parse_int(line.substr(0, line.size() - 2)), 1024);
  }
  return std::nullopt;
}

std::optional<int64_t> parse_flat_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') == key) return parse_int(line);
  }
  return std::nullopt;
}

std::optional<std::string> parse_cpuinfo_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (trimmed(take_until(line, ':')) == key) return std::string(trimmed(line));
  }
  return std::nullopt;
}

std::vector<std::string> parse_words(std::string_view text) {
  std::vector<std::string> words;
  for (text = trimmed(text); !text.empty();) {
    const size_t end = std::min(text.find_first_of(kSpaces), text.size());
    words.emplace_back(text.substr(0, end));
    text = trimmed(text.substr(end));
  }
  return words;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::vector<std::string> words = parse_words(text.substr(0, 128));
  if (words.empty() || words.size() > 2) return std::nullopt;
  if (words[0] == "max") return 0;
  const auto quota = parse_int(words[0]);
  const auto period = words.size() == 2 ? parse_int(words[1]) : 100000;
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::vector<CgroupPath> parse_cgroup_paths(std::string_view text) {
  std::vector<CgroupPath> paths;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    take_until(line, ':');  // the hierarchy's number
    const std::string_view controllers = take_until(line, ':');
    if (!line.empty() && line.front() == '/')
      paths.push_back({split(controllers, ','), std::string(line)});
  }
  return paths;
}

std::vector<Mount> parse_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string> before = parse_words(line.substr(0, dash));
    const std::vector<std::string> after = parse_words(line.substr(dash + 3));
    if (before.size() < 5 || after.size() < 3) continue;
    mounts.push_back({unescaped(before[3]), unescaped(before[4]), after[0], split(after[2], ',')});
  }
  return mounts;
}

std::optional<int64_t> parse_smaps_rss(std::string_view text, uint64_t begin, uint64_t end) {
  std::optional<int64_t> total;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    std::string_view head = line.substr(0, line.find(' '));
    const auto from = parse_hex(take_until(head, '-'));
    const auto to = parse_hex(head);
    if (from && to) {
      inside = *from < end && begin < *to;
    } else if (inside && line.substr(0, 4) == "Rss:") {
      const int64_t rss = parse_kib_field(line, "Rss").value_or(0);
      if (rss > std::numeric_limits<int64_t>::max() - total.value_or(0)) return std::nullopt;
      total = total.value_or(0) + rss;
    }
  }
  return total;
}

}  // namespace hwtv::probe
