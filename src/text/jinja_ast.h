// A parsed template.  The parser makes it, jinja_scope resolves its names to slots, and from then
// on it never changes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

// Where a variable lives: slot `index` of the function that is `hops` functions further out.
struct Slot {
  uint32_t hops = 0;
  uint32_t index = 0;
};

// What a scope does to its variables when it is entered.
struct Load {
  enum class From : uint8_t { context, outer, nothing };
  From from;
  uint32_t index;    // of the variable, in this function
  std::string name;  // context: what to look up
  Slot outer;        // outer: what to copy
};
struct Scope {
  std::vector<Load> loads;
};

// --- expressions

struct Expression {
  enum class Kind : uint8_t {
    constant,
    name,
    list,
    dict,
    unary,
    binary,
    logic,
    concat,
    comparison,
    conditional,
    attribute,
    item,
    slice,
    call,
    filter,
    test,
  };
  Expression(Kind kind_in, Position at_in) : kind(kind_in), at(at_in) {}
  virtual ~Expression() = default;

  Kind kind;
  int depth = 1;  // of the tree below
  Position at;
};
using ExpressionPtr = std::unique_ptr<Expression>;

struct Constant final : Expression {
  Constant(Position position, Value v)
      : Expression(Kind::constant, position), value(std::move(v)) {}
  Value value;
};

struct Name final : Expression {
  Name(Position position, std::string n) : Expression(Kind::name, position), name(std::move(n)) {}
  std::string name;
  Slot slot;
  Value undefined;  // what it evaluates to while nothing is assigned
};

struct ListLiteral final : Expression {
  ListLiteral(Position position, bool is_tuple)
      : Expression(Kind::list, position), tuple(is_tuple) {}
  bool tuple;
  bool parenthesized = false;
  std::vector<ExpressionPtr> items;
};

struct DictLiteral final : Expression {
  explicit DictLiteral(Position position) : Expression(Kind::dict, position) {}
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};

struct Unary final : Expression {
  enum class Op : uint8_t { negate, posit, invert };
  Unary(Position position, Op o, ExpressionPtr e)
      : Expression(Kind::unary, position), op(o), operand(std::move(e)) {}
  Op op;
  ExpressionPtr operand;
};

struct TwoOperands : Expression {
  TwoOperands(Kind kind_in, Position position, ExpressionPtr a, ExpressionPtr b)
      : Expression(kind_in, position), left(std::move(a)), right(std::move(b)) {}
  ExpressionPtr left, right;
};

struct Binary final : TwoOperands {
  Binary(Position position, Operator o, ExpressionPtr a, ExpressionPtr b)
      : TwoOperands(Kind::binary, position, std::move(a), std::move(b)), op(o) {}
  Operator op;
};

struct Logic final : TwoOperands {  // `and`, `or`
  Logic(Position position, bool is_and, ExpressionPtr a, ExpressionPtr b)
      : TwoOperands(Kind::logic, position, std::move(a), std::move(b)), conjunction(is_and) {}
  bool conjunction;
};

struct Concat final : Expression {
  explicit Concat(Position position) : Expression(Kind::concat, position) {}
  std::vector<ExpressionPtr> parts;
};

struct ComparisonChain final : Expression {
  enum class Op : uint8_t { eq, ne, lt, le, gt, ge, in, not_in };  // the first as in Comparison
  ComparisonChain(Position position, ExpressionPtr e)
      : Expression(Kind::comparison, position), first(std::move(e)) {}
  ExpressionPtr first;
  std::vector<std::pair<Op, ExpressionPtr>> rest;
};

struct Conditional final : Expression {
  explicit Conditional(Position position) : Expression(Kind::conditional, position) {}
  ExpressionPtr condition, when_true, when_false;  // when_false: may be null
};

struct Attribute final : Expression {
  Attribute(Position position, ExpressionPtr e, std::string n)
      : Expression(Kind::attribute, position), object(std::move(e)), name(std::move(n)) {}
  ExpressionPtr object;
  std::string name;
  bool assignable = false;  // `ns.name` where an assignment's target is read
};

struct Item final : Expression {
  Item(Position position, ExpressionPtr e, ExpressionPtr k)
      : Expression(Kind::item, position), object(std::move(e)), key(std::move(k)) {}
  ExpressionPtr object, key;
};

struct Slice final : Expression {
  explicit Slice(Position position) : Expression(Kind::slice, position) {}
  ExpressionPtr object, start, stop, step;  // but for object: may be null
};

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;  // *args, **kwargs; may be null
};

struct Call final : Expression {
  Call(Position position, ExpressionPtr e)
      : Expression(Kind::call, position), callee(std::move(e)) {}
  ExpressionPtr callee;
  CallArguments arguments;
};

struct FilterCall final : Expression {
  FilterCall(Position position, ExpressionPtr e, std::string n)
      : Expression(Kind::filter, position), input(std::move(e)), name(std::move(n)) {}
  ExpressionPtr input;  // null: the text of the block that is filtered
  std::string name;
  CallArguments arguments;
  Filter function = nullptr;  // null: fails when it is evaluated
};

struct TestCall final : Expression {
  TestCall(Position position, ExpressionPtr e, std::string n)
      : Expression(Kind::test, position), input(std::move(e)), name(std::move(n)) {}
  ExpressionPtr input;
  std::string name;
  CallArguments arguments;
  Test function = nullptr;  // null: fails when it is evaluated
};

// What an assignment assigns to.
struct Target {
  enum class Kind : uint8_t { name, attribute, tuple };
  Kind kind = Kind::name;
  Position at;
  std::string name;
  std::string attribute;  // kind attribute: `name.attribute`, of a namespace
  Slot slot;              // of `name`
  std::vector<Target> items;
};

// --- statements

struct Statement {
  enum class Kind : uint8_t {
    output,
    condition,
    loop,
    set,
    set_block,
    macro,
    call_block,
    filter_block,
    with,
    break_loop,
    continue_loop,
  };
  Statement(Kind kind_in, Position at_in) : kind(kind_in), at(at_in) {}
  virtual ~Statement() = default;

  Kind kind;
  Position at;
};
using StatementPtr = std::unique_ptr<Statement>;
using Block = std::vector<StatementPtr>;

struct Output final : Statement {
  explicit Output(Position position) : Statement(Kind::output, position) {}
  struct Part {
    std::string text;
    ExpressionPtr expression;  // null: `text` is printed
  };
  std::vector<Part> parts;
};

struct Condition final : Statement {
  explicit Condition(Position position) : Statement(Kind::condition, position) {}
  struct Branch {
    ExpressionPtr test;
    Block body;
  };
  std::vector<Branch> branches;  // if, elif, ...
  Block otherwise;
};

struct Loop final : Statement {
  explicit Loop(Position position) : Statement(Kind::loop, position) {}
  Target target;
  ExpressionPtr sequence;
  ExpressionPtr test;  // may be null
  Block body, otherwise;
  bool recursive = false;

  Target test_target;  // the same target, in the scope of the test
  bool uses_loop = false;
  uint32_t loop_index = 0;  // the slot of `loop`, if used
  Scope body_scope, test_scope, otherwise_scope;
  uint32_t n_slots = 0;  // recursive loops are functions of their own
};

struct Set final : Statement {
  explicit Set(Position position) : Statement(Kind::set, position) {}
  Target target;
  ExpressionPtr value;
};

struct SetBlock final : Statement {
  explicit SetBlock(Position position) : Statement(Kind::set_block, position) {}
  Target target;
  ExpressionPtr filter;  // may be null; else FilterCalls around the block's text
  Block body;
  Scope scope;
};

// What `{% macro %}` and `{% call %}` define.
struct MacroCode {
  struct Parameter {
    std::string name;
    ExpressionPtr fallback;  // may be null
    uint32_t index = 0;
    Value undefined;  // what it is when neither given nor defaulted
  };
  std::string name;  // empty: the body of a call block
  std::vector<Parameter> parameters;
  Block body;
  Scope scope;
  uint32_t n_slots = 0;
  // The names that the body may use without declaring them, and their slots.
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false, declares_caller = false;
  uint32_t caller_index = 0, kwargs_index = 0, varargs_index = 0;
};

struct MacroDefinition final : Statement {
  explicit MacroDefinition(Position position) : Statement(Kind::macro, position) {}
  MacroCode code;
  Slot slot;
};

struct CallBlock final : Statement {
  explicit CallBlock(Position position) : Statement(Kind::call_block, position) {}
  std::unique_ptr<Call> call;  // null: `{% generation %}`, which prints its body
  MacroCode code;
};

struct FilterBlock final : Statement {
  explicit FilterBlock(Position position) : Statement(Kind::filter_block, position) {}
  ExpressionPtr filter;
  Block body;
  Scope scope;
};

struct With final : Statement {
  explicit With(Position position) : Statement(Kind::with, position) {}
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Block body;
  Scope scope;
};

struct LoopControl final : Statement {
  LoopControl(Position position, bool is_break)
      : Statement(is_break ? Kind::break_loop : Kind::continue_loop, position) {}
};

struct Template {
  Block body;
  Scope scope;
  uint32_t n_slots = 0;
};

}  // namespace hwtv::text::jinja
