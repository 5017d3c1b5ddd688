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

// A special token ("bos") as tokenizer_config.json tells it: its text, be it written plainly or
// with settings; empty: none.
std::string token_text(const nlohmann::json& settings, std::string_view kind);

}  // namespace hwtv::transform
