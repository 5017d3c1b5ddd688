#include "gguf/split_name.h"

#include <fmt/format.h>

#include <charconv>

namespace hwtv::gguf {

std::optional<SplitName> parse_split_name(std::string_view path) {
  constexpr size_t kDigits = 5;
  constexpr std::string_view kOf = "-of-", kExtension = ".gguf";
  constexpr size_t kTailBytes = 1 + kDigits + kOf.size() + kDigits + kExtension.size();
  if (path.size() < kTailBytes) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kTailBytes);
  const auto number = [&](size_t begin) -> std::optional<int64_t> {
    int64_t value = 0;
    const char* first = tail.data() + begin;
    const auto [end, error] = std::from_chars(first, first + kDigits, value);
    if (error != std::errc() || end != first + kDigits || value < 1) return std::nullopt;
    return value;
  };
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf || !tail.ends_with(kExtension))
    return std::nullopt;
  const auto part = number(1), n_parts = number(1 + kDigits + kOf.size());
  if (!part || !n_parts || *part > *n_parts) return std::nullopt;
  return SplitName{std::string(path.substr(0, path.size() - kTailBytes)), *part, *n_parts};
}

std::string split_path(std::string_view stem, int64_t part, int64_t n_parts) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, n_parts);
}

}  // namespace hwtv::gguf
