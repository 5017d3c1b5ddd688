#include "text/jinja_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "text/jinja_characters.h"
#include "text/jinja_object.h"

namespace hwtv::text::jinja {

Value Value::boolean(bool b) {
  Value value(Kind::boolean);
  value.scalar_.i = b ? 1 : 0;
  return value;
}

Value Value::integer(int64_t i) {
  Value value(Kind::integer);
  value.scalar_.i = i;
  return value;
}

Value Value::real(double d) {
  Value value(Kind::real);
  value.scalar_.d = d;
  return value;
}

Value Value::big(std::string digits) {
  const size_t n = digits.size();
  return Value(Kind::big, std::make_shared<const Str>(std::move(digits), n, false, Charge()));
}

Value Value::undefined(std::string message) {
  return Value(Kind::undefined, std::make_shared<const UndefinedReason>(std::move(message)));
}

Value Value::constant(std::string text) {
  const size_t n = count_characters(text);
  return Value(Kind::string, std::make_shared<const Str>(std::move(text), n, false, Charge()));
}

Value Value::string(std::shared_ptr<const Str> text) { return {Kind::string, std::move(text)}; }
Value Value::list(std::shared_ptr<const Items> items) { return {Kind::list, std::move(items)}; }
Value Value::tuple(std::shared_ptr<const Items> items) { return {Kind::tuple, std::move(items)}; }
Value Value::dict(std::shared_ptr<const Dict> dict) { return {Kind::dict, std::move(dict)}; }
Value Value::object(std::shared_ptr<Object> object) { return {Kind::object, std::move(object)}; }

std::shared_ptr<Object> Value::shared_object() const {
  return std::static_pointer_cast<Object>(std::const_pointer_cast<void>(heap_));
}

int Value::depth() const {
  if (is_sequence()) return sequence().depth;
  if (kind_ == Kind::object) return object().depth;
  return kind_ == Kind::dict ? dict().depth() : 0;
}

namespace {
constexpr size_t kIndexedFrom = 8;  // fewer entries are found faster by looking at each

size_t hash_integer(int64_t i) { return std::hash<int64_t>{}(i); }

size_t hash_real(double d) {
  const bool integral = d >= -9.2e18 && d <= 9.2e18 && d == std::trunc(d);
  return integral ? hash_integer(static_cast<int64_t>(d)) : std::hash<double>{}(d);
}

bool equal_dicts(const Dict& a, const Dict& b, Budget* budget) {
  if (a.entries().size() != b.entries().size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const auto& entry) {
    const Value* other = b.find(entry.first);
    return other != nullptr && equal(entry.second, *other, budget);
  });
}

bool equal_items(const Value& a, const Value& b, Budget* budget) {
  return a.items().size() == b.items().size() &&
         std::equal(a.items().begin(), a.items().end(), b.items().begin(),
                    [&](const Value& x, const Value& y) { return equal(x, y, budget); });
}
}  // namespace

void Dict::set(const Value& key, Value value) {
  depth_ = std::max({depth_, value.depth() + 1, key.depth() + 1});
  if (depth_ > kValueDepthMax) raise_unsupported("a dict nested too deep");
  const size_t key_hash = hash(key, budget_);
  if (const Value* old = find_hashed(key, key_hash)) {
    *const_cast<Value*>(old) = std::move(value);
    return;
  }
  charge_.grow(sizeof(Value) * 2 + 48);
  entries_.emplace_back(key, std::move(value));
  index_last(key_hash);
}

void Dict::index_last(size_t key_hash) {
  if (entries_.size() > kIndexedFrom) {
    index_.emplace(key_hash, static_cast<uint32_t>(entries_.size() - 1));
  } else if (entries_.size() == kIndexedFrom) {
    for (uint32_t i = 0; i < entries_.size(); ++i)
      index_.emplace(hash(entries_[i].first, budget_), i);
  }
}

const Value* Dict::find_hashed(const Value& key, size_t key_hash) const {
  if (index_.empty()) {
    for (const auto& [k, v] : entries_) {
      if (equal(k, key, budget_)) return &v;
    }
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(key_hash);
  for (auto at = begin; at != end; ++at) {
    if (equal(entries_[at->second].first, key, budget_)) return &entries_[at->second].second;
  }
  return nullptr;
}

const Value* Dict::find(const Value& key) const { return find_hashed(key, hash(key, budget_)); }

const Value* Dict::find(std::string_view key) const {
  const auto matches = [key](const Value& k) { return k.is(Kind::string) && k.text() == key; };
  if (index_.empty()) {
    for (const auto& [k, v] : entries_) {
      if (matches(k)) return &v;
    }
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(std::hash<std::string_view>{}(key));
  for (auto at = begin; at != end; ++at) {
    if (matches(entries_[at->second].first)) return &entries_[at->second].second;
  }
  return nullptr;
}

size_t hash(const Value& value, Budget* budget) {
  switch (value.kind()) {
    case Kind::boolean:
    case Kind::integer: return hash_integer(value.as_integer());
    case Kind::real: return hash_real(value.as_real());
    case Kind::big:
    case Kind::string: return std::hash<std::string_view>{}(value.text());
    case Kind::tuple: {
      size_t sum = 0x345678;
      if (budget != nullptr) budget->spend(value.items().size() + 1);
      for (const Value& item : value.items()) sum = sum * 1000003 ^ hash(item, budget);
      return sum;
    }
    case Kind::list:
    case Kind::dict: raise(fmt::format("unhashable type: '{}'", type_name(value)));
    case Kind::object:
      if (!value.object().hashable()) raise(fmt::format("unhashable type: '{}'", type_name(value)));
      return std::hash<const void*>{}(value.identity());
    case Kind::none:
    case Kind::undefined:
    case Kind::missing: return static_cast<size_t>(value.kind());
  }
  return 0;
}

int compare_numbers(const Value& a, const Value& b) {
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; };
  if (!a.is(Kind::real) && !b.is(Kind::real)) return order(a.as_integer(), b.as_integer());
  if (a.is(Kind::real) && b.is(Kind::real)) return order(a.as_real(), b.as_real());
  if (a.is(Kind::real)) {
    const int reversed = compare_numbers(b, a);
    return reversed == 2 ? 2 : -reversed;
  }
  const int64_t i = a.as_integer();
  const double d = b.as_real();
  if (std::isnan(d)) return 2;
  if (d >= 9223372036854775808.0) return -1;
  if (d < -9223372036854775808.0) return 1;
  const int64_t whole = static_cast<int64_t>(d);
  return i != whole ? order(i, whole) : order(0.0, d - std::trunc(d));
}

bool equal(const Value& a, const Value& b, Budget* budget) {
  if (budget != nullptr) budget->spend(1);
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::big) || b.is(Kind::big)) return a.kind() == b.kind() && a.text() == b.text();
    return compare_numbers(a, b) == 0;
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::string: return a.text() == b.text();
    case Kind::list:
    case Kind::tuple: return a.identity() == b.identity() || equal_items(a, b, budget);
    case Kind::dict: return a.identity() == b.identity() || equal_dicts(a.dict(), b.dict(), budget);
    case Kind::object: return a.identity() == b.identity() || a.object().equals(b.object());
    default: return true;  // two Undefined are equal, and there is one None
  }
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer:
    case Kind::big: return "int";
    case Kind::real: return "float";
    case Kind::string: return value.str().markup ? "Markup" : "str";
    case Kind::list: return "list";
    case Kind::tuple: return value.sequence().group ? "_GroupTuple" : "tuple";
    case Kind::dict: return "dict";
    case Kind::object: return value.object().type_name();
  }
  return "object";
}

std::string object_name(const Value& value) {
  if (value.is(Kind::none)) return "None";
  if (value.is(Kind::object)) return fmt::format("{} object", value.object().qualified_type_name());
  return fmt::format("{} object", type_name(value));
}

bool truthy(const Value& value, Runtime& runtime) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean:
    case Kind::integer: return value.as_integer() != 0;
    case Kind::big: return true;
    case Kind::real: return value.as_real() != 0;
    case Kind::string: return !value.text().empty();
    case Kind::list:
    case Kind::tuple: return !value.items().empty();
    case Kind::dict: return !value.dict().entries().empty();
    case Kind::object: return value.object().truthy(runtime);
  }
  return false;
}

}  // namespace hwtv::text::jinja
