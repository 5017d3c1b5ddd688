#include "app/text_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/chat_prompt.h"
#include "base/units.h"

namespace hwtv::app {

Result<std::vector<std::vector<int32_t>>> text_windows(const text::Tokenizer& tokenizer,
                                                       const std::string& text,
                                                       int64_t window_tokens, int64_t n_windows) {
  const std::vector<int32_t> tokens = with_bos(tokenizer, tokenizer.encode(text, false));
  const size_t width = static_cast<size_t>(window_tokens);
  size_t n = tokens.size() / width;
  if (n_windows > 0) n = std::min(n, static_cast<size_t>(n_windows));
  if (n == 0)
    return fail(ErrorCode::invalid_request,
                fmt::format("the text has {}, one window takes {}",
                            format_tokens(static_cast<int64_t>(tokens.size())), width),
                tokens.size() >= 4
                    ? fmt::format("give a longer text, or --ctx {} or less", tokens.size())
                    : std::string("give a longer text: four tokens at least"));
  std::vector<std::vector<int32_t>> windows;
  for (size_t i = 0; i < n; ++i) {
    const auto begin = tokens.begin() + static_cast<ptrdiff_t>(i * width);
    windows.emplace_back(begin, begin + static_cast<ptrdiff_t>(width));
    if (tokenizer.add_bos() && tokenizer.special_ids().bos)
      windows.back().front() = *tokenizer.special_ids().bos;
  }
  return windows;
}

}  // namespace hwtv::app
