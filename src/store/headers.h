// The answer's header fields that a download rests on (RFC 9110): ranges, validators, waits, pages.
#pragma once
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hwtv::store {

using Headers =
    std::vector<std::pair<std::string, std::string>>;  // of an answer: names in lower case

// Empty: there is none.
std::string_view header(const Headers& headers, std::string_view name);

// A whole number without sign that fits; nullopt: it is none.
std::optional<int64_t> parse_count(std::string_view text);

struct ContentRange {
  int64_t first = -1, last = -1;  // inclusive; -1: "*", the range could not be given
  int64_t total = -1;             // -1: "*", not known
};
// "bytes 0-99/1000", "bytes 0-99/*", "bytes */1000".  nullopt: malformed, or it contradicts itself.
std::optional<ContentRange> parse_content_range(std::string_view text);

// Seconds to wait, at least 0: a number, or a date less `now`.  nullopt: neither.
std::optional<double> parse_retry_after(std::string_view text, std::time_t now);

// What tells two versions of a file apart: a strong ETag, else Last-Modified; empty: nothing does.
std::string validator(const Headers& headers);
bool is_etag(std::string_view validator);

// The address of rel="next" in a Link field; empty: there is none.
std::string next_page(std::string_view link);

}  // namespace hwtv::store
