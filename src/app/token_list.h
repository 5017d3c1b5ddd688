// Token ids as a person or another program writes them: "1 2 3", "[1, 2, 3]", one per line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::app {

// Errors: invalid_request, naming the first word that is no id of a vocabulary of this size.
Result<std::vector<int32_t>> parse_token_list(std::string_view text, int64_t vocab_size);

// The same from a file; "" or "-": stdin.
Result<std::vector<int32_t>> read_token_list(const std::string& file, int64_t vocab_size);

}  // namespace hwtv::app
