// The methods of Python's str.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
using View = std::string_view;

Value text_like(Runtime& runtime, const Value& model, std::string text) {
  return runtime.string(std::move(text), model.str().markup);
}

bool given(const Value& value) { return !value.is(Kind::missing) && !value.is(Kind::none); }

// --- case

template <std::string (*mapping)(View)>
Value map_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("str", arguments, {}, 0);
  runtime.budget.spend_on_bytes(self.text().size());
  runtime.budget.require_room(3 * self.text().size());
  return text_like(runtime, self, mapping(self.text()));
}

// --- what kind of characters

template <bool (*belongs)(uint32_t)>
Value all_characters(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("str", arguments, {}, 0);
  runtime.budget.spend_on_bytes(self.text().size());
  const View text = self.text();
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    if (!belongs(c.code_point)) return Value::boolean(false);
    at += c.n_bytes;
  }
  return Value::boolean(!text.empty());
}

bool is_alphanumeric(uint32_t c) { return is_alpha(c) || is_numeric(c) || is_digit(c); }

// Whether there is a cased character, and every one is of the `wanted` case.
template <bool (*wanted)(uint32_t), bool (*unwanted)(uint32_t)>
Value all_of_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("str", arguments, {}, 0);
  runtime.budget.spend_on_bytes(self.text().size());
  bool any = false;
  const View text = self.text();
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    if (unwanted(c.code_point) || is_title(c.code_point)) return Value::boolean(false);
    any = any || wanted(c.code_point);
    at += c.n_bytes;
  }
  return Value::boolean(any);
}

Value is_title_text(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("istitle", arguments, {}, 0);
  runtime.budget.spend_on_bytes(self.text().size());
  bool any = false, in_word = false;
  const View text = self.text();
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    at += c.n_bytes;
    const bool capital = is_upper(c.code_point) || is_title(c.code_point);
    const bool small = is_lower(c.code_point);
    if ((capital && in_word) || (small && !in_word)) return Value::boolean(false);
    in_word = capital || small;
    any = any || in_word;
  }
  return Value::boolean(any);
}

Value is_ascii(Runtime&, const Value& self, const Arguments& arguments) {
  bind("isascii", arguments, {}, 0);
  return Value::boolean(self.str().ascii());
}

Value is_printable_text(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value all = all_characters<is_printable>(runtime, self, arguments);
  return Value::boolean(self.text().empty() || all.as_boolean());
}

Value is_identifier(Runtime&, const Value& self, const Arguments& arguments) {
  bind("isidentifier", arguments, {}, 0);
  const View text = self.text();
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    if (!(at == 0 ? starts_identifier(c.code_point) : continues_identifier(c.code_point))) {
      return Value::boolean(false);
    }
    at += c.n_bytes;
  }
  return Value::boolean(!text.empty());
}

// --- stripping

View strip_set(View text, View set, bool left, bool right) {
  const auto in_set = [set](View character) { return set.find(character) != View::npos; };
  while (left && !text.empty()) {
    const size_t n = decode_utf8(text, 0).n_bytes;
    if (!in_set(text.substr(0, n))) break;
    text.remove_prefix(n);
  }
  while (right && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
    if (!in_set(text.substr(at))) break;
    text = text.substr(0, at);
  }
  return text;
}

template <bool left, bool right>
Value strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("strip", arguments, {""}, 0);
  View text = self.text();
  runtime.budget.spend_on_bytes(text.size());
  if (given(bound[0])) {
    text = strip_set(text, to_text("strip()", bound[0]), left, right);
  } else {
    if (left) text = strip_left(text);
    if (right) text = strip_right(text);
  }
  if (text.size() == self.text().size()) return self;
  return text_like(runtime, self, std::string(text));
}

template <bool prefix>
Value remove_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("removeprefix", arguments, {""}, 1);
  const View text = self.text(), affix = to_text("removeprefix()", bound[0]);
  if (prefix ? !text.starts_with(affix) : !text.ends_with(affix)) return self;
  return text_like(
      runtime, self,
      std::string(prefix ? text.substr(affix.size()) : text.substr(0, text.size() - affix.size())));
}

// --- searching

// The part of `text` that the optional character bounds select, and where it begins.
struct Window {
  View text;
  size_t first_character;
  bool valid;  // false: the bounds cross, so that not even "" is found
};

Window window(const Value& self, const Value& start, const Value& stop) {
  const int64_t n = static_cast<int64_t>(self.str().n_characters);
  const auto bound = [n](const Value& value, int64_t fallback) {
    if (!given(value)) return fallback;
    const int64_t at = to_index(value);
    return at < 0 ? std::max<int64_t>(at + n, 0) : at;
  };
  const int64_t from = bound(start, 0), to = std::min(bound(stop, n), n);
  if (from > to) return {{}, 0, false};
  const View text = self.text();
  const size_t first = byte_of_character(text, static_cast<size_t>(from));
  const View tail = text.substr(first);
  return {tail.substr(0, byte_of_character(tail, static_cast<size_t>(to - from))),
          static_cast<size_t>(from), true};
}

template <bool from_right>
int64_t find_in(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("find", arguments, {"", "", ""}, 1);
  const View wanted = to_text("find()", bound[0]);
  runtime.budget.spend_on_bytes(self.text().size());
  const Window in = window(self, bound[1], bound[2]);
  if (!in.valid) return -1;
  const size_t at = from_right ? in.text.rfind(wanted) : in.text.find(wanted);
  if (at == View::npos) return -1;
  return static_cast<int64_t>(in.first_character + count_characters(in.text.substr(0, at)));
}

template <bool from_right>
Value find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value::integer(find_in<from_right>(runtime, self, arguments));
}

template <bool from_right>
Value index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const int64_t at = find_in<from_right>(runtime, self, arguments);
  if (at < 0) raise("substring not found");
  return Value::integer(at);
}

Value count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("count", arguments, {"", "", ""}, 1);
  const View wanted = to_text("count()", bound[0]);
  runtime.budget.spend_on_bytes(self.text().size());
  const Window in = window(self, bound[1], bound[2]);
  if (!in.valid) return Value::integer(0);
  if (wanted.empty()) return Value::integer(static_cast<int64_t>(count_characters(in.text)) + 1);
  int64_t n = 0;
  for (size_t at = in.text.find(wanted); at != View::npos;
       at = in.text.find(wanted, at + wanted.size())) {
    ++n;
  }
  return Value::integer(n);
}

template <bool prefix>
Value affix_matches(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind(prefix ? "startswith" : "endswith", arguments, {"", "", ""}, 1);
  const Window in = window(self, bound[1], bound[2]);
  const auto matches = [&](const Value& affix) {
    const View wanted = to_text(prefix ? "startswith()" : "endswith()", affix);
    return in.valid && (prefix ? in.text.starts_with(wanted) : in.text.ends_with(wanted));
  };
  if (!bound[0].is(Kind::tuple)) return Value::boolean(matches(bound[0]));
  runtime.budget.spend(bound[0].items().size());
  return Value::boolean(std::any_of(bound[0].items().begin(), bound[0].items().end(), matches));
}

// --- splitting

// Pieces of a text, counted as the values they will become.
class Parts {
 public:
  explicit Parts(Runtime& runtime) : runtime_(runtime) {}
  void push_back(View part) {
    runtime_.budget.require_room(views.size() * (sizeof(Value) + sizeof(Str)));
    views.push_back(part);
  }
  size_t size() const { return views.size(); }

  std::vector<View> views;

 private:
  Runtime& runtime_;
};

std::vector<View> split_spaces(View text, int64_t times, bool from_right, Runtime& runtime) {
  Parts parts(runtime);
  const auto is_space_at = [&](size_t at) { return is_space(decode_utf8(text, at).code_point); };
  if (from_right) {
    text = strip_right(text);
    while (!text.empty()) {
      size_t begin = text.size();
      while (begin > 0 && parts.size() < static_cast<size_t>(times)) {
        size_t at = begin - 1;
        while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
        if (is_space_at(at)) break;
        begin = at;
      }
      if (parts.size() == static_cast<size_t>(times)) begin = 0;
      parts.push_back(text.substr(begin));
      text = strip_right(text.substr(0, begin));
    }
    std::reverse(parts.views.begin(), parts.views.end());
    return std::move(parts.views);
  }
  text = strip_left(text);
  while (!text.empty()) {
    if (parts.size() == static_cast<size_t>(times)) {
      parts.push_back(text);
      break;
    }
    size_t end = 0;
    while (end < text.size() && !is_space_at(end)) end += decode_utf8(text, end).n_bytes;
    parts.push_back(text.substr(0, end));
    text = strip_left(text.substr(end));
  }
  return std::move(parts.views);
}

std::vector<View> split_at(View text, View separator, int64_t times, bool from_right,
                           Runtime& runtime) {
  Parts parts(runtime);
  while (parts.size() < static_cast<size_t>(times)) {
    const size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == View::npos) break;
    parts.push_back(from_right ? text.substr(at + separator.size()) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  parts.push_back(text);
  if (from_right) std::reverse(parts.views.begin(), parts.views.end());
  return std::move(parts.views);
}

Value list_of(Runtime& runtime, const Value& model, const std::vector<View>& parts) {
  std::vector<Value> values;
  values.reserve(parts.size());
  for (View part : parts) values.push_back(text_like(runtime, model, std::string(part)));
  return runtime.list(std::move(values));
}

template <bool from_right>
Value split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("split", arguments, {"sep", "maxsplit"}, 0);
  int64_t times = bound[1].is(Kind::missing) ? -1 : to_index(bound[1]);
  if (times < 0) times = std::numeric_limits<int64_t>::max();
  runtime.budget.spend_on_bytes(self.text().size());
  if (!given(bound[0])) {
    return list_of(runtime, self, split_spaces(self.text(), times, from_right, runtime));
  }
  const View separator = to_text("split()", bound[0]);
  if (separator.empty()) raise("empty separator");
  return list_of(runtime, self, split_at(self.text(), separator, times, from_right, runtime));
}

Value split_lines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("splitlines", arguments, {"keepends"}, 0);
  const bool keep = !bound[0].is(Kind::missing) && truthy(bound[0], runtime);
  runtime.budget.spend_on_bytes(self.text().size());
  const View text = self.text();
  Parts lines(runtime);
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    size_t end = at + c.n_bytes;
    const uint32_t point = c.code_point;
    const bool breaks = (point >= 10 && point <= 13) || (point >= 0x1C && point <= 0x1E) ||
                        point == 0x85 || point == 0x2028 || point == 0x2029;
    if (breaks) {
      if (point == '\r' && end < text.size() && text[end] == '\n') ++end;
      lines.push_back(text.substr(begin, (keep ? end : at) - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return list_of(runtime, self, lines.views);
}

template <bool from_right>
Value partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("partition", arguments, {""}, 1);
  const View text = self.text(), separator = to_text("partition()", bound[0]);
  if (separator.empty()) raise("empty separator");
  const size_t at = from_right ? text.rfind(separator) : text.find(separator);
  const auto part = [&](View piece) { return text_like(runtime, self, std::string(piece)); };
  if (at == View::npos) {
    return from_right ? runtime.tuple({part(""), part(""), self})
                      : runtime.tuple({self, part(""), part("")});
  }
  return runtime.tuple(
      {part(text.substr(0, at)), part(separator), part(text.substr(at + separator.size()))});
}

// --- building

// What a markup text takes as an argument: strings that are none are escaped.
Value like_receiver(Runtime& runtime, const Value& self, const Value& argument) {
  return self.str().markup && argument.is(Kind::string) ? escape_html(runtime, argument) : argument;
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("join", arguments, {""}, 1);
  std::string out;
  bool first = true;
  const auto iterator = iterate(bound[0], runtime);
  size_t i = 0;
  for (Value part; iterator->next(runtime, part); ++i) {
    if (!part.is(Kind::string)) {
      raise(fmt::format("sequence item {}: expected str instance, {} found", i, type_name(part)));
    }
    if (!first) out += self.text();
    first = false;
    runtime.budget.spend(1);
    out += like_receiver(runtime, self, part).text();
    runtime.budget.require_room(out.size() + self.text().size());
  }
  return text_like(runtime, self, std::move(out));
}

Value replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  std::vector<Value> bound = bind("replace", arguments, {"", "", ""}, 2);
  for (size_t i = 0; i < 2; ++i) bound[i] = like_receiver(runtime, self, bound[i]);
  const View text = self.text(), old = to_text("replace()", bound[0]),
             by = to_text("replace()", bound[1]);
  int64_t times = bound[2].is(Kind::missing) ? -1 : to_index(bound[2]);
  if (times < 0) times = std::numeric_limits<int64_t>::max();
  std::string out;
  const auto grow = [&](View part) {
    runtime.budget.require_room(out.size() + part.size());
    out += part;
  };
  size_t at = 0;
  if (old.empty()) {
    for (; times > 0; --times) {
      grow(by);
      if (at == text.size()) break;
      const size_t n = decode_utf8(text, at).n_bytes;
      out += text.substr(at, n);
      at += n;
    }
  } else {
    for (; times > 0; --times) {
      const size_t found = text.find(old, at);
      if (found == View::npos) break;
      grow(text.substr(at, found - at));
      grow(by);
      at = found + old.size();
    }
  }
  grow(text.substr(std::min(at, text.size())));
  runtime.budget.spend_on_bytes(text.size() + out.size());
  return text_like(runtime, self, std::move(out));
}

// How `width` characters are filled up on both sides.
template <int side>  // -1: the text to the left, 0: in the middle, 1: to the right
Value justify(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("justify", arguments, {"", ""}, 1);
  const View fill = bound[1].is(Kind::missing) ? " " : to_text("justify()", bound[1]);
  if (count_characters(fill) != 1) raise("The fill character must be exactly one character long");
  const int64_t width = to_index(bound[0]), n = static_cast<int64_t>(self.str().n_characters);
  if (width <= n) return self;
  const int64_t missing = width - n;
  const int64_t left = side < 0 ? 0 : side > 0 ? missing : missing / 2 + (missing & width & 1);
  if (missing > (int64_t{1} << 40)) raise_unsupported("a string too long");
  runtime.budget.require_room(static_cast<size_t>(missing) * fill.size());
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += fill;
  out += self.text();
  for (int64_t i = left; i < missing; ++i) out += fill;
  return text_like(runtime, self, std::move(out));
}

Value zero_fill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("zfill", arguments, {""}, 1);
  const int64_t width = to_index(bound[0]), n = static_cast<int64_t>(self.str().n_characters);
  if (width <= n) return self;
  if (width > (int64_t{1} << 40)) raise_unsupported("a string too long");
  runtime.budget.require_room(static_cast<size_t>(width));
  const View text = self.text();
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  std::string out(text.substr(0, sign ? 1 : 0));
  out.append(static_cast<size_t>(width - n), '0').append(text.substr(sign ? 1 : 0));
  return text_like(runtime, self, std::move(out));
}

Value expand_tabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("expandtabs", arguments, {"tabsize"}, 0);
  const int64_t size = bound[0].is(Kind::missing) ? 8 : to_index(bound[0]);
  if (size > (int64_t{1} << 31)) raise_unsupported("a string too long");
  std::string out;
  int64_t column = 0;
  for (char c : self.text()) {
    if (c == '\t') {
      const int64_t n = size > 0 ? size - column % size : 0;
      runtime.budget.require_room(out.size() + static_cast<size_t>(n));
      out.append(static_cast<size_t>(n), ' ');
      column += n;
      continue;
    }
    out += c;
    if ((static_cast<uint8_t>(c) & 0xC0) != 0x80) ++column;
    if (c == '\n' || c == '\r') column = 0;
  }
  return text_like(runtime, self, std::move(out));
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return text_like(runtime, self, format_braces(self.text(), arguments, runtime));
}

Value format_map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("format_map", arguments, {""}, 1);
  if (!bound[0].is(Kind::dict)) raise("format_map() needs a dict");
  Arguments named;
  for (const auto& [key, value] : bound[0].dict().entries()) {
    if (key.is(Kind::string)) named.named.emplace_back(key.text(), value);
  }
  return text_like(runtime, self, format_braces(self.text(), named, runtime));
}

[[noreturn]] Value unsupported(Runtime&, const Value&, const Arguments&) {
  raise_unsupported("str.encode, str.maketrans and str.translate");
}

struct NamedMethod {
  View name;
  Method method;
};

constexpr NamedMethod kMethods[] = {
    // in the order of their names
    {"capitalize", map_case<capitalize>},
    {"casefold", map_case<casefold>},
    {"center", justify<0>},
    {"count", count},
    {"encode", unsupported},
    {"endswith", affix_matches<false>},
    {"expandtabs", expand_tabs},
    {"find", find<false>},
    {"format", format},
    {"format_map", format_map},
    {"index", index<false>},
    {"isalnum", all_characters<is_alphanumeric>},
    {"isalpha", all_characters<is_alpha>},
    {"isascii", is_ascii},
    {"isdecimal", all_characters<is_decimal>},
    {"isdigit", all_characters<is_digit>},
    {"isidentifier", is_identifier},
    {"islower", all_of_case<is_lower, is_upper>},
    {"isnumeric", all_characters<is_numeric>},
    {"isprintable", is_printable_text},
    {"isspace", all_characters<is_space>},
    {"istitle", is_title_text},
    {"isupper", all_of_case<is_upper, is_lower>},
    {"join", join},
    {"ljust", justify<-1>},
    {"lower", map_case<lower>},
    {"lstrip", strip<true, false>},
    {"maketrans", unsupported},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"replace", replace},
    {"rfind", find<true>},
    {"rindex", index<true>},
    {"rjust", justify<1>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", strip<false, true>},
    {"split", split<false>},
    {"splitlines", split_lines},
    {"startswith", affix_matches<true>},
    {"strip", strip<true, true>},
    {"swapcase", map_case<swapcase>},
    {"title", map_case<title>},
    {"translate", unsupported},
    {"upper", map_case<upper>},
    {"zfill", zero_fill},
};
}  // namespace

Method find_string_method(std::string_view name) {
  const auto* at = std::lower_bound(
      std::begin(kMethods), std::end(kMethods), name,
      [](const NamedMethod& method, std::string_view wanted) { return method.name < wanted; });
  return at != std::end(kMethods) && at->name == name ? at->method : nullptr;
}

}  // namespace hwtv::text::jinja
