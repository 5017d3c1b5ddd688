// Jinja's filters on scalars and texts; the others are in jinja_sequence_filters.cc.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
using View = std::string_view;

bool given(const Value& value) { return !value.is(Kind::missing) && !value.is(Kind::none); }
bool is_true(const Value& value, Runtime& runtime) {
  return !value.is(Kind::missing) && truthy(value, runtime);
}

// markupsafe.soft_str: strings as they are, everything else through str().
Value soft_str(const Value& value, Runtime& runtime) {
  return value.is(Kind::string) ? value : runtime.string(to_str(value, runtime));
}

// A filter that is the str method of the same name.
template <const char* name>
Value through_method(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return find_string_method(name)(runtime, soft_str(input, runtime), arguments);
}
constexpr char kUpper[] = "upper", kLower[] = "lower", kCapitalize[] = "capitalize";

Value trim(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("trim", arguments, {"chars"}, 0);
  Arguments passed;
  if (given(bound[0])) passed.positional.push_back(bound[0]);
  return find_string_method("strip")(runtime, soft_str(input, runtime), passed);
}

Value title_words(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("title", arguments, {}, 0);
  const Value text = soft_str(input, runtime);
  runtime.budget.spend_on_bytes(text.text().size());
  std::string out;
  std::string word;
  const auto flush = [&] {
    if (word.empty()) return;
    const size_t n = decode_utf8(word, 0).n_bytes;
    out += upper(View(word).substr(0, n)) + lower(View(word).substr(n));
    word.clear();
  };
  for (size_t at = 0; at < text.text().size();) {
    const Decoded c = decode_utf8(text.text(), at);
    const View character = text.text().substr(at, c.n_bytes);
    at += c.n_bytes;
    if (is_space(c.code_point) || View("-({[<").find(character) != View::npos) {
      flush();
      out += character;
    } else {
      word += character;
    }
  }
  flush();
  return runtime.string(std::move(out));
}

Value replace(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("replace", arguments, {"old", "new", "count"}, 2);
  Arguments passed;
  passed.positional = {runtime.string(to_str(bound[0], runtime)),
                       runtime.string(to_str(bound[1], runtime))};
  if (given(bound[2])) passed.positional.push_back(bound[2]);
  return find_string_method("replace")(runtime, runtime.string(to_str(input, runtime)), passed);
}

Value center(Runtime& runtime, const Value& input, const Arguments& arguments) {
  std::vector<Value> bound = bind("center", arguments, {"width"}, 0);
  if (bound[0].is(Kind::missing)) bound[0] = Value::integer(80);
  return find_string_method("center")(runtime, soft_str(input, runtime), {{bound[0]}, {}});
}

Value as_string(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("string", arguments, {}, 0);
  return soft_str(input, runtime);
}

Value safe(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("safe", arguments, {}, 0);
  return runtime.string(to_str(input, runtime), true);
}

Value escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("escape", arguments, {}, 0);
  return escape_html(runtime, input);
}

Value force_escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("forceescape", arguments, {}, 0);
  return escape_html(runtime, runtime.string(to_str(input, runtime)));
}

Value indent(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("indent", arguments, {"width", "first", "blank"}, 0);
  std::string indention;
  if (bound[0].is(Kind::string)) {
    indention = bound[0].text();
  } else {
    const int64_t width = bound[0].is(Kind::missing) ? 4 : to_index(bound[0]);
    if (width > 0) runtime.budget.require_room(static_cast<size_t>(width));
    indention.assign(width > 0 ? static_cast<size_t>(width) : 0, ' ');
  }
  const Value text = binary(Operator::add, input, runtime.string("\n"), runtime);
  const Value lines = find_string_method("splitlines")(runtime, text, {});
  const bool first = is_true(bound[1], runtime), blank = is_true(bound[2], runtime);
  std::string out = first ? indention : "";
  for (size_t i = 0; i < lines.items().size(); ++i) {
    const View line = lines.items()[i].text();
    if (i > 0) {
      runtime.budget.require_room(out.size() + indention.size() + line.size());
      out += '\n';
      if (blank || !line.empty()) out += indention;
    }
    out += line;
  }
  return runtime.string(std::move(out), text.str().markup);
}

Value word_count(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("wordcount", arguments, {}, 0);
  const Value text = soft_str(input, runtime);
  runtime.budget.spend_on_bytes(text.text().size());
  int64_t n = 0;
  bool in_word = false;
  for (size_t at = 0; at < text.text().size();) {
    const Decoded c = decode_utf8(text.text(), at);
    at += c.n_bytes;
    const bool of_word = is_alpha(c.code_point) || is_numeric(c.code_point) || c.code_point == '_';
    n += of_word && !in_word ? 1 : 0;
    in_word = of_word;
  }
  return Value::integer(n);
}

Value truncate(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind("truncate", arguments, {"length", "killwords", "end", "leeway"}, 0);
  const int64_t length_max = bound[0].is(Kind::missing) ? 255 : to_index(bound[0]);
  const Value end = bound[2].is(Kind::missing) ? runtime.string("...") : bound[2];
  const int64_t leeway = given(bound[3]) ? to_index(bound[3]) : 5;
  const int64_t n_end = length(end, runtime);
  if (length_max < n_end) raise(fmt::format("expected length >= {}, got {}", n_end, length_max));
  if (leeway < 0) raise(fmt::format("expected leeway >= 0, got {}", leeway));
  if (length(input, runtime) <= length_max + leeway) return input;
  Value cut = slice(input, {}, Value::integer(length_max - n_end), {}, runtime);
  if (!is_true(bound[1], runtime)) {
    const size_t space = cut.text().rfind(' ');
    if (space != View::npos) cut = runtime.string(std::string(cut.text().substr(0, space)));
  }
  return binary(Operator::add, cut, end, runtime);
}

Value strip_tags(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("striptags", arguments, {}, 0);
  const Value whole = runtime.string(to_str(input, runtime));
  if (whole.text().find('&') != View::npos) raise_unsupported("striptags of text with entities");
  std::string rest(whole.text());
  const auto remove_between = [&](View open, View close) {
    for (size_t at = rest.find(open); at != std::string::npos; at = rest.find(open, at)) {
      const size_t end = rest.find(close, at);
      if (end == std::string::npos) break;
      rest.erase(at, end + close.size() - at);
      runtime.budget.spend_on_bytes(rest.size());
    }
  };
  remove_between("<!--", "-->");
  remove_between("<", ">");
  const Value words = find_string_method("split")(runtime, runtime.string(std::move(rest)), {});
  return find_string_method("join")(runtime, runtime.string(" "), {{words}, {}});
}

bool is_url_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         View("_.-~").find(c) != View::npos;
}

std::string url_quote(const Value& value, bool query, Runtime& runtime) {
  std::string out;
  for (char c : to_str(value, runtime)) {
    if (is_url_safe(c) || (c == '/' && !query)) {
      out += c;
    } else if (c == ' ' && query) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return out;
}

Value url_encode(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("urlencode", arguments, {}, 0);
  if (input.is(Kind::string) || !iterable(input)) {
    return runtime.string(url_quote(input, false, runtime));
  }
  const Value pairs = input.is(Kind::dict) ? runtime.object<DictView>(input.depth() + 1, input,
                                                                      DictView::Part::items)
                                           : input;
  std::string out;
  const auto iterator = iterate(pairs, runtime);
  for (Value pair; iterator->next(runtime, pair);) {
    const std::vector<Value> parts = to_vector(pair, runtime);
    if (parts.size() != 2) raise("urlencode needs pairs of key and value");
    if (!out.empty()) out += '&';
    out += url_quote(parts[0], true, runtime) + "=" + url_quote(parts[1], true, runtime);
    runtime.budget.require_room(out.size());
  }
  return runtime.string(std::move(out));
}

Value xml_attributes(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("xmlattr", arguments, {"autospace"}, 0);
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  if (!input.is(Kind::dict)) raise(fmt::format("'{}' has no items", object_name(input)));
  std::string out;
  for (const auto& [key, value] : input.dict().entries()) {
    if (value.is(Kind::none) || value.is(Kind::undefined)) continue;
    if (to_text("xmlattr", key).find_first_of(" \t\n\r\f\v/>=") != View::npos) {
      raise(fmt::format("Invalid character in attribute name: {}", to_repr(key, runtime)));
    }
    if (!out.empty()) out += ' ';
    out.append(escape_html(runtime, key).text()).append("=\"");
    out.append(escape_html(runtime, value).text()).append("\"");
    runtime.budget.require_room(out.size());
  }
  const bool autospace = bound[0].is(Kind::missing) || truthy(bound[0], runtime);
  if (autospace && !out.empty()) out.insert(0, 1, ' ');
  return runtime.string(std::move(out));
}

Value format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    raise("can't handle positional and keyword arguments at the same time");
  }
  Value passed = runtime.tuple(arguments.positional);
  if (!arguments.named.empty()) {
    auto dict = runtime.dict();
    for (const auto& [name, value] : arguments.named) dict->set(Value::constant(name), value);
    passed = Value::dict(std::move(dict));
  }
  return binary(Operator::modulo, soft_str(input, runtime), passed, runtime);
}

Value to_json_text(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0);
  JsonStyle style;
  style.ensure_ascii = is_true(bound[0], runtime);
  style.sort_keys = is_true(bound[3], runtime);
  if (given(bound[1])) {
    style.indented = true;
    style.item_separator = ",";
    if (bound[1].is(Kind::string)) {
      style.indent = bound[1].text();
    } else {
      const int64_t width = std::max<int64_t>(to_index(bound[1]), 0);
      runtime.budget.require_room(static_cast<size_t>(width));
      style.indent.assign(static_cast<size_t>(width), ' ');
    }
  }
  if (given(bound[2])) {
    const std::vector<Value> separators = to_vector(bound[2], runtime);
    if (separators.size() != 2) raise("tojson needs two separators");
    style.item_separator = to_text("tojson", separators[0]);
    style.key_separator = to_text("tojson", separators[1]);
  }
  return runtime.string(to_json(input, style, runtime));
}

// --- numbers

// float(text); missing where Python raises ValueError.
Value parse_real(View text) {
  std::string digits;
  text = strip_right(strip_left(text));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit_at = [&](size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || i + 1 == text.size() || !digit_at(i - 1) || !digit_at(i + 1)) {
      return {};
    }
  }
  View rest = digits;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || rest[0] == '-' || rest[0] == '+') return {};
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const bool nan_with_note = rest.find('(') != View::npos;
  if (error == std::errc::invalid_argument || end != rest.data() + rest.size() || nan_with_note) {
    return {};
  }
  if (error == std::errc::result_out_of_range) value = std::strtod(rest.data(), nullptr);
  return Value::real(negative ? -value : value);
}

// int(text, base); missing where Python raises ValueError.
Value parse_integer(View text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return {};
  text = strip_right(strip_left(text));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool prefixed = text.size() > 1 && text[0] == '0';
  const char letter = prefixed ? static_cast<char>(text[1] | 0x20) : '\0';
  const int64_t marked = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  const bool has_prefix = marked != 0 && (base == marked || base == 0);
  if (has_prefix) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
  }
  if (base == 0) {
    base = has_prefix ? marked : 10;
    if (!has_prefix && prefixed && text.find_first_not_of("0_") != View::npos) return {};
  }
  if (text.empty() || text[0] == '_' || text.back() == '_') return {};
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && text[i - 1] == '_') return {};
    if (text[i] != '_') digits += text[i];
  }
  if (digits[0] == '-' || digits[0] == '+') return {};
  int64_t value = 0;
  if (negative) digits.insert(digits.begin(), '-');
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, static_cast<int>(base));
  if (error == std::errc::result_out_of_range) raise_unsupported("an integer beyond 64 bits");
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return Value::integer(value);
}

// int(number); missing where Python raises an error that jinja2 catches.
Value truncate_real(double value) {
  if (std::isnan(value) || std::isinf(value)) return {};
  if (std::fabs(value) >= 9223372036854775808.0) raise_unsupported("an integer beyond 64 bits");
  return Value::integer(static_cast<int64_t>(value));
}

Value to_float(Runtime&, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("float", arguments, {"default"}, 0);
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  Value out;
  if (input.is(Kind::real)) out = input;
  if (input.is_integral()) out = Value::real(static_cast<double>(input.as_integer()));
  if (input.is(Kind::string)) out = parse_real(input.text());
  if (input.is(Kind::big)) {
    out = Value::real(std::strtod(std::string(input.text()).c_str(), nullptr));
  }
  if (!out.is(Kind::missing)) return out;
  return bound[0].is(Kind::missing) ? Value::real(0) : bound[0];
}

Value to_int(Runtime&, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("int", arguments, {"default", "base"}, 0);
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  Value out;
  if (input.is(Kind::big)) return input;
  if (input.is_integral()) out = Value::integer(input.as_integer());
  if (input.is(Kind::real)) {
    if (std::isinf(input.as_real())) raise("cannot convert float infinity to integer");
    out = truncate_real(input.as_real());
  }
  if (input.is(Kind::string)) {
    out = parse_integer(input.text(), bound[1].is(Kind::missing) ? 10 : to_index(bound[1]));
    if (out.is(Kind::missing)) {
      const Value real = parse_real(input.text());
      if (real.is(Kind::real)) out = truncate_real(real.as_real());
    }
  }
  if (!out.is(Kind::missing)) return out;
  return bound[0].is(Kind::missing) ? Value::integer(0) : bound[0];
}

Value absolute(Runtime&, const Value& input, const Arguments& arguments) {
  bind("abs", arguments, {}, 0);
  if (input.is(Kind::real)) return Value::real(std::fabs(input.as_real()));
  if (input.is_integral()) {
    return input.as_integer() < 0 ? negate(input) : Value::integer(input.as_integer());
  }
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  raise(fmt::format("bad operand type for abs(): '{}'", type_name(input)));
}

// Python's round(real, n_digits): half to even, of the decimal value.
double round_real(double value, int64_t n_digits) {
  if (!std::isfinite(value) || n_digits > 323) return value;
  if (n_digits < -308) return std::copysign(0.0, value);
  if (n_digits >= 0) return std::strtod(fmt::format("{:.{}f}", value, n_digits).c_str(), nullptr);
  const double scale = std::pow(10.0, static_cast<double>(-n_digits));
  return std::nearbyint(value / scale) * scale;
}

Value round_integer(int64_t value, int64_t n_digits) {
  if (n_digits >= 0) return Value::integer(value);
  if (n_digits < -18) return Value::integer(0);
  int64_t scale = 1;
  for (int64_t i = n_digits; i < 0; ++i) scale *= 10;
  const int64_t rest = ((value % scale) + scale) % scale;
  const int64_t below = value - rest;
  const bool up = rest * 2 > scale || (rest * 2 == scale && (below / scale) % 2 != 0);
  return Value::integer(up ? below + scale : below);
}

Value round_number(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("round", arguments, {"precision", "method"}, 0);
  const View method = bound[1].is(Kind::missing) ? "common" : to_text("round", bound[1]);
  if (method != "common" && method != "ceil" && method != "floor") {
    raise("method must be common, ceil or floor");
  }
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  const Value precision = bound[0].is(Kind::missing) ? Value::integer(0) : bound[0];
  if (method == "common") {
    if (input.is(Kind::real)) {
      if (precision.is(Kind::none)) return truncate_real(std::nearbyint(input.as_real()));
      return Value::real(round_real(input.as_real(), to_index(precision)));
    }
    if (!input.is_integral()) {
      raise(fmt::format("type {} doesn't define __round__ method", type_name(input)));
    }
    return round_integer(input.as_integer(), to_index(precision));
  }
  const Value scale = binary(Operator::power, Value::integer(10), precision, runtime);
  const Value scaled = binary(Operator::multiply, input, scale, runtime);
  if (scaled.is(Kind::string)) raise("must be real number, not str");
  const Value whole = scaled.is(Kind::real)
                          ? truncate_real(method == "ceil" ? std::ceil(scaled.as_real())
                                                           : std::floor(scaled.as_real()))
                          : scaled;
  if (whole.is(Kind::missing)) raise("cannot convert float infinity to integer");
  return binary(Operator::divide, whole, scale, runtime);
}

Value file_size(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("filesizeformat", arguments, {"binary"}, 0);
  const bool binary_units = is_true(bound[0], runtime);
  const Value size = to_float(runtime, input, {{Value::none()}, {}});
  if (!size.is(Kind::real)) raise("filesizeformat needs a number");
  const double n_bytes = size.as_real(), base = binary_units ? 1024 : 1000;
  if (n_bytes == 1) return runtime.string("1 Byte");
  if (n_bytes < base) return runtime.string(fmt::format("{:.0f} Bytes", std::trunc(n_bytes)));
  constexpr View kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  constexpr View kDecimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  size_t i = 0;
  double unit = base * base;
  for (; i < 7 && n_bytes >= unit; ++i) unit *= base;
  return runtime.string(
      fmt::format("{:.1f} {}", base * n_bytes / unit, binary_units ? kBinary[i] : kDecimal[i]));
}

Value default_value(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("default", arguments, {"default_value", "boolean"}, 0);
  const bool replaced =
      input.is(Kind::undefined) || (is_true(bound[1], runtime) && !truthy(input, runtime));
  if (!replaced) return input;
  return bound[0].is(Kind::missing) ? runtime.string("") : bound[0];
}

Value attribute_only(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("attr", arguments, {"name"}, 1);
  const View name = to_text("attr", bound[0]);
  const Value found = python_attribute(input, name, runtime);
  if (!found.is(Kind::missing)) return found;
  return Value::undefined(
      fmt::format("'{}' has no attribute {}", object_name(input), to_repr(bound[0], runtime)));
}

[[noreturn]] Value unsupported(Runtime&, const Value&, const Arguments&) {
  raise_unsupported("the filters pprint, random, urlize and wordwrap");
}

struct NamedFilter {
  View name;
  Filter filter;
};

constexpr NamedFilter kFilters[] = {
    // in the order of their names
    {"abs", absolute},
    {"attr", attribute_only},
    {"capitalize", through_method<kCapitalize>},
    {"center", center},
    {"d", default_value},
    {"default", default_value},
    {"e", escape},
    {"escape", escape},
    {"filesizeformat", file_size},
    {"float", to_float},
    {"forceescape", force_escape},
    {"format", format},
    {"indent", indent},
    {"int", to_int},
    {"lower", through_method<kLower>},
    {"pprint", unsupported},
    {"random", unsupported},
    {"replace", replace},
    {"round", round_number},
    {"safe", safe},
    {"string", as_string},
    {"striptags", strip_tags},
    {"title", title_words},
    {"tojson", to_json_text},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", through_method<kUpper>},
    {"urlencode", url_encode},
    {"urlize", unsupported},
    {"wordcount", word_count},
    {"wordwrap", unsupported},
    {"xmlattr", xml_attributes},
};
}  // namespace

Value escape_html(Runtime& runtime, const Value& value) {
  if (value.is(Kind::string) && value.str().markup) return value;
  const std::string text = to_str(value, runtime);
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return runtime.string(std::move(out), true);
}

Filter find_filter(std::string_view name) {
  const auto* at =
      std::lower_bound(std::begin(kFilters), std::end(kFilters), name,
                       [](const NamedFilter& filter, View wanted) { return filter.name < wanted; });
  if (at != std::end(kFilters) && at->name == name) return at->filter;
  return find_sequence_filter(name);
}

}  // namespace hwtv::text::jinja
