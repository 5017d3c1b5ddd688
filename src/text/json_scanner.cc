#include "text/json_scanner.h"

namespace hwtv::text {

namespace {
constexpr size_t kDepthMax = 200;  // who reads the value may recurse
constexpr size_t kNumberBytesMax = 1000;
constexpr std::string_view kNumberBytes = "0123456789+-.eE";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many digits `text` begins with.
size_t count_digits(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}
}  // namespace

bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t n_whole = count_digits(text);
  if (n_whole == 0 || (n_whole > 1 && text[0] == '0')) return false;
  text.remove_prefix(n_whole);
  if (text.starts_with('.')) {
    const size_t n = count_digits(text.substr(1));
    if (n == 0) return false;
    text.remove_prefix(n + 1);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    const size_t n = count_digits(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return text.empty();
}

size_t JsonScanner::read(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && status_ == Status::more) {
    if (state_ == State::number && kNumberBytes.find(text[n]) == std::string_view::npos) {
      if (!end_number()) status_ = Status::bad;
      continue;  // the byte after a number is looked at again, unless the value is done
    }
    if (!step(text[n])) {
      status_ = Status::bad;
      break;
    }
    ++n;
  }
  return n;
}

void JsonScanner::end() {
  if (status_ == Status::more && state_ == State::number && !end_number()) status_ = Status::bad;
}

bool JsonScanner::step(char c) {
  switch (state_) {
    case State::string:
    case State::escape:
    case State::hex:
      return in_string(c);
    case State::word:
      if (c != word_.front()) return false;
      word_.remove_prefix(1);
      if (word_.empty()) value_done();
      return true;
    case State::number:
      number_ += c;
      return number_.size() <= kNumberBytesMax;
    default:
      break;
  }
  if (is_space(c)) return true;
  switch (state_) {
    case State::first_value:
      return c == ']' ? close(c) : begin_value(c);
    case State::first_key:
      if (c == '}') return close(c);
      [[fallthrough]];
    case State::key:
      is_key_ = true;
      state_ = State::string;
      return c == '"';
    case State::colon:
      state_ = State::value;
      return c == ':';
    case State::after_value:
      return after_value(c);
    default:
      return begin_value(c);
  }
}

bool JsonScanner::begin_value(char c) {
  switch (c) {
    case '{':
    case '[':
      open_ += c;
      state_ = c == '{' ? State::first_key : State::first_value;
      return open_.size() <= kDepthMax;
    case '"':
      is_key_ = false;
      state_ = State::string;
      return true;
    case 't':
      word_ = "rue";
      break;
    case 'f':
      word_ = "alse";
      break;
    case 'n':
      word_ = "ull";
      break;
    default:
      number_ = c;
      state_ = State::number;
      return c == '-' || is_digit(c);
  }
  state_ = State::word;
  return true;
}

bool JsonScanner::in_string(char c) {
  if (state_ == State::escape) {
    n_hex_ = c == 'u' ? 4 : 0;
    state_ = n_hex_ > 0 ? State::hex : State::string;
    return std::string_view("\"\\/bfnrtu").find(c) != std::string_view::npos;
  }
  if (state_ == State::hex) {
    if (--n_hex_ == 0) state_ = State::string;
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }
  if (c == '\\') {
    state_ = State::escape;
  } else if (c == '"') {
    if (is_key_) {
      state_ = State::colon;
    } else {
      value_done();
    }
  }
  return static_cast<unsigned char>(c) >= 0x20;
}

bool JsonScanner::close(char c) {
  if (open_.back() != (c == '}' ? '{' : '[')) return false;
  open_.pop_back();
  value_done();
  return true;
}

bool JsonScanner::after_value(char c) {
  if (c != ',') return (c == '}' || c == ']') && close(c);
  state_ = open_.back() == '{' ? State::key : State::value;
  return true;
}

bool JsonScanner::end_number() {
  if (!is_json_number(number_)) return false;
  value_done();
  return true;
}

void JsonScanner::value_done() {
  if (open_.empty()) {
    status_ = Status::done;
  } else {
    state_ = State::after_value;
  }
}

}  // namespace hwtv::text
