// Python's `%` formatting, str.format() and strftime().
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
constexpr int64_t kWidthMax = 1 << 20;  // of a formatted field; more is an attack

// One field of either kind of format.
struct Spec {
  std::string fill = " ";
  char align = 0;  // '<', '>', '^', '=' or 0: the type's own
  char sign = '-';
  bool alternate = false;  // '#'
  bool zero = false;
  int64_t width = 0;
  char grouping = 0;       // ',' or '_'
  int64_t precision = -1;  // -1: none given
  char type = 0;
};

void limit(int64_t width) {
  if (width > kWidthMax) raise_unsupported(fmt::format("a field of {} characters", width));
}

void append_padded(std::string_view sign, std::string_view body, const Spec& spec,
                   char default_align, std::string& out) {
  const int64_t n = static_cast<int64_t>(count_characters(sign) + count_characters(body));
  const int64_t missing = std::max<int64_t>(spec.width - n, 0);
  const char align = spec.align != 0 ? spec.align : default_align;
  const int64_t left = align == '<' || align == '=' ? 0 : align == '^' ? missing / 2 : missing;
  const auto pad = [&](int64_t times) {
    for (int64_t i = 0; i < times; ++i) out += spec.fill;
  };
  pad(left);
  out += sign;
  if (align == '=') pad(missing);
  out += body;
  if (align != '=') pad(missing - left);
}

std::string_view sign_of(bool negative, char policy) {
  if (negative) return "-";
  return policy == '+' ? "+" : policy == ' ' ? " " : "";
}

// Puts `separator` between groups of digits in the integer part of `digits`.
std::string grouped(std::string_view digits, char separator, size_t group) {
  const size_t whole =
      static_cast<size_t>(std::find_if_not(digits.begin(), digits.end(),
                                           [](unsigned char c) { return std::isxdigit(c) != 0; }) -
                          digits.begin());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % group == 0) out += separator;
    out += digits[i];
  }
  return out.append(digits.substr(whole));
}

std::string digits_of(uint64_t magnitude, char type) {
  switch (type) {
    case 'x': return fmt::format("{:x}", magnitude);
    case 'X': return fmt::format("{:X}", magnitude);
    case 'o': return fmt::format("{:o}", magnitude);
    case 'b': return fmt::format("{:b}", magnitude);
    default: return std::to_string(magnitude);
  }
}

void append_character(int64_t code_point, const Spec& spec, std::string& out) {
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (code_point < 0 || code_point >= kCodePoints || surrogate) {
    raise("%c arg not in range(0x110000)");
  }
  std::string text;
  append_utf8(static_cast<uint32_t>(code_point), text);
  append_padded("", text, spec, '<', out);
}

uint64_t magnitude_of(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// Fills with zeros between sign and digits where the spec says so; with grouping, zeros are grouped
// as well.
void append_number(bool negative, std::string_view prefix, std::string digits, const Spec& spec,
                   size_t group, std::string& out) {
  Spec padded = spec;
  const std::string sign = std::string(sign_of(negative, spec.sign)).append(prefix);
  if (spec.zero && spec.align == 0) {
    padded.align = '=';
    padded.fill = "0";
  }
  if (spec.grouping != 0) {
    std::string separated = grouped(digits, spec.grouping, group);
    while (padded.align == '=' && padded.fill == "0" &&
           static_cast<int64_t>(sign.size() + separated.size()) < spec.width) {
      digits.insert(digits.begin(), '0');
      separated = grouped(digits, spec.grouping, group);
    }
    digits = std::move(separated);
  }
  append_padded(sign, digits, padded, '>', out);
}

void append_integer(int64_t value, const Spec& spec, std::string& out) {
  if (spec.precision >= 0) raise("Precision not allowed in integer format specifier");
  const char type = spec.type == 0 || spec.type == 'n' ? 'd' : spec.type;
  if (type == 'c') return append_character(value, spec, out);
  const std::string prefix = spec.alternate && type != 'd' ? std::string("0") + type : "";
  append_number(value < 0, prefix, digits_of(magnitude_of(value), type), spec, type == 'd' ? 3 : 4,
                out);
}

std::string exponent_free(double magnitude, const Spec& spec) {
  std::string text = real_repr(magnitude);
  if (spec.precision >= 0) {  // a float without a type, but with a precision: as %g, yet with ".0"
    text = fmt::format("{:.{}g}", magnitude, spec.precision == 0 ? 1 : spec.precision);
    const bool plain = text.find_first_of(".einf") == std::string::npos;
    if (plain && static_cast<int64_t>(text.size()) < std::max<int64_t>(spec.precision, 2)) {
      text += ".0";
    } else if (plain && spec.precision > 0) {
      text = fmt::format("{:.{}e}", magnitude, spec.precision - 1);
      const size_t e = text.find('e');
      size_t last = text.find_last_not_of('0', e - 1);
      if (text[last] == '.') --last;
      text.erase(last + 1, e - last - 1);
    }
  }
  return text;
}

void append_real(double value, const Spec& spec, std::string& out) {
  limit(spec.precision);
  const double magnitude = std::fabs(value);
  const bool negative = std::signbit(value) && !std::isnan(value);
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  std::string text;
  switch (spec.type) {
    case 0: text = exponent_free(magnitude, spec); break;
    case 'e': text = fmt::format("{:.{}e}", magnitude, precision); break;
    case 'E': text = fmt::format("{:.{}E}", magnitude, precision); break;
    case 'f': text = fmt::format("{:.{}f}", magnitude, precision); break;
    case 'F': text = fmt::format("{:.{}F}", magnitude, precision); break;
    case 'g':
    case 'n':
      text = spec.alternate ? fmt::format("{:#.{}g}", magnitude, std::max(precision, 1))
                            : fmt::format("{:.{}g}", magnitude, std::max(precision, 1));
      break;
    case 'G': text = fmt::format("{:.{}G}", magnitude, std::max(precision, 1)); break;
    case '%': text = fmt::format("{:.{}f}%", magnitude * 100, precision); break;
    default: raise(fmt::format("Unknown format code '{}' for object of type 'float'", spec.type));
  }
  append_number(negative, "", std::move(text), spec, 3, out);
}

std::string_view cut(std::string_view text, int64_t precision) {
  return precision < 0 ? text
                       : text.substr(0, byte_of_character(text, static_cast<size_t>(precision)));
}
}  // namespace

// --- "%s of %d" % (...)

namespace {
class PercentFormatter {
 public:
  PercentFormatter(std::string_view format, const Value& arguments, Runtime& runtime)
      : format_(format), arguments_(arguments), runtime_(runtime) {}

  std::string run() {
    while (at_ < format_.size()) {
      const char c = format_[at_++];
      if (c != '%') {
        out_ += c;
      } else {
        convert();
        runtime_.budget.spend(1);
        runtime_.budget.require_room(out_.size());
      }
    }
    const bool unused = arguments_.is(Kind::tuple) ? next_ < arguments_.items().size()
                                                   : next_ == 0 && !used_mapping_ && !is_mapping();
    if (unused) raise("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  // PyMapping_Check: anything with items but a str or a tuple; its values may stay unused.
  bool is_mapping() const {
    return arguments_.is(Kind::dict) || arguments_.is(Kind::list) ||
           arguments_.is(Kind::undefined) ||
           (arguments_.is(Kind::object) && arguments_.object().has_items());
  }

  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  Value argument() {
    if (!arguments_.is(Kind::tuple)) {
      if (next_++ > 0) raise("not enough arguments for format string");
      return arguments_;
    }
    if (next_ >= arguments_.items().size()) raise("not enough arguments for format string");
    return arguments_.items()[next_++];
  }

  Value mapped() {
    ++at_;
    int depth = 1;
    const size_t begin = at_;
    for (; at_ < format_.size(); ++at_) {
      if (format_[at_] == '(') ++depth;
      if (format_[at_] == ')' && --depth == 0) break;
    }
    if (at_ == format_.size()) raise("incomplete format key");
    const std::string_view key = format_.substr(begin, at_++ - begin);
    if (!arguments_.is(Kind::dict)) raise("format requires a mapping");
    const Value* found = arguments_.dict().find(key);
    if (found == nullptr) raise(fmt::format("KeyError: '{}'", key));
    used_mapping_ = true;
    return *found;
  }

  int64_t number() {
    if (peek() == '*') {
      ++at_;
      const Value value = argument();
      if (!value.is_integral()) raise("* wants int");
      return value.as_integer();
    }
    int64_t n = 0;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      n = n * 10 + (format_[at_++] - '0');
      limit(n);
    }
    return n;
  }

  void convert() {
    Spec spec;
    Value value;
    if (peek() == '(') value = mapped();
    for (bool flag = true; flag; at_ += flag ? 1 : 0) {
      switch (peek()) {
        case '-': spec.align = '<'; break;
        case '+': spec.sign = '+'; break;
        case ' ': spec.sign = spec.sign == '+' ? '+' : ' '; break;
        case '#': spec.alternate = true; break;
        case '0': spec.zero = true; break;
        default: flag = false;
      }
    }
    spec.width = number();
    if (spec.width < 0) {
      spec.align = '<';
      spec.width = -spec.width;
    }
    limit(spec.width);
    if (peek() == '.') {
      ++at_;
      spec.precision = std::max<int64_t>(number(), 0);
      limit(spec.precision);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    if (at_ == format_.size()) raise("incomplete format");
    spec.type = format_[at_++];
    if (spec.type == '%') {
      out_ += '%';
      return;
    }
    if (value.is(Kind::missing)) value = argument();
    append(value, spec);
  }

  void append(const Value& value, Spec& spec) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a': {
        const std::string text =
            spec.type == 's' ? to_str(value, runtime_) : to_repr(value, runtime_);
        return append_padded("", cut(text, spec.precision), spec, '>', out_);
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': return append_integral(value, spec);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (value.is(Kind::undefined)) raise(value.undefined_message());
        if (!value.is(Kind::real) && !value.is_integral()) {
          raise(fmt::format("must be real number, not {}", type_name(value)));
        }
        if (spec.align == '<') spec.zero = false;
        return append_real(
            value.is(Kind::real) ? value.as_real() : static_cast<double>(value.as_integer()), spec,
            out_);
      case 'c':
        if (value.is(Kind::string) && value.str().n_characters == 1) {
          return append_padded("", value.text(), spec, '>', out_);
        }
        if (!value.is_integral()) raise("%c requires int or char");
        if (spec.align == 0) spec.align = '>';
        return append_character(value.as_integer(), spec, out_);
      default: raise(fmt::format("unsupported format character '{}'", spec.type));
    }
  }

  void append_integral(const Value& value, Spec& spec) {
    const bool decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    int64_t number = 0;
    if (value.is_integral()) {
      number = value.as_integer();
    } else if (decimal && value.is(Kind::real)) {
      if (!(std::fabs(value.as_real()) < 9.2e18)) raise_unsupported("an integer beyond 64 bits");
      number = static_cast<int64_t>(value.as_real());
    } else {
      raise(fmt::format("%{} format: a{} is required, not {}", spec.type,
                        decimal ? " real number" : "n integer", type_name(value)));
    }
    if (decimal) spec.type = 'd';
    std::string digits = digits_of(magnitude_of(number), spec.type);
    if (static_cast<int64_t>(digits.size()) < spec.precision) {
      digits.insert(0, static_cast<size_t>(spec.precision) - digits.size(), '0');
    }
    if (spec.align == '<') spec.zero = false;
    const std::string prefix =
        spec.alternate && spec.type != 'd' ? std::string("0") + spec.type : "";
    append_number(number < 0, prefix, std::move(digits), spec, 3, out_);
  }

  std::string_view format_;
  const Value& arguments_;
  Runtime& runtime_;
  std::string out_;
  size_t at_ = 0, next_ = 0;
  bool used_mapping_ = false;
};
}  // namespace

std::string format_percent(std::string_view format, const Value& arguments, Runtime& runtime) {
  runtime.budget.spend_on_bytes(format.size());
  return PercentFormatter(format, arguments, runtime).run();
}

// --- "{} of {name}".format(...)

namespace {
class BraceFormatter {
 public:
  BraceFormatter(const Arguments& arguments, Runtime& runtime)
      : arguments_(arguments), runtime_(runtime) {}

  std::string run(std::string_view format, int depth) {
    if (depth > 2) raise("Max string recursion exceeded");
    std::string out;
    for (size_t at = 0; at < format.size();) {
      const char c = format[at++];
      if (c != '{' && c != '}') {
        out += c;
      } else if (at < format.size() && format[at] == c) {
        out += c;
        ++at;
      } else if (c == '}') {
        raise("Single '}' encountered in format string");
      } else {
        at = replace_field(format, at, depth, out);
        runtime_.budget.spend(1);
        runtime_.budget.require_room(out.size());
      }
    }
    return out;
  }

 private:
  // The field that begins at `at`, after its brace; returns where it ends.
  size_t replace_field(std::string_view format, size_t at, int depth, std::string& out) {
    size_t end = at;
    int braces = 1;
    for (; end < format.size(); ++end) {
      if (format[end] == '{') ++braces;
      if (format[end] == '}' && --braces == 0) break;
    }
    if (end >= format.size()) {
      raise(at == format.size() ? "Single '{' encountered in format string"
                                : "expected '}' before end of string");
    }
    const std::string_view field = format.substr(at, end - at);
    size_t name_end = 0;
    for (bool bracket = false; name_end < field.size(); ++name_end) {
      const char c = field[name_end];
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (!bracket && (c == '!' || c == ':')) break;
    }
    Value value = lookup(field.substr(0, name_end));
    std::string_view rest = field.substr(name_end);
    if (!rest.empty() && rest[0] == '!') {
      if (rest.size() < 2 || (rest.size() > 2 && rest[2] != ':')) {
        raise("expected ':' after conversion specifier");
      }
      value = convert(value, rest[1]);
      rest.remove_prefix(2);
    }
    const std::string spec = rest.empty() ? "" : run(rest.substr(1), depth + 1);
    append(value, spec, out);
    return end + 1;
  }

  Value convert(const Value& value, char conversion) {
    if (conversion == 's') return runtime_.string(to_str(value, runtime_));
    if (conversion == 'r') return runtime_.string(to_repr(value, runtime_));
    raise(fmt::format("Unknown conversion specifier '{}'", conversion));
  }

  static bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  static int64_t to_number(std::string_view text) { return std::stoll(std::string(text)); }

  Value positional(size_t i) const {
    if (i >= arguments_.positional.size()) {
      raise(fmt::format("Replacement index {} out of range for positional args tuple", i));
    }
    return arguments_.positional[i];
  }

  Value lookup(std::string_view name) {
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    const std::string_view first = name.substr(0, first_end);
    Value value;
    if (first.empty()) {
      if (manual_) raise("cannot switch from manual field specification to automatic numbering");
      automatic_ = true;
      value = positional(next_++);
    } else if (is_number(first)) {
      if (automatic_) raise("cannot switch from automatic field numbering to manual specification");
      manual_ = true;
      value = positional(static_cast<size_t>(to_number(first)));
    } else {
      const auto at = std::find_if(arguments_.named.begin(), arguments_.named.end(),
                                   [&](const auto& named) { return named.first == first; });
      if (at == arguments_.named.end()) raise(fmt::format("KeyError: '{}'", first));
      value = at->second;
    }
    return follow(std::move(value), name.substr(first_end));
  }

  Value follow(Value value, std::string_view path) {
    while (!path.empty()) {
      if (path[0] == '.') {
        const size_t end = std::min(path.find_first_of(".[", 1), path.size());
        if (end == 1) raise("Empty attribute in format string");
        value = attribute(value, path.substr(1, end - 1), runtime_);
        path.remove_prefix(end);
      } else if (path[0] == '[') {
        const size_t end = path.find(']');
        if (end == std::string_view::npos) raise("Missing ']' in format string");
        const std::string_view key = path.substr(1, end - 1);
        if (key.empty()) raise("Empty attribute in format string");
        value = item(
            value,
            is_number(key) ? Value::integer(to_number(key)) : runtime_.string(std::string(key)),
            runtime_);
        path.remove_prefix(end + 1);
      } else {
        raise("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

  static Spec parse(std::string_view text) {
    Spec spec;
    size_t at = 0;
    const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
    const auto number = [&] {
      int64_t n = 0;
      while (peek() >= '0' && peek() <= '9') {
        n = n * 10 + (text[at++] - '0');
        limit(n);
      }
      return n;
    };
    if (!text.empty()) {
      const size_t n = decode_utf8(text, 0).n_bytes;
      if (n < text.size() && is_align(text[n])) {
        spec.fill = std::string(text.substr(0, n));
        spec.align = text[n];
        at = n + 1;
      } else if (is_align(text[0])) {
        spec.align = text[0];
        at = 1;
      }
    }
    if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
    if (peek() == 'z') ++at;
    if (peek() == '#') {
      spec.alternate = true;
      ++at;
    }
    if (peek() == '0') {
      spec.zero = true;
      ++at;
      if (spec.align != 0) spec.fill = spec.fill == " " ? "0" : spec.fill;
    }
    spec.width = number();
    if (peek() == ',' || peek() == '_') spec.grouping = text[at++];
    if (peek() == '.') {
      ++at;
      if (!(peek() >= '0' && peek() <= '9')) raise("Format specifier missing precision");
      spec.precision = number();
    }
    if (at < text.size()) spec.type = text[at++];
    if (at != text.size()) raise("Invalid format specifier");
    return spec;
  }

  void append(const Value& value, std::string_view text, std::string& out) {
    if (text.empty()) return append_str(value, runtime_, out);
    const Spec spec = parse(text);
    const bool real_type =
        std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos && spec.type != 0;
    if (value.is(Kind::string)) {
      if ((spec.type != 0 && spec.type != 's') || spec.align == '=') {
        raise(fmt::format("Unknown format code '{}' for object of type 'str'", spec.type));
      }
      Spec zeros = spec;
      if (spec.zero && spec.align == 0) {
        zeros.fill = "0";
        zeros.align = '<';
      }
      return append_padded("", cut(value.text(), spec.precision), zeros, '<', out);
    }
    if (value.is(Kind::real)) return append_real(value.as_real(), spec, out);
    if (value.is_integral()) {
      if (real_type) return append_real(static_cast<double>(value.as_integer()), spec, out);
      if (spec.type != 0 && std::string_view("bcdoxXn").find(spec.type) == std::string_view::npos) {
        raise(fmt::format("Unknown format code '{}' for object of type 'int'", spec.type));
      }
      return append_integer(value.as_integer(), spec, out);
    }
    raise(fmt::format("unsupported format string passed to {}.__format__", type_name(value)));
  }

  const Arguments& arguments_;
  Runtime& runtime_;
  size_t next_ = 0;
  bool automatic_ = false, manual_ = false;
};
}  // namespace

std::string format_braces(std::string_view format, const Arguments& arguments, Runtime& runtime) {
  runtime.budget.spend_on_bytes(format.size());
  return BraceFormatter(arguments, runtime).run(format, 0);
}

std::string format_time(std::string_view format, const std::tm& time, Runtime& runtime) {
  constexpr size_t kTextMax = 4096;
  // A naive datetime has no zone; the clock has no microseconds.
  std::string pattern;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      pattern += format[i];
      continue;
    }
    const char directive = format[++i];
    if (directive == 'f') {
      pattern += "000000";
    } else if (directive != 'z' && directive != 'Z') {
      pattern.append({'%', directive});
    }
  }
  if (pattern.empty()) return "";
  if (pattern.find('\0') != std::string::npos) raise("embedded null character");
  runtime.budget.spend_on_bytes(kTextMax);
  std::string out(kTextMax, '\0');
  out.resize(std::strftime(out.data(), out.size(), pattern.c_str(), &time));
  if (out.empty()) raise_unsupported(fmt::format("a time of more than {} bytes", kTextMax));
  return out;
}

}  // namespace hwtv::text::jinja
