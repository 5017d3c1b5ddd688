// str(), repr() and json.dumps().
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  (void)error;  // 40 characters hold every double
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + 1 + (text[e + 1] == '+'), end, exponent);
  const bool negative = text[0] == '-';
  std::string digits;
  for (char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  std::string out = negative ? "-" : "";
  const int n = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (n > 1) out += "." + digits.substr(1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) {
    return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  if (n <= exponent + 1) {
    return out + digits + std::string(static_cast<size_t>(exponent + 1 - n), '0') + ".0";
  }
  const size_t point = static_cast<size_t>(exponent + 1);
  return out + digits.substr(0, point) + "." + digits.substr(point);
}

void append_string_repr(std::string_view text, std::string& out) {
  const bool double_quoted =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quoted ? '"' : '\'';
  out += quote;
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    const uint32_t point = c.code_point;
    if (point == '\\' || point == static_cast<uint32_t>(quote)) {
      out += '\\';
      out += static_cast<char>(point);
    } else if (point == '\n') {
      out += "\\n";
    } else if (point == '\r') {
      out += "\\r";
    } else if (point == '\t') {
      out += "\\t";
    } else if (is_printable(point)) {
      out += text.substr(at, c.n_bytes);
    } else if (point < 0x100) {
      out += fmt::format("\\x{:02x}", point);
    } else if (point < 0x10000) {
      out += fmt::format("\\u{:04x}", point);
    } else {
      out += fmt::format("\\U{:08x}", point);
    }
    at += c.n_bytes;
  }
  out += quote;
}

namespace {
// Text grows here without being a value yet, and shared parts may repeat it without end.
void check_growth(Runtime& runtime, const std::string& out) {
  runtime.budget.spend(1);
  runtime.budget.require_room(out.size());
}

void append_items_repr(const Value& value, Runtime& runtime, std::string& out) {
  const bool list = value.is(Kind::list);
  out += list ? '[' : '(';
  bool first = true;
  for (const Value& item : value.items()) {
    if (!first) out += ", ";
    first = false;
    append_repr(item, runtime, out);
  }
  if (!list && value.items().size() == 1) out += ',';
  out += list ? ']' : ')';
}

void append_dict_repr(const Dict& dict, Runtime& runtime, std::string& out) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out += ", ";
    first = false;
    append_repr(key, runtime, out);
    out += ": ";
    append_repr(value, runtime, out);
  }
  out += '}';
}
}  // namespace

void append_repr(const Value& value, Runtime& runtime, std::string& out) {
  const DepthGuard depth(runtime.budget);
  check_growth(runtime, out);
  switch (value.kind()) {
    case Kind::string:
      runtime.budget.require_room(4 * value.text().size());  // if most of it is escaped
      if (value.str().markup) out += "Markup(";
      append_string_repr(value.text(), out);
      if (value.str().markup) out += ')';
      return;
    case Kind::list:
    case Kind::tuple: return append_items_repr(value, runtime, out);
    case Kind::dict: return append_dict_repr(value.dict(), runtime, out);
    case Kind::undefined: out += "Undefined"; return;
    default: append_str(value, runtime, out);
  }
}

void append_str(const Value& value, Runtime& runtime, std::string& out) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined: return;
    case Kind::none: out += "None"; return;
    case Kind::boolean: out += value.as_boolean() ? "True" : "False"; return;
    case Kind::integer: out += std::to_string(value.as_integer()); return;
    case Kind::real: out += real_repr(value.as_real()); return;
    case Kind::big:
    case Kind::string: out += value.text(); return;
    case Kind::list:
    case Kind::tuple:
    case Kind::dict: return append_repr(value, runtime, out);
    case Kind::object: out += value.object().repr(runtime); return;
  }
}

std::string to_str(const Value& value, Runtime& runtime) {
  std::string out;
  append_str(value, runtime, out);
  return out;
}

std::string to_repr(const Value& value, Runtime& runtime) {
  std::string out;
  append_repr(value, runtime, out);
  return out;
}

namespace {
class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Runtime& runtime) : style_(style), runtime_(runtime) {}

  void write(const Value& value) {
    check_growth(runtime_, out);
    switch (value.kind()) {
      case Kind::none: out += "null"; return;
      case Kind::boolean: out += value.as_boolean() ? "true" : "false"; return;
      case Kind::real: out += real(value.as_real()); return;
      case Kind::integer:
      case Kind::big: append_str(value, runtime_, out); return;
      case Kind::string: return write_string(value.text());
      case Kind::list:
      case Kind::tuple: return write_items(value.items());
      case Kind::dict: return write_dict(value.dict());
      default: raise(fmt::format("Object of type {} is not JSON serializable", type_name(value)));
    }
  }

  std::string out;

 private:
  static std::string real(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return real_repr(value);
  }

  void new_line() {
    if (!style_.indented) return;
    runtime_.budget.require_room(out.size() + style_.indent.size() * static_cast<size_t>(level_));
    out += '\n';
    for (int i = 0; i < level_; ++i) out += style_.indent;
  }

  void write_items(const std::vector<Value>& items) {
    if (items.empty()) {
      out += "[]";
      return;
    }
    out += '[';
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += style_.item_separator;
      new_line();
      write(items[i]);
    }
    --level_;
    new_line();
    out += ']';
  }

  std::vector<std::pair<Value, Value>> sorted_entries(const Dict& dict) const {
    std::vector<Value> keys, places;
    for (size_t i = 0; i < dict.entries().size(); ++i) {
      keys.push_back(dict.entries()[i].first);
      places.push_back(Value::integer(static_cast<int64_t>(i)));
    }
    sort_by_keys(places, std::move(keys), false, runtime_);
    std::vector<std::pair<Value, Value>> sorted;
    for (const Value& place : places) {
      sorted.push_back(dict.entries()[static_cast<size_t>(place.as_integer())]);
    }
    return sorted;
  }

  void write_dict(const Dict& dict) {
    if (dict.entries().empty()) {
      out += "{}";
      return;
    }
    out += '{';
    ++level_;
    bool first = true;
    const auto write_entry = [&](const std::pair<Value, Value>& entry) {
      if (!first) out += style_.item_separator;
      first = false;
      new_line();
      write_key(entry.first);
      out += style_.key_separator;
      write(entry.second);
    };
    if (style_.sort_keys) {
      for (const auto& entry : sorted_entries(dict)) write_entry(entry);
    } else {
      for (const auto& entry : dict.entries()) write_entry(entry);
    }
    --level_;
    new_line();
    out += '}';
  }

  void write_key(const Value& key) {
    switch (key.kind()) {
      case Kind::string: return write_string(key.text());
      case Kind::none: return write_string("null");
      case Kind::boolean: return write_string(key.as_boolean() ? "true" : "false");
      case Kind::real: return write_string(real(key.as_real()));
      case Kind::integer:
      case Kind::big: return write_string(to_str(key, runtime_));
      default:
        raise(fmt::format("keys must be str, int, float, bool or None, not {}", type_name(key)));
    }
  }

  void write_escaped(uint32_t point) {
    if (point >= 0x10000) {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((point - 0x10000) >> 10),
                         0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      out += fmt::format("\\u{:04x}", point);
    }
  }

  void write_string(std::string_view text) {
    runtime_.budget.spend_on_bytes(text.size());
    out += '"';
    for (size_t at = 0; at < text.size();) {
      const uint8_t c = static_cast<uint8_t>(text[at]);
      if (c >= 0x80 && style_.ensure_ascii) {
        const Decoded decoded = decode_utf8(text, at);
        write_escaped(decoded.code_point);
        at += decoded.n_bytes;
        continue;
      }
      ++at;
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\f': out += "\\f"; break;
        case '\b': out += "\\b"; break;
        default:
          if (c < 0x20 || (c == 0x7F && style_.ensure_ascii)) {
            write_escaped(c);
          } else {
            out += static_cast<char>(c);
          }
      }
    }
    out += '"';
  }

  const JsonStyle& style_;
  Runtime& runtime_;
  int level_ = 0;
};
}  // namespace

std::string to_json(const Value& value, const JsonStyle& style, Runtime& runtime) {
  JsonWriter writer(style, runtime);
  writer.write(value);
  return std::move(writer.out);
}

}  // namespace hwtv::text::jinja
