#include "text/json_arguments.h"

#include <cstdlib>

#include "text/unicode.h"

namespace hwtv::text {

JsonScanner::Status JsonArguments::read(AnswerInput& input, AnswerSink& sink) {
  if (!begun_) input.skip_spaces();
  const std::string_view text = input.unread();
  const size_t n = scanner_.read(text);
  if (input.ended()) scanner_.end();
  send(text.substr(0, n), sink);
  input.skip(n);
  if (n > 0) input.commit();
  return scanner_.status();
}

void JsonArguments::read_kept(std::string_view text, AnswerSink& sink) {
  send(text.substr(0, scanner_.read(text)), sink);
  scanner_.end();
}

bool JsonArguments::complete() const {
  if (scanner_.status() != JsonScanner::Status::done) return false;
  return !wrapped_ || (!unwrapped_bad_ && inner_.status() == JsonScanner::Status::done);
}

void JsonArguments::send(std::string_view text, AnswerSink& sink) {
  if (text.empty()) return;
  if (!begun_) wrapped_ = text[count_spaces(text)] == '"';
  const bool first = !std::exchange(begun_, true);
  if (!wrapped_) return sink.arguments(text);
  if (first) text.remove_prefix(text.find('"') + 1);
  if (scanner_.status() == JsonScanner::Status::done && text.ends_with('"')) text.remove_suffix(1);
  std::string plain;
  unescape(text, plain);
  const size_t n = inner_.read(plain);
  if (count_spaces(std::string_view(plain).substr(n)) < plain.size() - n) unwrapped_bad_ = true;
  if (scanner_.status() == JsonScanner::Status::done) inner_.end();
  sink.arguments(plain);
}

void JsonArguments::unescape(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (escape_.size() == 6 && c != '\\') {  // half of a pair of surrogates
      append_utf8(kReplacement, out);
      escape_.clear();
    }
    if (escape_.empty() && c != '\\') {
      out += c;
      continue;
    }
    escape_ += c;
    if (unescape_one(out)) escape_.clear();
  }
}

// Is escape_ whole?  Then `out` has what it means.
bool JsonArguments::unescape_one(std::string& out) {
  constexpr std::string_view kNames = "nrtbf", kChars = "\n\r\t\b\f";
  if (escape_.size() < 2) return false;
  if (escape_[1] != 'u') {
    const size_t i = kNames.find(escape_[1]);
    out += i == std::string_view::npos ? escape_[1] : kChars[i];
    return true;
  }
  const auto code_at = [&](size_t at) {
    return static_cast<uint32_t>(std::strtoul(escape_.substr(at, 4).c_str(), nullptr, 16));
  };
  if (escape_.size() == 8 && escape_[7] != 'u') {  // half a pair, then another escape
    append_utf8(kReplacement, out);
    escape_.erase(0, 6);
    return unescape_one(out);
  }
  if (escape_.size() != 6 && escape_.size() != 12) return false;
  uint32_t code = code_at(2);
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (escape_.size() == 6 && high) return false;
  if (escape_.size() == 12) {
    const uint32_t low = code_at(8);
    if (low < 0xDC00 || low >= 0xE000) {
      append_utf8(kReplacement, out);
      escape_.erase(0, 6);
      return unescape_one(out);
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    code = kReplacement;
  }
  append_utf8(code, out);
  return true;
}

}  // namespace hwtv::text
