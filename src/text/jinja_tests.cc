// Jinja's tests: what may follow `is`.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
// Whether the input's kind is one of the range.
template <Kind first, Kind last>
bool is_kind(Runtime&, const Value& input, const Arguments& arguments) {
  bind("test", arguments, {}, 0);
  return input.kind() >= first && input.kind() <= last;
}

bool is_defined(Runtime&, const Value& input, const Arguments& arguments) {
  bind("defined", arguments, {}, 0);
  return !input.is(Kind::undefined);
}

template <bool wanted>
bool is_truth(Runtime&, const Value& input, const Arguments& arguments) {
  bind("true", arguments, {}, 0);
  return input.is(Kind::boolean) && input.as_boolean() == wanted;
}

bool remainder_is(Runtime& runtime, const Value& input, const Value& divisor, int64_t wanted) {
  const Value rest = binary(Operator::modulo, input, divisor, runtime);
  return equal(rest, Value::integer(wanted), &runtime.budget);
}

template <int64_t rest>
bool is_parity(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("odd", arguments, {}, 0);
  return remainder_is(runtime, input, Value::integer(2), rest);
}

bool is_divisible(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("divisibleby", arguments, {"num"}, 1);
  return remainder_is(runtime, input, bound[0], 0);
}

template <Comparison op>
bool compares(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("comparison", arguments, {""}, 1);
  return compare(op, input, bound[0], runtime);
}

bool is_in(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("in", arguments, {"seq"}, 1);
  return contains(bound[0], input, runtime);
}

bool is_same(Runtime&, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("sameas", arguments, {"other"}, 1);
  if (input.kind() != bound[0].kind()) return false;
  if (input.is_integral()) return input.as_integer() == bound[0].as_integer();
  return input.identity() == bound[0].identity() && !input.is(Kind::real);
}

bool is_iterable(Runtime&, const Value& input, const Arguments& arguments) {
  bind("iterable", arguments, {}, 0);
  return iterable(input);
}

bool is_sequence(Runtime&, const Value& input, const Arguments& arguments) {
  bind("sequence", arguments, {}, 0);
  if (input.is(Kind::object)) return input.object().has_items();
  return input.is(Kind::undefined) || input.is(Kind::string) || input.is_sequence() ||
         input.is(Kind::dict);
}

bool is_callable(Runtime&, const Value& input, const Arguments& arguments) {
  bind("callable", arguments, {}, 0);
  return input.is(Kind::undefined) || (input.is(Kind::object) && input.object().callable());
}

template <const char* method>
bool has_case(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("lower", arguments, {}, 0);
  const Value text = runtime.string(to_str(input, runtime));
  return find_string_method(method)(runtime, text, arguments).as_boolean();
}
constexpr char kIsLower[] = "islower", kIsUpper[] = "isupper";

bool is_escaped(Runtime&, const Value& input, const Arguments& arguments) {
  bind("escaped", arguments, {}, 0);
  return input.is(Kind::string) && input.str().markup;
}

bool is_filter(Runtime&, const Value& input, const Arguments& arguments) {
  bind("filter", arguments, {}, 0);
  hash(input, nullptr);  // raises where a dict's key would
  return input.is(Kind::string) && find_filter(input.text()) != nullptr;
}

bool is_test(Runtime&, const Value& input, const Arguments& arguments) {
  bind("test", arguments, {}, 0);
  hash(input, nullptr);
  return input.is(Kind::string) && find_test(input.text()) != nullptr;
}

struct NamedTest {
  std::string_view name;
  Test test;
};

constexpr NamedTest kTests[] = {
    // in the order of their names
    {"!=", compares<Comparison::ne>},
    {"<", compares<Comparison::lt>},
    {"<=", compares<Comparison::le>},
    {"==", compares<Comparison::eq>},
    {">", compares<Comparison::gt>},
    {">=", compares<Comparison::ge>},
    {"boolean", is_kind<Kind::boolean, Kind::boolean>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", compares<Comparison::eq>},
    {"equalto", compares<Comparison::eq>},
    {"escaped", is_escaped},
    {"even", is_parity<0>},
    {"false", is_truth<false>},
    {"filter", is_filter},
    {"float", is_kind<Kind::real, Kind::real>},
    {"ge", compares<Comparison::ge>},
    {"greaterthan", compares<Comparison::gt>},
    {"gt", compares<Comparison::gt>},
    {"in", is_in},
    {"integer", is_kind<Kind::integer, Kind::big>},
    {"iterable", is_iterable},
    {"le", compares<Comparison::le>},
    {"lessthan", compares<Comparison::lt>},
    {"lower", has_case<kIsLower>},
    {"lt", compares<Comparison::lt>},
    {"mapping", is_kind<Kind::dict, Kind::dict>},
    {"ne", compares<Comparison::ne>},
    {"none", is_kind<Kind::none, Kind::none>},
    {"number", is_kind<Kind::boolean, Kind::real>},
    {"odd", is_parity<1>},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::string, Kind::string>},
    {"test", is_test},
    {"true", is_truth<true>},
    {"undefined", is_kind<Kind::undefined, Kind::undefined>},
    {"upper", has_case<kIsUpper>},
};
}  // namespace

Test find_test(std::string_view name) {
  const auto* at = std::lower_bound(
      std::begin(kTests), std::end(kTests), name,
      [](const NamedTest& test, std::string_view wanted) { return test.name < wanted; });
  return at != std::end(kTests) && at->name == name ? at->test : nullptr;
}

}  // namespace hwtv::text::jinja
