// Python's arithmetic, comparisons and sorting.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

[[noreturn]] void raise_operands(Operator op, const Value& a, const Value& b) {
  const std::string_view symbol = kSymbols[static_cast<size_t>(op)];
  if (op == Operator::add && (a.is(Kind::string) || a.is_sequence())) {
    raise(fmt::format("can only concatenate {0} (not \"{1}\") to {0}", type_name(a), type_name(b)));
  }
  raise(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'",
                    op == Operator::power ? "** or pow()" : symbol, type_name(a), type_name(b)));
}

[[noreturn]] void raise_big() { raise_unsupported("an integer beyond 64 bits"); }
[[noreturn]] void raise_zero() { raise("division by zero"); }

// Python's % and //: the remainder has the divisor's sign.
int64_t floor_modulo(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) {
    if (a == std::numeric_limits<int64_t>::min()) raise_big();
    return -a;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t integer_power(int64_t base, int64_t exponent) {
  int64_t out = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) raise_big();
    exponent >>= 1;
    if (exponent == 0) return out;
    if (__builtin_mul_overflow(base, base, &base)) {
      if (out == 0) return 0;
      raise_big();
    }
  }
}

double floor_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

double real_power(double base, double exponent) {
  if (base == 0 && exponent < 0) raise("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent)) {
    raise_unsupported("a complex number");
  }
  const double out = std::pow(base, exponent);
  if (std::isinf(out) && std::isfinite(base) && std::isfinite(exponent)) {
    raise("(34, 'Numerical result out of range')");
  }
  return out;
}

double to_real(const Value& value) {
  return value.is(Kind::real) ? value.as_real() : static_cast<double>(value.as_integer());
}

Value integer_arithmetic(Operator op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &out)) raise_big();
      return Value::integer(out);
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &out)) raise_big();
      return Value::integer(out);
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &out)) raise_big();
      return Value::integer(out);
    case Operator::divide:
      if (b == 0) raise_zero();
      return Value::real(static_cast<double>(a) / static_cast<double>(b));
    case Operator::floor_divide:
      if (b == 0) raise("integer division or modulo by zero");
      return Value::integer(floor_divide(a, b));
    case Operator::modulo:
      if (b == 0) raise("integer modulo by zero");
      return Value::integer(floor_modulo(a, b));
    case Operator::power:
      if (b < 0) return Value::real(real_power(static_cast<double>(a), static_cast<double>(b)));
      return Value::integer(integer_power(a, b));
  }
  return {};
}

Value real_arithmetic(Operator op, double a, double b) {
  const bool divides =
      op == Operator::divide || op == Operator::floor_divide || op == Operator::modulo;
  if (divides && b == 0) raise("float division by zero");
  switch (op) {
    case Operator::add: return Value::real(a + b);
    case Operator::subtract: return Value::real(a - b);
    case Operator::multiply: return Value::real(a * b);
    case Operator::divide: return Value::real(a / b);
    case Operator::floor_divide: return Value::real(floor_divide(a, b));
    case Operator::modulo: return Value::real(floor_modulo(a, b));
    case Operator::power: return Value::real(real_power(a, b));
  }
  return {};
}

Value concatenate_text(const Value& a, const Value& b, Runtime& runtime) {
  const bool markup = a.str().markup || b.str().markup;
  const auto part = [&](const Value& value) {
    return markup && !value.str().markup ? escape_html(runtime, value) : value;
  };
  const Value left = part(a), right = part(b);
  runtime.budget.require_room(left.text().size() + right.text().size());
  std::string out;
  out.reserve(left.text().size() + right.text().size());
  out.append(left.text()).append(right.text());
  return runtime.string(std::move(out), markup);
}

Value concatenate_items(const Value& a, const Value& b, Runtime& runtime) {
  std::vector<Value> values = a.items();
  values.insert(values.end(), b.items().begin(), b.items().end());
  return a.is(Kind::list) ? runtime.list(std::move(values)) : runtime.tuple(std::move(values));
}

Value repeat(const Value& sequence, int64_t times, Runtime& runtime) {
  const size_t n = times < 0 ? 0 : static_cast<size_t>(times);
  const bool text = sequence.is(Kind::string);
  const size_t n_bytes = text ? sequence.text().size() : sequence.items().size() * sizeof(Value);
  size_t total = 0;
  if (__builtin_mul_overflow(n, n_bytes, &total)) raise_unsupported("a sequence too long");
  runtime.budget.require_room(total);
  runtime.budget.spend_on_bytes(total);
  if (text) {
    std::string out;
    if (n_bytes > 0) {
      out.reserve(total);
      for (size_t i = 0; i < n; ++i) out += sequence.text();
    }
    return runtime.string(std::move(out), sequence.str().markup);
  }
  std::vector<Value> values;
  if (n_bytes > 0) {
    values.reserve(total / sizeof(Value));
    for (size_t i = 0; i < n; ++i) {
      values.insert(values.end(), sequence.items().begin(), sequence.items().end());
    }
  }
  return sequence.is(Kind::list) ? runtime.list(std::move(values))
                                 : runtime.tuple(std::move(values));
}

bool repeats(const Value& value) { return value.is(Kind::string) || value.is_sequence(); }
}  // namespace

Value binary(Operator op, const Value& a, const Value& b, Runtime& runtime) {
  if (op == Operator::modulo && a.is(Kind::string)) {
    return runtime.string(format_percent(a.text(), b, runtime), a.str().markup);
  }
  if (a.is(Kind::undefined)) raise(a.undefined_message());
  if (b.is(Kind::undefined)) raise(b.undefined_message());
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::big) || b.is(Kind::big)) raise_big();
    if (a.is(Kind::real) || b.is(Kind::real)) return real_arithmetic(op, to_real(a), to_real(b));
    return integer_arithmetic(op, a.as_integer(), b.as_integer());
  }
  if (op == Operator::add) {
    if (a.is(Kind::string) && b.is(Kind::string)) return concatenate_text(a, b, runtime);
    if (a.is_sequence() && a.kind() == b.kind()) return concatenate_items(a, b, runtime);
  }
  if (op == Operator::multiply) {
    if (repeats(a) && b.is_integral()) return repeat(a, b.as_integer(), runtime);
    if (repeats(b) && a.is_integral()) return repeat(b, a.as_integer(), runtime);
  }
  raise_operands(op, a, b);
}

Value negate(const Value& value) {
  if (value.is(Kind::real)) return Value::real(-value.as_real());
  if (value.is(Kind::big)) raise_big();
  if (value.is_integral()) return integer_arithmetic(Operator::subtract, 0, value.as_integer());
  if (value.is(Kind::undefined)) raise(value.undefined_message());
  raise(fmt::format("bad operand type for unary -: '{}'", type_name(value)));
}

Value posit(const Value& value) {
  if (value.is(Kind::real) || value.is(Kind::big)) return value;
  if (value.is_integral()) return Value::integer(value.as_integer());
  if (value.is(Kind::undefined)) raise(value.undefined_message());
  raise(fmt::format("bad operand type for unary +: '{}'", type_name(value)));
}

namespace {
// a OP b for an ordering OP, given their order as in compare_numbers.
bool holds(Comparison op, int order) {
  switch (op) {
    case Comparison::lt: return order == -1;
    case Comparison::le: return order == -1 || order == 0;
    case Comparison::gt: return order == 1;
    case Comparison::ge: return order == 1 || order == 0;
    default: return false;
  }
}

bool compare_items(Comparison op, const Value& a, const Value& b, Runtime& runtime) {
  const std::vector<Value>&x = a.items(), &y = b.items();
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (!equal(x[i], y[i], &runtime.budget)) return compare(op, x[i], y[i], runtime);
  }
  return holds(op, x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0);
}
}  // namespace

bool compare(Comparison op, const Value& a, const Value& b, Runtime& runtime) {
  runtime.budget.spend(1);
  if (op == Comparison::eq) return equal(a, b, &runtime.budget);
  if (op == Comparison::ne) return !equal(a, b, &runtime.budget);
  if (a.is(Kind::undefined)) raise(a.undefined_message());
  if (b.is(Kind::undefined)) raise(b.undefined_message());
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::big) || b.is(Kind::big)) raise_big();
    return holds(op, compare_numbers(a, b));
  }
  if (a.is(Kind::string) && b.is(Kind::string)) {
    // UTF-8's bytes are in the order of the characters.
    const int order = a.text().compare(b.text());
    return holds(op, order < 0 ? -1 : order > 0 ? 1 : 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) return compare_items(op, a, b, runtime);
  constexpr std::string_view kNames[] = {"==", "!=", "<", "<=", ">", ">="};
  raise(fmt::format("'{}' not supported between instances of '{}' and '{}'",
                    kNames[static_cast<size_t>(op)], type_name(a), type_name(b)));
}

bool contains(const Value& container, const Value& item, Runtime& runtime) {
  runtime.budget.spend(1);
  switch (container.kind()) {
    case Kind::string:
      if (!item.is(Kind::string)) {
        raise(
            fmt::format("'in <string>' requires string as left operand, not {}", type_name(item)));
      }
      runtime.budget.spend_on_bytes(container.text().size());
      return container.text().find(item.text()) != std::string_view::npos;
    case Kind::dict: return container.dict().find(item) != nullptr;
    case Kind::list:
    case Kind::tuple:
      for (const Value& value : container.items()) {
        if (equal(value, item, &runtime.budget)) return true;
      }
      return false;
    case Kind::undefined: return false;
    default: break;
  }
  if (!iterable(container)) {
    raise(fmt::format("argument of type '{}' is not iterable", type_name(container)));
  }
  const auto iterator = iterate(container, runtime);
  for (Value value; iterator->next(runtime, value);) {
    if (equal(value, item, &runtime.budget)) return true;
  }
  return false;
}

namespace {
struct Keyed {
  Value key, value;
};

bool less(const Keyed& a, const Keyed& b, Runtime& runtime) {
  return compare(Comparison::lt, a.key, b.key, runtime);
}

// Whether `items` are in order, or were and now are in order after strictly falling.  It compares as
// Python's sort begins, so that incomparable items are told by the same message.
bool is_one_run(std::vector<Keyed>& items, Runtime& runtime) {
  if (items.size() < 2) return true;
  const bool falls = less(items[1], items[0], runtime);
  for (size_t i = 2; i < items.size(); ++i) {
    if (less(items[i], items[i - 1], runtime) != falls) return false;
  }
  if (falls) std::reverse(items.begin(), items.end());
  return true;
}

// Top-down merge sort: stable, and safe whatever the comparison says.
void merge_sort(std::vector<Keyed>& items, std::vector<Keyed>& spare, size_t first, size_t last,
                Runtime& runtime) {
  if (last - first < 2) return;
  const size_t middle = first + (last - first) / 2;
  merge_sort(items, spare, first, middle, runtime);
  merge_sort(items, spare, middle, last, runtime);
  size_t left = first, right = middle;
  for (size_t out = first; out < last; ++out) {
    const bool take_right =
        left == middle || (right < last && less(items[right], items[left], runtime));
    spare[out] = std::move(items[take_right ? right++ : left++]);
  }
  for (size_t i = first; i < last; ++i) items[i] = std::move(spare[i]);
}
}  // namespace

void sort_by_keys(std::vector<Value>& values, std::vector<Value> keys, bool reverse,
                  Runtime& runtime) {
  std::vector<Keyed> items(values.size());
  for (size_t i = 0; i < values.size(); ++i) items[i] = {std::move(keys[i]), std::move(values[i])};
  // Reversed before and after, equal items keep their order.
  if (reverse) std::reverse(items.begin(), items.end());
  if (!is_one_run(items, runtime)) {
    std::vector<Keyed> spare(items.size());
    merge_sort(items, spare, 0, items.size(), runtime);
  }
  if (reverse) std::reverse(items.begin(), items.end());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::move(items[i].value);
}

}  // namespace hwtv::text::jinja
