// One rendering: its budget, its variables, and Python's protocols (str, iteration, attributes,
// operators) over values.  Everything here throws a Failure where Python would raise.
#pragma once
#include <ctime>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja_object.h"
#include "text/jinja_value.h"

namespace hwtv::text::jinja {

using Variables = std::unordered_map<std::string, Value>;

class Runtime {
 public:
  Runtime(const ChatTemplateLimits& limits, const std::tm& time) : budget(limits), now(time) {}
  ~Runtime() {
    for (const auto& object : retained_) object->forget();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Value string(std::string text, bool markup = false);
  Value list(std::vector<Value> values) { return Value::list(items(std::move(values))); }
  Value tuple(std::vector<Value> values) { return Value::tuple(items(std::move(values))); }
  std::shared_ptr<Items> items(std::vector<Value> values);
  std::shared_ptr<Dict> dict() { return std::make_shared<Dict>(&budget); }
  // `depth`: one more than that of the values the object will hold.
  template <typename T, typename... Args>
  Value object(int depth, Args&&... args) {
    budget.spend(1);
    if (depth > kValueDepthMax) raise_unsupported("values nested too deep");
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    made->depth = depth;
    return Value::object(std::move(made));
  }
  // For objects that can come to refer to themselves: kept to the end, then emptied.
  void retain(std::shared_ptr<Object> object);

  Budget budget;
  std::tm now;
  Position at;  // of the expression being evaluated

 private:
  std::vector<std::shared_ptr<Object>> retained_;
  std::vector<Charge> retained_charges_;
};

// --- jinja_arguments.cc
// The arguments by parameter, missing where not given.  A parameter named "" takes no keyword.
std::vector<Value> bind(std::string_view callee, const Arguments& arguments,
                        std::initializer_list<std::string_view> names, size_t n_required);
int64_t to_index(const Value& value);  // an int where Python insists on one
std::string_view to_text(std::string_view callee, const Value& value);  // a str likewise

// --- jinja_print.cc
std::string to_str(const Value& value, Runtime& runtime);  // str(value)
void append_str(const Value& value, Runtime& runtime, std::string& out);
std::string to_repr(const Value& value, Runtime& runtime);  // repr(value)
void append_repr(const Value& value, Runtime& runtime, std::string& out);
void append_string_repr(std::string_view text, std::string& out);
std::string real_repr(double value);  // the shortest digits that read back the same

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // one level of it
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
std::string to_json(const Value& value, const JsonStyle& style, Runtime& runtime);

// --- jinja_operators.cc
enum class Operator : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };
Value binary(Operator op, const Value& a, const Value& b, Runtime& runtime);
Value negate(const Value& value);
Value posit(const Value& value);
enum class Comparison : uint8_t { eq, ne, lt, le, gt, ge };
bool compare(Comparison op, const Value& a, const Value& b, Runtime& runtime);
bool contains(const Value& container, const Value& item, Runtime& runtime);
// Python's sorted(): stable, by `<` of the keys.
void sort_by_keys(std::vector<Value>& values, std::vector<Value> keys, bool reverse,
                  Runtime& runtime);

// --- jinja_access.cc
Value attribute(const Value& value, std::string_view name, Runtime& runtime);  // value.name
Value item(const Value& value, const Value& key, Runtime& runtime);            // value[key]
// Python's getattr(): missing where there is none; undefined where the sandbox forbids it.
Value python_attribute(const Value& value, std::string_view name, Runtime& runtime);
Value slice(const Value& value, const Value& start, const Value& stop, const Value& step,
            Runtime& runtime);
std::shared_ptr<Iterator> iterate(const Value& value, Runtime& runtime);
bool iterable(const Value& value);
std::vector<Value> to_vector(const Value& value, Runtime& runtime);
int64_t length(const Value& value, Runtime& runtime);
Value call(const Value& callee, const Arguments& arguments, Runtime& runtime);

// --- jinja_methods.cc, jinja_string_methods.cc
using Method = Value (*)(Runtime& runtime, const Value& receiver, const Arguments& arguments);
Method find_string_method(std::string_view name);
Method find_collection_method(Kind kind, std::string_view name);
bool changes_collection(Kind kind, std::string_view name);  // refused by the sandbox

// --- jinja_format.cc
std::string format_percent(std::string_view format, const Value& arguments, Runtime& runtime);
std::string format_braces(std::string_view format, const Arguments& arguments, Runtime& runtime);
std::string format_time(std::string_view format, const std::tm& time, Runtime& runtime);

// --- jinja_filters.cc, jinja_sequence_filters.cc, jinja_tests.cc
using Filter = Value (*)(Runtime& runtime, const Value& input, const Arguments& arguments);
using Test = bool (*)(Runtime& runtime, const Value& input, const Arguments& arguments);
Filter find_filter(std::string_view name);           // null: jinja2 has none of this name
Filter find_sequence_filter(std::string_view name);  // the part that takes sequences
Test find_test(std::string_view name);
Value escape_html(Runtime& runtime, const Value& value);

// --- jinja_globals.cc
const Variables& global_variables();

// --- jinja_json.cc
// Errors: invalid_request, naming `what`.
Result<Value> parse_json(std::string_view json, std::string_view what);

}  // namespace hwtv::text::jinja
