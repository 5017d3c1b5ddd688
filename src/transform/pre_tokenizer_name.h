// The name by which GGUF files call a byte-level tokenizer's way of cutting text into words.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::transform {

// From what a tokenizer.json says its pre_tokenizer does, not from what some tokenizer is called:
// two that cut alike get one name.  `path` is for messages.
// Errors: unsupported (a way that is not in the table, as it is written there).
Result<std::string> pre_tokenizer_name(const std::string& path, const nlohmann::json& tokenizer);

std::vector<std::string_view> recognised_pre_tokenizers();

}  // namespace hwtv::transform
