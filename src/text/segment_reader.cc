#include "text/segment_reader.h"

#include <algorithm>

#include "text/literal.h"

namespace hwtv::text {

using nlohmann::json;

Match match(std::string_view text, std::string_view mark) {
  const size_t n = std::min(text.size(), mark.size());
  if (text.substr(0, n) != mark.substr(0, n)) return Match::no;
  return n == mark.size() ? Match::yes : Match::partial;
}

size_t count_spaces(std::string_view text) {
  return std::min(text.find_first_not_of(" \t\r\n"), text.size());
}

void AnswerInput::commit() {
  constexpr size_t kKept = 4096;  // moving the rest down costs less than it frees
  committed_ = at_;
  if (committed_ < kKept || committed_ < text_.size() / 2) return;
  text_.erase(0, committed_);
  dropped_ += committed_;
  at_ = committed_ = 0;
}

std::string AnswerInput::take_uncommitted() {
  std::string out = text_.substr(committed_, at_ - committed_);
  commit();
  return out;
}

size_t AnswerInput::find(std::string_view mark) {
  auto known = std::find_if(searched_.begin(), searched_.end(),
                            [&](const auto& entry) { return entry.first == mark.data(); });
  if (known == searched_.end()) known = searched_.insert(known, {mark.data(), 0});
  const size_t from = std::max(at_, known->second > dropped_ ? known->second - dropped_ : 0);
  const size_t found = text_.find(mark, from);
  if (found != std::string::npos) return found - at_;
  const size_t tail = std::min(mark.size() - 1, text_.size());
  known->second = std::max(known->second, dropped_ + text_.size() - tail);
  return std::string_view::npos;
}

Match AnswerInput::find_header_end(std::string_view mark, size_t& end) {
  end = find(mark);
  if (end <= kHeaderBytesMax) return Match::yes;
  const bool too_long =
      end != std::string_view::npos || unread().size() >= kHeaderBytesMax + mark.size();
  return too_long ? Match::no : Match::partial;
}

ToolTypes::ToolTypes(const std::string& tools_json) : tools_(json::object()) {
  const json list = json::parse(tools_json, nullptr, false);
  if (!list.is_array()) return;
  for (const json& tool : list) {
    if (!tool.is_object()) continue;
    const json& function = tool.contains("function") ? tool["function"] : tool;
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string()) {
      continue;
    }
    json& parameters = tools_[function["name"].get<std::string>()] = json::object();
    const json::json_pointer properties("/parameters/properties");
    if (function.contains(properties) && function[properties].is_object()) {
      parameters = function[properties];
    }
  }
}

const json* ToolTypes::parameter(std::string_view tool, std::string_view name) const {
  const auto found = tools_.find(std::string(tool));
  if (found == tools_.end()) return nullptr;
  const auto schema = found->find(std::string(name));
  return schema == found->end() ? nullptr : &*schema;
}

namespace {
// Does the schema allow a string, and anything else?
std::pair<bool, bool> string_and_other(const json* schema) {
  if (schema == nullptr || !schema->is_object()) return {true, true};
  const auto type = schema->find("type");
  if (type == schema->end()) return {true, true};
  if (type->is_string()) return {*type == "string", *type != "string"};
  bool string = false, other = false;
  if (type->is_array()) {
    for (const json& one : *type) (one == "string" ? string : other) = true;
  }
  return {string, other};
}
}  // namespace

std::string bare_value_to_json(std::string_view text, const json* schema) {
  const auto [string, other] = string_and_other(schema);
  if (other) {
    const auto value = literal_to_json(text);
    // A quoted text stays as it is, unless it can be no string: bare text has no quotes.
    if (value && (value->front() != '"' || !string)) return *value;
  }
  return quote_json(text);
}

bool is_tool_name(std::string_view name) {
  constexpr std::string_view kRefused = " \t\r\n<>{}[]()\"'`|,;=";
  return !name.empty() && name.size() <= kHeaderBytesMax &&
         name.find_first_of(kRefused) == std::string_view::npos;
}

}  // namespace hwtv::text
