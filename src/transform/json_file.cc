#include "transform/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_member.h"

namespace hwtv::transform {

using Json = nlohmann::json;

namespace {

constexpr int64_t kBytesMax = int64_t{1} << 30;  // real ones: 40 MB, of 262,144 tokens

}  // namespace

Result<Json> read_json(const std::string& path, std::span<const std::string_view> skip) {
  HWTV_TRY(const std::string text, read_file(path, kBytesMax));
  const auto keep = [&](int, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::key) return true;
    return std::ranges::find(skip, std::string_view(value.get_ref<std::string&>())) == skip.end();
  };
  Json json = Json::parse(text, keep, false);
  if (json.is_object()) return json;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has {} bytes and is no JSON object", path, text.size()),
              "the file is damaged or cut short: fetch it again");
}

Result<Json> read_json_if_there(const std::string& path, std::span<const std::string_view> skip) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return Json();
  return read_json(path, skip);
}

std::string token_text(const Json& settings, std::string_view kind) {
  const Json* token = json_member(settings, fmt::format("{}_token", kind));
  if (!token) return {};
  return token->is_string() ? token->get<std::string>() : json_text(*token, "content");
}

}  // namespace hwtv::transform
