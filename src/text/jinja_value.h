// The values of the Jinja interpreter: Python's, as far as templates can tell.  Strings, lists and
// dicts never change once made (the sandbox of transformers forbids it), so copies share them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja_budget.h"

namespace hwtv::text::jinja {

class Runtime;
class Object;
class Dict;

enum class Kind : uint8_t {
  missing,    // a variable that nothing was assigned to; never seen by a template
  undefined,  // jinja2.Undefined
  none,
  boolean,
  integer,
  big,  // an int beyond 64 bits that came in with the JSON; it can be printed and compared
  real,
  string,
  list,
  tuple,
  dict,
  object,  // anything else: namespaces, macros, loops, iterators, methods
};

struct Str {
  std::string text;  // valid UTF-8
  size_t n_characters;
  bool markup;  // markupsafe.Markup: `|safe`, `|escape`
  Charge charge;

  bool ascii() const { return n_characters == text.size(); }
};

// Why a value is undefined, told when something is done with it.
struct UndefinedReason {
  std::string message;
};

class Value;

// A list or a tuple.
struct Items {
  std::vector<Value> values;
  int depth;           // of nesting, 1 for scalars only
  bool group = false;  // a tuple of groupby: its items have the names `grouper` and `list`
  Charge charge;
};

class Value {
 public:
  Value() = default;  // missing
  static Value none() { return Value(Kind::none); }
  static Value boolean(bool b);
  static Value integer(int64_t i);
  static Value real(double d);
  static Value big(std::string digits);
  static Value undefined(std::string message);
  // Made without a budget: for constants of a template and the caller's input.
  static Value constant(std::string text);
  static Value string(std::shared_ptr<const Str> text);
  static Value list(std::shared_ptr<const Items> items);
  static Value tuple(std::shared_ptr<const Items> items);
  static Value dict(std::shared_ptr<const Dict> dict);
  static Value object(std::shared_ptr<Object> object);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  bool is_number() const { return kind_ >= Kind::boolean && kind_ <= Kind::real; }
  // An int as Python's arithmetic takes it: True is 1.
  bool is_integral() const { return kind_ == Kind::boolean || kind_ == Kind::integer; }

  // Requires: the kind.  as_integer takes booleans too.
  bool as_boolean() const { return scalar_.i != 0; }
  int64_t as_integer() const { return scalar_.i; }
  double as_real() const { return scalar_.d; }
  const Str& str() const { return *static_cast<const Str*>(heap_.get()); }
  std::string_view text() const { return str().text; }  // string or big
  const std::vector<Value>& items() const { return sequence().values; }
  const Items& sequence() const { return *static_cast<const Items*>(heap_.get()); }
  const Dict& dict() const {
    return *static_cast<const Dict*>(static_cast<const void*>(heap_.get()));
  }
  Object& object() const { return *static_cast<Object*>(const_cast<void*>(heap_.get())); }
  std::shared_ptr<Object> shared_object() const;
  const std::string& undefined_message() const {
    return static_cast<const UndefinedReason*>(heap_.get())->message;
  }
  const void* identity() const { return heap_.get(); }
  int depth() const;  // of nesting; 0 for a scalar

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Value(Kind kind, std::shared_ptr<const void> heap) : kind_(kind), heap_(std::move(heap)) {}

  Kind kind_ = Kind::missing;
  union {
    int64_t i = 0;
    double d;
  } scalar_;
  std::shared_ptr<const void> heap_;
};

// Keeps the order of insertion, as Python's dict does.
class Dict {
 public:
  explicit Dict(Budget* budget) : charge_(budget, 0), budget_(budget) {}

  // Throws for a list or dict as key.  Only while the dict is being made.
  void set(const Value& key, Value value);
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;  // throws for a list or dict

  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }
  int depth() const { return depth_; }

 private:
  const Value* find_hashed(const Value& key, size_t hash) const;
  void index_last(size_t hash);

  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_multimap<size_t, uint32_t> index_;  // of hashes; empty while there are few entries
  int depth_ = 1;
  Charge charge_;
  Budget* budget_;
};

inline constexpr int kValueDepthMax = 300;  // of lists in lists: they are torn down recursively

// Throws for what Python cannot hash.  Equal values have equal hashes.
size_t hash(const Value& value, Budget* budget);
// Python's ==.  `budget` may be null.
bool equal(const Value& a, const Value& b, Budget* budget);

// type(value).__name__: "str", "dict", "NoneType", ...
std::string_view type_name(const Value& value);
// How jinja2 names a value's type in messages: "str object", "None".
std::string object_name(const Value& value);

bool truthy(const Value& value, Runtime& runtime);

// An equality test of numbers that loses no bits, and their order: -1, 0, 1; 2: a NaN is in it.
// Requires: both boolean, integer or real.
int compare_numbers(const Value& a, const Value& b);

}  // namespace hwtv::text::jinja
