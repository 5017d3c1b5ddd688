#include "store/headers.h"

#include <algorithm>
#include <charconv>

namespace hwtv::store {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string_view header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::optional<int64_t> parse_count(std::string_view text) {
  int64_t value = 0;
  const char* last = text.data() + text.size();
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text = trimmed(text.substr(kUnit.size()));
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view range = text.substr(0, slash), total = text.substr(slash + 1);
  ContentRange parsed;
  if (total != "*") {
    const auto count = parse_count(total);
    if (!count) return std::nullopt;
    parsed.total = *count;
  }
  if (range == "*") return parsed.total < 0 ? std::nullopt : std::optional(parsed);
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_count(range.substr(0, dash)), last = parse_count(range.substr(dash + 1));
  if (!first || !last || *last < *first || *last == INT64_MAX) return std::nullopt;
  if (parsed.total >= 0 && *last >= parsed.total) return std::nullopt;
  parsed.first = *first, parsed.last = *last;
  return parsed;
}

std::optional<double> parse_retry_after(std::string_view text, std::time_t now) {
  text = trimmed(text);
  if (const auto seconds = parse_count(text)) return static_cast<double>(*seconds);
  std::tm date{};
  const std::string word(text);
  const char* end = ::strptime(word.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (!end || *end) return std::nullopt;
  return std::max(0.0, static_cast<double>(::timegm(&date)) - static_cast<double>(now));
}

std::string validator(const Headers& headers) {
  const std::string_view etag = header(headers, "etag");
  if (etag.size() > 2 && etag.front() == '"' && etag.back() == '"') return std::string(etag);
  return std::string(header(headers, "last-modified"));
}

bool is_etag(std::string_view validator) { return validator.starts_with('"'); }

std::string next_page(std::string_view link) {
  while (!link.empty()) {
    const size_t begin = link.find('<');
    if (begin == std::string_view::npos) return {};
    const size_t end = link.find('>', begin);
    if (end == std::string_view::npos) return {};
    const std::string_view target = link.substr(begin + 1, end - begin - 1);
    const size_t next = std::min(link.find('<', end), link.size());
    const std::string_view parameters = link.substr(end, next - end);
    if (parameters.find("rel=\"next\"") != std::string_view::npos ||
        parameters.find("rel=next") != std::string_view::npos)
      return std::string(target);
    link.remove_prefix(next);
  }
  return {};
}

}  // namespace hwtv::store
