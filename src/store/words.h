// Names as hubs, servers and the model folder have them.
#pragma once
#include <string>
#include <string_view>

namespace hwtv::store {

inline constexpr std::string_view kExtension = ".gguf";

std::string lower(std::string_view text);           // ASCII letters in lower case
std::string_view base_name(std::string_view path);  // what follows the last slash

}  // namespace hwtv::store
