// A text cut into windows of equal length, as perplexity and importance data are taken over.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"

namespace hwtv::app {

// The windows' tokens, the first n_windows of them (0: all), a shorter rest left out; where the model
// wants BOS, it stands at the start of each.  Errors: invalid_request (a text shorter than a window).
Result<std::vector<std::vector<int32_t>>> text_windows(const text::Tokenizer& tokenizer,
                                                       const std::string& text,
                                                       int64_t window_tokens, int64_t n_windows);

}  // namespace hwtv::app
