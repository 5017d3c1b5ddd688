#include "app/token_list.h"

#include <fmt/format.h>

#include <charconv>

#include "base/file.h"
#include "base/quoted.h"

namespace hwtv::app {

Result<std::vector<int32_t>> parse_token_list(std::string_view text, int64_t vocab_size) {
  constexpr std::string_view kSeparators = " \t\r\n,[]";
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;
       at = text.find_first_not_of(kSeparators, at)) {
    const size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    int32_t id = -1;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || id < 0 ||
        id >= vocab_size)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} (word {}) is no token id of a vocabulary of {}",
                              hwtv::quoted(word.substr(0, 40)), ids.size() + 1, vocab_size),
                  fmt::format("write ids from 0 to {}, separated by spaces", vocab_size - 1));
    ids.push_back(id);
    at = end;
  }
  return ids;
}

Result<std::vector<int32_t>> read_token_list(const std::string& file, int64_t vocab_size) {
  HWTV_TRY(const std::string text,
           read_file(file.empty() || file == "-" ? "/dev/stdin" : file, int64_t{1} << 30));
  return parse_token_list(text, vocab_size);
}

}  // namespace hwtv::app
