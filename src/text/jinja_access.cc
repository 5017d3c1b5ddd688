// Attributes, items, slices, iteration and calls, as jinja2's sandbox gives them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"
#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
Value no_attribute(const Value& value, const Value& name, Runtime& runtime) {
  if (!name.is(Kind::string)) {
    return Value::undefined(
        fmt::format("{} has no element {}", object_name(value), to_repr(name, runtime)));
  }
  return Value::undefined(
      fmt::format("'{}' has no attribute {}", object_name(value), to_repr(name, runtime)));
}

Value forbidden(const Value& value, std::string_view name) {
  return Value::undefined(
      fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(value)));
}

Value bound_method(std::string_view name, Method method, const Value& receiver, Runtime& runtime) {
  return runtime.object<Function>(receiver.depth() + 1, std::string(name),
                                  [method, receiver](Runtime& now, const Arguments& arguments) {
                                    return method(now, receiver, arguments);
                                  });
}

// What every Python object has, and the sandbox keeps from templates.
bool is_internal_name(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "__class__",   "__delattr__", "__dir__",           "__doc__",         "__eq__",
      "__format__",  "__ge__",      "__getattribute__",  "__getstate__",    "__gt__",
      "__hash__",    "__init__",    "__init_subclass__", "__le__",          "__lt__",
      "__ne__",      "__new__",     "__reduce__",        "__reduce_ex__",   "__repr__",
      "__setattr__", "__sizeof__",  "__str__",           "__subclasshook__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The item at `index`, counted from the end when negative; missing when out of range.
Value sequence_item(const Value& value, int64_t index, Runtime& runtime) {
  const bool text = value.is(Kind::string);
  const int64_t n = static_cast<int64_t>(text ? value.str().n_characters : value.items().size());
  if (index < 0) index += n;
  if (index < 0 || index >= n) return {};
  const size_t at = static_cast<size_t>(index);
  if (!text) return value.items()[at];
  if (value.str().ascii()) {
    return runtime.string(std::string(1, value.text()[at]), value.str().markup);
  }
  runtime.budget.spend_on_bytes(value.text().size());
  const size_t byte = byte_of_character(value.text(), at);
  return runtime.string(
      std::string(value.text().substr(byte, decode_utf8(value.text(), byte).n_bytes)),
      value.str().markup);
}

// value[key] in Python: missing for a TypeError or LookupError.
Value python_item(const Value& value, const Value& key, Runtime& runtime) {
  switch (value.kind()) {
    case Kind::dict: {
      if (key.is(Kind::list) || key.is(Kind::dict)) return {};
      const Value* found =
          key.is(Kind::string) ? value.dict().find(key.text()) : value.dict().find(key);
      return found != nullptr ? *found : Value();
    }
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
      return key.is_integral() ? sequence_item(value, key.as_integer(), runtime) : Value();
    case Kind::object: return value.object().item(runtime, key);
    default: return {};
  }
}
}  // namespace

Value python_attribute(const Value& value, std::string_view name, Runtime& runtime) {
  if (value.is(Kind::undefined)) raise(value.undefined_message());
  if (value.is(Kind::object)) {
    Value found = value.object().attribute(runtime, name);
    if (!found.is(Kind::missing)) {
      return found.is(Kind::undefined) || name[0] != '_' ? found : forbidden(value, name);
    }
  } else if (value.is(Kind::string)) {
    if (const Method method = find_string_method(name)) {
      return bound_method(name, method, value, runtime);
    }
  } else if (value.is(Kind::dict) || value.is_sequence()) {
    if (changes_collection(value.kind(), name)) return forbidden(value, name);
    if (const Method method = find_collection_method(value.kind(), name)) {
      return bound_method(name, method, value, runtime);
    }
    if (value.is(Kind::tuple) && value.sequence().group) {
      if (name == "grouper") return value.items()[0];
      if (name == "list") return value.items()[1];
    }
  } else if (value.is_integral()) {
    if (name == "real" || name == "numerator") return posit(value);
    if (name == "imag") return Value::integer(0);
    if (name == "denominator") return Value::integer(1);
  } else if (value.is(Kind::real)) {
    if (name == "real") return value;
    if (name == "imag") return Value::real(0);
  }
  return is_internal_name(name) ? forbidden(value, name) : Value();
}

Value attribute(const Value& value, std::string_view name, Runtime& runtime) {
  Value found = python_attribute(value, name, runtime);
  if (!found.is(Kind::missing)) return found;
  const Value key = Value::constant(std::string(name));
  found = python_item(value, key, runtime);
  return found.is(Kind::missing) ? no_attribute(value, key, runtime) : found;
}

Value item(const Value& value, const Value& key, Runtime& runtime) {
  if (value.is(Kind::undefined)) raise(value.undefined_message());
  Value found = python_item(value, key, runtime);
  if (found.is(Kind::missing) && key.is(Kind::string)) {
    found = python_attribute(value, key.text(), runtime);
  }
  return found.is(Kind::missing) ? no_attribute(value, key, runtime) : found;
}

namespace {
struct SliceBounds {
  int64_t first, step;
  size_t n;
};

// What Python's slice.indices() gives for a sequence of `length`.
SliceBounds slice_bounds(int64_t length, const Value& start, const Value& stop, const Value& step) {
  const auto given = [](const Value& value) {
    return !value.is(Kind::missing) && !value.is(Kind::none);
  };
  const auto index = [](const Value& value) {
    if (value.is(Kind::undefined) || !value.is_integral()) {
      raise("slice indices must be integers or None or have an __index__ method");
    }
    return value.as_integer();
  };
  const int64_t by = given(step) ? index(step) : 1;
  if (by == 0) raise("slice step cannot be zero");
  const int64_t lowest = by < 0 ? -1 : 0, highest = by < 0 ? length - 1 : length;
  const auto clamp = [&](const Value& value, int64_t fallback) {
    if (!given(value)) return fallback;
    int64_t at = index(value);
    if (at < 0) at = at < -length ? lowest : at + length;
    return std::clamp(at, lowest, highest);
  };
  const int64_t from = clamp(start, by < 0 ? highest : lowest);
  const int64_t to = clamp(stop, by < 0 ? lowest : highest);
  const int64_t distance = by < 0 ? from - to : to - from;
  if (distance <= 0) return {from, by, 0};
  if (by == std::numeric_limits<int64_t>::min()) return {from, by, 1};
  return {from, by, static_cast<size_t>((distance - 1) / (by < 0 ? -by : by) + 1)};
}

Value slice_text(const Value& value, const SliceBounds& bounds, Runtime& runtime) {
  const std::string_view text = value.text();
  runtime.budget.spend_on_bytes(text.size());
  if (bounds.n == 0) return runtime.string("", value.str().markup);
  const size_t first = static_cast<size_t>(bounds.first);
  std::string out;
  if (bounds.step == 1) {
    if (value.str().ascii()) {
      out = text.substr(first, bounds.n);
    } else {
      const std::string_view tail = text.substr(byte_of_character(text, first));
      out = tail.substr(0, byte_of_character(tail, bounds.n));
    }
    return runtime.string(std::move(out), value.str().markup);
  }
  std::vector<uint32_t> starts;  // bytes where characters begin
  for (size_t at = 0; at < text.size(); at += decode_utf8(text, at).n_bytes) {
    starts.push_back(static_cast<uint32_t>(at));
  }
  int64_t at = bounds.first;
  for (size_t i = 0; i < bounds.n; ++i) {
    const size_t byte = starts[static_cast<size_t>(at)];
    out += text.substr(byte, decode_utf8(text, byte).n_bytes);
    if (i + 1 < bounds.n) at += bounds.step;
  }
  return runtime.string(std::move(out), value.str().markup);
}

Value slice_range(const Range& range, const SliceBounds& bounds, Runtime& runtime) {
  int64_t step = 0;
  if (__builtin_mul_overflow(range.step(), bounds.step, &step)) {
    raise_unsupported("a range beyond 64 bits");
  }
  const int64_t start = range.at(bounds.first);
  return runtime.object<Range>(0, start, start + step * static_cast<int64_t>(bounds.n), step);
}
}  // namespace

Value slice(const Value& value, const Value& start, const Value& stop, const Value& step,
            Runtime& runtime) {
  if (value.is(Kind::undefined)) raise(value.undefined_message());
  if (value.is(Kind::string)) {
    const int64_t n = static_cast<int64_t>(value.str().n_characters);
    return slice_text(value, slice_bounds(n, start, stop, step), runtime);
  }
  if (value.is_sequence()) {
    const int64_t length = static_cast<int64_t>(value.items().size());
    const SliceBounds bounds = slice_bounds(length, start, stop, step);
    std::vector<Value> values;
    values.reserve(bounds.n);
    int64_t at = bounds.first;
    for (size_t i = 0; i < bounds.n; ++i) {
      values.push_back(value.items()[static_cast<size_t>(at)]);
      if (i + 1 < bounds.n) at += bounds.step;
    }
    return value.is(Kind::list) ? runtime.list(std::move(values))
                                : runtime.tuple(std::move(values));
  }
  if (value.is(Kind::object)) {
    if (const auto* range = dynamic_cast<const Range*>(&value.object())) {
      return slice_range(*range, slice_bounds(range->size(), start, stop, step), runtime);
    }
  }
  if (value.is(Kind::dict)) raise("unhashable type: 'slice'");
  raise(fmt::format("'{}' object is not subscriptable", type_name(value)));
}

bool iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict: return true;
    case Kind::object: return value.object().iterate(value.shared_object()) != nullptr;
    default: return false;
  }
}

std::shared_ptr<Iterator> iterate(const Value& value, Runtime& runtime) {
  runtime.budget.spend(1);
  switch (value.kind()) {
    case Kind::undefined:
      return std::make_shared<Generator>([](Runtime&, Value&) { return false; });
    case Kind::list:
    case Kind::tuple:
      return std::make_shared<Generator>([value, i = size_t{0}](Runtime&, Value& out) mutable {
        if (i == value.items().size()) return false;
        out = value.items()[i++];
        return true;
      });
    case Kind::dict:
      return std::make_shared<Generator>([value, i = size_t{0}](Runtime&, Value& out) mutable {
        if (i == value.dict().entries().size()) return false;
        out = value.dict().entries()[i++].first;
        return true;
      });
    case Kind::string:
      return std::make_shared<Generator>([value, at = size_t{0}](Runtime& now, Value& out) mutable {
        if (at == value.text().size()) return false;
        const size_t n = decode_utf8(value.text(), at).n_bytes;
        out = now.string(std::string(value.text().substr(at, n)));
        at += n;
        return true;
      });
    case Kind::object: {
      auto iterator = value.object().iterate(value.shared_object());
      if (iterator != nullptr) return iterator;
      [[fallthrough]];
    }
    default: raise(fmt::format("'{}' object is not iterable", type_name(value)));
  }
}

std::vector<Value> to_vector(const Value& value, Runtime& runtime) {
  if (value.is_sequence()) {
    runtime.budget.spend(value.items().size() + 1);
    return value.items();
  }
  std::vector<Value> values;
  const auto iterator = iterate(value, runtime);
  for (Value next; iterator->next(runtime, next);) {
    runtime.budget.spend(1);
    runtime.budget.require_room(values.size() * sizeof(Value));
    values.push_back(std::move(next));
  }
  return values;
}

int64_t length(const Value& value, Runtime& runtime) {
  switch (value.kind()) {
    case Kind::undefined: return 0;
    case Kind::string: return static_cast<int64_t>(value.str().n_characters);
    case Kind::list:
    case Kind::tuple: return static_cast<int64_t>(value.items().size());
    case Kind::dict: return static_cast<int64_t>(value.dict().entries().size());
    case Kind::object:
      if (const auto n = value.object().length(runtime)) return *n;
      [[fallthrough]];
    default: raise(fmt::format("object of type '{}' has no len()", type_name(value)));
  }
}

Value call(const Value& callee, const Arguments& arguments, Runtime& runtime) {
  runtime.budget.spend(1);
  if (callee.is(Kind::undefined)) raise(callee.undefined_message());
  if (!callee.is(Kind::object) || !callee.object().callable()) {
    raise(fmt::format("'{}' object is not callable", type_name(callee)));
  }
  return callee.object().call(runtime, arguments);
}

}  // namespace hwtv::text::jinja
