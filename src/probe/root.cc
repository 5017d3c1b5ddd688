#include "probe/root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "probe/parse.h"

namespace hwtv::probe {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

Why why_of(int error_number) {
  return error_number == EACCES || error_number == EPERM ? Why::denied : Why::absent;
}

// What to show of a text that could not be read as expected.
std::string excerpt(std::string_view text) { return std::string(text.substr(0, 40)); }

}  // namespace

std::string describe(const Unobserved& reason) {
  switch (reason.why) {
    case Why::absent:
      return reason.what + " is not present here";
    case Why::denied:
      return reason.what + " may not be read by this user";
    case Why::unparsable:
      return reason.what + " is not in a known form";
  }
  return reason.what;
}

Root::Root(std::string folder) : folder_(std::move(folder)) {
  while (!folder_.empty() && folder_.back() == '/') folder_.pop_back();
}

Observed<std::string> Root::text(const std::string& path) const {
  const int fd = ::open((folder_ + path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return unobserved(why_of(errno), path);
  std::string bytes;
  char buffer[1 << 14];
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) bytes.append(buffer, static_cast<size_t>(n));
  } while ((n > 0 && bytes.size() < kMaxBytes) || (n < 0 && errno == EINTR));
  const int error_number = errno;
  ::close(fd);
  if (n < 0) return unobserved(why_of(error_number), path);
  return bytes;
}

Observed<std::string> Root::line(const std::string& path) const {
  auto whole = text(path);
  if (!whole) return whole;
  return std::string(trimmed(std::string_view(*whole).substr(0, whole->find('\n'))));
}

Observed<int64_t> Root::number(const std::string& path) const {
  const auto read = line(path);
  if (!read) return tl::unexpected(read.error());
  if (const auto value = parse_int(*read)) return *value;
  return unobserved(Why::unparsable, fmt::format("{} (\"{}\")", path, excerpt(*read)));
}

Observed<std::vector<int>> Root::cpu_list(const std::string& path) const {
  const auto read = line(path);
  if (!read) return tl::unexpected(read.error());
  if (auto cpus = parse_cpu_list(*read)) return *std::move(cpus);
  return unobserved(Why::unparsable, fmt::format("{} (\"{}\")", path, excerpt(*read)));
}

bool Root::has(const std::string& path) const {
  return ::access((folder_ + path).c_str(), F_OK) == 0;
}

std::vector<int> Root::numbered(const std::string& path, const std::string& prefix) const {
  std::vector<int> numbers;
  const auto entries = names(path);
  if (!entries) return numbers;
  for (const std::string& name : *entries) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const auto number = parse_int(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0 && *number < kMaxCpus) numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Observed<std::vector<std::string>> Root::names(const std::string& path) const {
  std::error_code code;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(folder_ + path, code);
  if (code) return unobserved(why_of(code.value()), path);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    if (code) return unobserved(why_of(code.value()), path);
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hwtv::probe
