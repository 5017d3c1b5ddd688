#include "text/literal.h"

#include <nlohmann/json.hpp>

#include "text/json_scanner.h"
#include "text/unicode.h"

namespace hwtv::text {

std::string quote_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool value(std::string& out, int depth) {
    constexpr int kDepthMax = 100;
    skip_spaces();
    if (at_ == text_.size() || depth > kDepthMax) return false;
    const char c = text_[at_];
    if (c == '{') return collection('}', true, out, depth);
    if (c == '[') return collection(']', false, out, depth);
    if (c == '(') return collection(')', false, out, depth);
    if (c == '"' || c == '\'') return string(out);
    return word(out) || number(out);
  }

 private:
  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool collection(char close, bool dict, std::string& out, int depth) {
    ++at_;
    out += dict ? '{' : '[';
    for (bool first = true; !take(close); first = false) {
      if (!first && !take(',')) return false;
      if (!first && take(close)) break;  // (1,)
      if (!first) out += ", ";
      if (dict) {
        skip_spaces();
        if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
        if (!string(out) || !take(':')) return false;
        out += ": ";
      }
      if (!value(out, depth + 1)) return false;
    }
    out += dict ? '}' : ']';
    return true;
  }

  bool string(std::string& out) {
    const char quote = text_[at_++];
    std::string plain;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        plain += text_[at_++];
      } else if (!escape(plain)) {
        return false;
      }
    }
    if (at_ == text_.size()) return false;
    ++at_;
    out += quote_json(plain);
    return true;
  }

  // \n, \x41, \u00fc, a pair of surrogates; an unknown one stays as it is, as in Python.
  bool escape(std::string& out) {
    constexpr std::string_view kNames = "ntrbf\\'\"/", kChars = "\n\t\r\b\f\\'\"/";
    if (at_ + 1 >= text_.size()) return false;
    const char c = text_[at_ + 1];
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
      out += kChars[i];
      at_ += 2;
      return true;
    }
    const int n_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (n_digits == 0) {
      out += '\\';
      ++at_;
      return true;
    }
    uint32_t code = 0;
    if (!hex(at_ + 2, n_digits, code)) return false;
    at_ += 2 + static_cast<size_t>(n_digits);
    uint32_t low = 0;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u") &&
        hex(at_ + 2, 4, low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at_ += 6;
    }
    const bool no_character = code > 0x10FFFF || (code >= 0xD800 && code < 0xE000);
    append_utf8(no_character ? kReplacement : code, out);
    return true;
  }

  bool hex(size_t at, int n_digits, uint32_t& code) const {
    if (at + static_cast<size_t>(n_digits) > text_.size()) return false;
    code = 0;
    for (int i = 0; i < n_digits; ++i) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const char c = text_[at + static_cast<size_t>(i)];
      const size_t digit = kDigits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
      if (digit == std::string_view::npos) return false;
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  bool word(std::string& out) {
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"},
        {"True", "true"}, {"False", "false"}, {"None", "null"}};
    for (const auto& [name, json] : kWords) {
      if (!text_.substr(at_).starts_with(name)) continue;
      at_ += name.size();
      out += json;
      return true;
    }
    return false;
  }

  bool number(std::string& out) {
    const size_t n = std::min(text_.find_first_not_of("0123456789+-.eE", at_), text_.size()) - at_;
    const std::string_view digits = text_.substr(at_, n);
    if (!is_json_number(digits)) return false;
    at_ += n;
    out += digits;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};
}  // namespace

std::optional<std::string> leading_literal_to_json(std::string_view text, size_t& n_bytes) {
  LiteralReader reader(text);
  std::string out;
  if (!reader.value(out, 0)) return std::nullopt;
  reader.skip_spaces();
  n_bytes = reader.at();
  return out;
}

std::optional<std::string> literal_to_json(std::string_view text) {
  size_t n_bytes = 0;
  auto out = leading_literal_to_json(text, n_bytes);
  if (n_bytes != text.size()) return std::nullopt;
  return out;
}

}  // namespace hwtv::text
