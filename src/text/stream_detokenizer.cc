#include "text/stream_detokenizer.h"

#include "text/unicode.h"

namespace hwtv::text {

namespace {
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";
}

StreamDetokenizer::StreamDetokenizer(const Tokenizer& tokenizer, Options options)
    : tokenizer_(tokenizer),
      options_(options),
      strip_space_(options.starts_text && tokenizer.add_space_prefix()) {}

std::string StreamDetokenizer::push(int32_t token) {
  const size_t begin = pending_.size();
  tokenizer_.append_piece(token, options_.render_special, pending_);
  if (strip_space_ && !tokenizer_.is_control(token)) {
    if (pending_.size() > begin && pending_[begin] == ' ') pending_.erase(begin, 1);
    strip_space_ = false;
  }
  return take_characters();
}

std::string StreamDetokenizer::take_characters() {
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const int length = strict_utf8_length(rest);
    if (length == 0) break;
    if (length > 0) {
      out += rest.substr(0, static_cast<size_t>(length));
      rest.remove_prefix(static_cast<size_t>(length));
    } else {
      out += kReplacementUtf8;
      rest.remove_prefix(static_cast<size_t>(-length));
    }
  }
  pending_.erase(0, pending_.size() - rest.size());
  return out;
}

std::string StreamDetokenizer::flush() {
  const bool held_back = !pending_.empty();
  pending_.clear();
  return std::string(held_back ? kReplacementUtf8 : std::string_view());
}

}  // namespace hwtv::text
