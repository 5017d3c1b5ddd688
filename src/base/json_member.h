// Members of JSON documents that come from outside: there or not, of the type or not.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hwtv {

// A member that is there and not null; nullptr otherwise, also where `object` is none.
const nlohmann::json* json_member(const nlohmann::json& object, std::string_view key);

// A text as UTF-8; empty where the member is no text.
std::string json_text(const nlohmann::json& object, std::string_view key);

}  // namespace hwtv
