// Values as JSON or Python writes them -> JSON.  Models write both where a format leaves it open.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hwtv::text {

// `text` as a JSON string, with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string quote_json(std::string_view text);

// The JSON of one literal with spaces around it: dict, list, tuple, string, number, True, None, ...
// nullopt: it is none, or nested deeper than 100.
std::optional<std::string> literal_to_json(std::string_view text);

// The same at the beginning of `text`; n_bytes: how many it took.
std::optional<std::string> leading_literal_to_json(std::string_view text, size_t& n_bytes);

}  // namespace hwtv::text
