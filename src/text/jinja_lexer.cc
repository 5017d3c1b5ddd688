#include "text/jinja_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "text/jinja_characters.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
using View = std::string_view;

// One kind of line break, and none at the very end.
std::string normalize_newlines(View source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(View source) : owned_(normalize_newlines(source)), source_(owned_) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_root();
    push(Token::Kind::end, source_.size(), "end of template");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail_at(size_t byte, std::string message) {
    throw SyntaxFailure{{ErrorCode::invalid_request, std::move(message)}, position_of(byte)};
  }

  // Requires: calls go forward, or back by little.
  Position position_of(size_t byte) {
    if (byte < placed_) {
      placed_ = 0;
      place_ = {1, 1};
    }
    for (; placed_ < byte; ++placed_) {
      if (source_[placed_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<uint8_t>(source_[placed_]) & 0xC0) != 0x80) {
        ++place_.column;
      }
    }
    return place_;
  }

  void push(Token::Kind kind, size_t byte, View text, Value number = {}) {
    tokens_.push_back({kind, position_of(byte), std::string(text), std::move(number)});
  }

  bool looking_at(View text) const { return source_.substr(at_).starts_with(text); }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void skip_spaces() {
    while (at_ < source_.size()) {
      const Decoded c = decode_utf8(source_, at_);
      if (!is_space(c.code_point)) break;
      at_ += c.n_bytes;
    }
  }

  // --- text between tags

  size_t find_tag(size_t from) const {
    for (size_t at = source_.find('{', from); at != View::npos; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') return at;
    }
    return source_.size();
  }

  // Pushes the text before a tag, without what the tag's sign or lstrip_blocks takes away.
  void push_data(size_t begin, size_t end, char sign, bool before_variable) {
    View text = source_.substr(begin, end - begin);
    if (sign == '-') {
      text = strip_right(text);
    } else if (sign != '+' && !before_variable) {
      const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      const bool starts_line = line > 0 || begin == 0 || source_[begin - 1] == '\n';
      if (starts_line && strip_left(text.substr(line)).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) push(Token::Kind::data, begin, text);
  }

  void read_root() {
    const size_t begin = at_, tag = find_tag(at_);
    if (tag == source_.size()) {
      push(Token::Kind::data, begin, source_.substr(begin));
      at_ = tag;
      return;
    }
    at_ = tag + 2;
    const char kind = source_[tag + 1];
    const char sign = peek() == '-' || peek() == '+' ? peek() : '\0';
    if (sign != '\0') ++at_;
    push_data(begin, tag, sign, kind == '{');
    if (kind == '#') return read_comment(tag);
    if (kind == '%' && skip_raw_begin()) return read_raw(tag);
    push(kind == '{' ? Token::Kind::variable_begin : Token::Kind::block_begin, tag, "");
    read_tag(kind == '{', tag);
  }

  // After a closing `close`: what jinja2's trimming takes along.  `sign` stands before it.
  void skip_after_close(char sign, bool trims_newline) {
    if (sign == '-') {
      skip_spaces();
    } else if (sign != '+' && trims_newline && peek() == '\n') {
      ++at_;
    }
  }

  void read_comment(size_t tag) {
    const size_t close = source_.find("#}", at_);
    if (close == View::npos) fail_at(tag, "Missing end of comment tag");
    const char sign = close > at_ ? source_[close - 1] : '\0';
    at_ = close + 2;
    skip_after_close(sign, true);
  }

  // Whether `raw -%}` or `raw %}` follows; skips it.
  bool skip_raw_begin() {
    const size_t begin = at_;
    skip_spaces();
    if (looking_at("raw")) {
      at_ += 3;
      skip_spaces();
      if (looking_at("-%}")) {
        at_ += 3;
        skip_spaces();
        return true;
      }
      if (looking_at("%}")) {
        at_ += 2;
        return true;
      }
    }
    at_ = begin;
    return false;
  }

  void read_raw(size_t tag) {
    const size_t begin = at_;
    for (size_t open = source_.find("{%", at_); open != View::npos;
         open = source_.find("{%", open + 1)) {
      at_ = open + 2;
      const char sign = peek() == '-' || peek() == '+' ? peek() : '\0';
      if (sign != '\0') ++at_;
      skip_spaces();
      if (!looking_at("endraw")) continue;
      at_ += 6;
      skip_spaces();
      const char end_sign = peek() == '-' || peek() == '+' ? peek() : '\0';
      if (end_sign != '\0') ++at_;
      if (!looking_at("%}")) continue;
      at_ += 2;
      push_data(begin, open, sign, false);
      skip_after_close(end_sign, true);
      return;
    }
    fail_at(tag, "Missing end of raw directive");
  }

  // --- inside a tag

  bool read_tag_end(bool variable) {
    const View close = variable ? "}}" : "%}";
    const size_t begin = at_;
    const char sign = peek() == '-' || (peek() == '+' && !variable) ? peek() : '\0';
    if (!source_.substr(at_ + (sign != '\0' ? 1 : 0)).starts_with(close)) return false;
    at_ += close.size() + (sign != '\0' ? 1 : 0);
    push(variable ? Token::Kind::variable_end : Token::Kind::block_end, begin,
         variable ? "end of print statement" : "end of statement block");
    skip_after_close(sign, !variable);
    return true;
  }

  void read_tag(bool variable, size_t tag) {
    std::string open;  // brackets, as the ones that close them
    while (true) {
      skip_spaces();
      if (at_ >= source_.size()) fail_at(tag, "this tag is never closed");
      if (open.empty() && read_tag_end(variable)) return;
      if (read_number() || read_name() || read_string()) continue;
      read_symbol(open);
    }
  }

  // The end of `(\d+_)*\d+` at `from`; `from` itself when there is none.
  size_t digits_end(size_t from) const {
    size_t end = from;
    for (size_t i = from; i < source_.size(); ++i) {
      if (is_digit_char(source_[i])) {
        end = i + 1;
      } else if (source_[i] != '_' || i == from || !is_digit_char(source_[i - 1])) {
        break;
      }
    }
    return end;
  }

  // The end of the float at the current place; 0: there is none.
  size_t float_end() const {
    if (at_ > 0 && source_[at_ - 1] == '.') return 0;
    size_t end = digits_end(at_);
    bool is_float = false;
    if (end < source_.size() && source_[end] == '.' && digits_end(end + 1) > end + 1) {
      end = digits_end(end + 1);
      is_float = true;
    }
    if (end < source_.size() && (source_[end] | 0x20) == 'e') {
      size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) {
        ++exponent;
      }
      if (digits_end(exponent) > exponent) return digits_end(exponent);
    }
    return is_float ? end : 0;
  }

  size_t integer_end(int& base) const {
    base = 10;
    const auto run = [&](size_t from, auto belongs) {
      size_t end = from;
      for (size_t i = from; i < source_.size(); ++i) {
        if (belongs(source_[i])) {
          end = i + 1;
        } else if (source_[i] != '_' || (i > from && source_[i - 1] == '_')) {
          break;
        }
      }
      return end;
    };
    if (peek() != '0') return run(at_, is_digit_char);
    const char letter = static_cast<char>(peek(1) | 0x20);
    const auto is_base_digit = [&](char c) {
      const char small = static_cast<char>(c | 0x20);
      if (letter == 'b') return c == '0' || c == '1';
      if (letter == 'o') return c >= '0' && c <= '7';
      return is_digit_char(c) || (small >= 'a' && small <= 'f');
    };
    if (letter == 'b' || letter == 'o' || letter == 'x') {
      const size_t end = run(at_ + 2, is_base_digit);
      base = letter == 'b' ? 2 : letter == 'o' ? 8 : 16;
      if (end > at_ + 2) return end;
      base = 10;
    }
    return run(at_, [](char c) { return c == '0'; });
  }

  bool read_number() {
    if (!is_digit_char(peek())) return false;
    const size_t begin = at_;
    if (const size_t end = float_end()) {
      std::string digits(source_.substr(begin, end - begin));
      std::erase(digits, '_');
      at_ = end;
      push(Token::Kind::number, begin, digits, Value::real(std::strtod(digits.c_str(), nullptr)));
      return true;
    }
    int base = 10;
    at_ = integer_end(base);
    std::string digits(source_.substr(begin, at_ - begin));
    std::erase(digits, '_');
    int64_t value = 0;
    const char* first = digits.data() + (base == 10 ? 0 : 2);
    const auto [end, error] = std::from_chars(first, digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw SyntaxFailure{{ErrorCode::unsupported, "an integer beyond 64 bits"},
                          position_of(begin)};
    }
    push(Token::Kind::number, begin, digits, Value::integer(value));
    return true;
  }

  bool read_name() {
    const size_t begin = at_;
    bool identifier = true;
    while (at_ < source_.size()) {
      const Decoded c = decode_utf8(source_, at_);
      const bool word = c.code_point == '_' || is_alpha(c.code_point) || is_numeric(c.code_point);
      if (!word) break;
      identifier = identifier && (at_ == begin ? starts_identifier(c.code_point)
                                               : continues_identifier(c.code_point));
      at_ += c.n_bytes;
    }
    if (at_ == begin) return false;
    if (!identifier) fail_at(begin, "Invalid character in identifier");
    push(Token::Kind::name, begin, source_.substr(begin, at_ - begin));
    return true;
  }

  bool read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t begin = at_;
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(begin, fmt::format("unexpected char '{}'", quote));
    at_ = end + 1;
    push(Token::Kind::string, begin, unescape(source_.substr(begin + 1, end - begin - 1), begin));
    return true;
  }

  void read_symbol(std::string& open) {
    static constexpr View kSymbols[] = {"**", "//", "==", "!=", ">=", "<=", "+", "-", "/",
                                        "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                        ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const auto* symbol = std::find_if(std::begin(kSymbols), std::end(kSymbols),
                                      [&](View candidate) { return looking_at(candidate); });
    if (symbol == std::end(kSymbols)) {
      const size_t n = decode_utf8(source_, at_).n_bytes;
      fail_at(at_, fmt::format("unexpected char '{}'", source_.substr(at_, n)));
    }
    const char c = (*symbol)[0];
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) fail_at(at_, fmt::format("unexpected '{}'", c));
      if (open.back() != c) {
        fail_at(at_, fmt::format("unexpected '{}', expected '{}'", c, open.back()));
      }
      open.pop_back();
    }
    push(Token::Kind::symbol, at_, *symbol);
    at_ += symbol->size();
  }

  // --- the content of a string

  // Hexadecimal or octal digits at `at`; throws if there are fewer than `n_min`.
  uint32_t read_code(View text, size_t& at, size_t n_min, size_t n_max, uint32_t base,
                     size_t begin) {
    uint32_t code = 0;
    size_t n = 0;
    for (; n < n_max && at < text.size(); ++n, ++at) {
      const char c = text[at], small = static_cast<char>(c | 0x20);
      const uint32_t digit = is_digit_char(c) ? static_cast<uint32_t>(c - '0')
                             : small >= 'a' && small <= 'f'
                                 ? static_cast<uint32_t>(small - 'a' + 10)
                                 : 99;
      if (digit >= base) break;
      code = code * base + digit;
    }
    if (n < n_min) fail_at(begin, "truncated escape in a string");
    return code;
  }

  void append_code(uint32_t code, size_t begin, std::string& out) {
    if (code >= kCodePoints) fail_at(begin, "illegal Unicode character");
    if (code >= 0xD800 && code < 0xE000) fail_at(begin, "a surrogate in a string");
    append_utf8(code, out);
  }

  // Python's decoding of "unicode-escape", after jinja2 wrote all other characters as escapes.
  std::string unescape(View text, size_t begin) {
    static constexpr View kPlain = "\\'\"abfnrtv", kMeaning = "\\'\"\a\b\f\n\r\t\v";
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '\\') {
        out += text[at++];
        continue;
      }
      ++at;  // the next character exists: the string would go on without it
      const char c = text[at];
      const size_t plain = kPlain.find(c);
      if (plain != View::npos) {
        out += kMeaning[plain];
        ++at;
      } else if (c == '\n') {
        ++at;
      } else if (c >= '0' && c <= '7') {
        append_code(read_code(text, at, 1, 3, 8, begin), begin, out);
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const size_t n = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        append_code(read_code(text, ++at, n, n, 16, begin), begin, out);
      } else if (c == 'N') {
        throw SyntaxFailure{{ErrorCode::unsupported, "a character by its name"},
                            position_of(begin)};
      } else if (static_cast<uint8_t>(c) >= 0x80) {
        const Decoded decoded = decode_utf8(text, at);
        const uint32_t point = decoded.code_point;
        out += point < 0x100     ? fmt::format("\\x{:02x}", point)
               : point < 0x10000 ? fmt::format("\\u{:04x}", point)
                                 : fmt::format("\\U{:08x}", point);
        at += decoded.n_bytes;
      } else {
        out.append({'\\', c});
        ++at;
      }
    }
    return out;
  }

  std::string owned_;
  View source_;
  size_t at_ = 0;
  size_t placed_ = 0;  // the byte whose position is place_
  Position place_{1, 1};
  std::vector<Token> tokens_;
};
}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace hwtv::text::jinja
