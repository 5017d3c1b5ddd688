#include "base/json_member.h"

#include <nlohmann/json.hpp>

namespace hwtv {

const nlohmann::json* json_member(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string json_text(const nlohmann::json& object, std::string_view key) {
  const nlohmann::json* value = json_member(object, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

}  // namespace hwtv
