// JSON documents of a model's folder, with errors that name the file.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hwtv::transform {

// A file that holds an object; nothing of the keys in `skip`, at any depth, is kept.
// Errors: io; corrupt_file (no JSON, or no object); unsupported (beyond 1 GiB).
Result<nlohmann::json> read_json(const std::string& path,
                                 std::span<const std::string_view> skip = {});

// The same; null where there is no such file.
Result<nlohmann::json> read_json_if_there(const std::string& path,
                                          std::span<const std::string_view> skip = {});

// A member that is there and not null; nullptr otherwise.
const nlohmann::json* member(const nlohmann::json& object, std::string_view key);

// A text as UTF-8; empty where the member is no text.
std::string text_member(const nlohmann::json& object, std::string_view key);

}  // namespace hwtv::transform
