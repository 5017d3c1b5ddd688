// Runs a parsed template once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

// The variables of one call of a function of the template.
struct Activation final : Object {
  Activation(Budget* budget, uint32_t n_slots, std::shared_ptr<Activation> outer_in)
      : slots(n_slots), outer(std::move(outer_in)), charge(budget, n_slots * sizeof(Value)) {}
  std::string_view type_name() const override { return "activation"; }
  void forget() override {
    slots.clear();
    outer.reset();
  }

  std::vector<Value> slots;
  std::shared_ptr<Activation> outer;
  Charge charge;
};

class Interpreter {
 public:
  Interpreter(const Template& parsed, const Variables& variables, Runtime& runtime)
      : template_(parsed), variables_(variables), runtime_(runtime) {}

  std::string render();

  // For the objects that call back: a macro, `loop(...)`, a filtered loop's next item.
  Value run_macro(const MacroCode& code, const std::shared_ptr<Activation>& outer,
                  const Arguments& arguments);
  Value run_recursive_loop(const Loop& node, const std::shared_ptr<Activation>& outer,
                           const Value& sequence, int64_t depth);

 private:
  enum class Flow : uint8_t { go_on, break_loop, continue_loop };
  struct Sink {
    std::string text;
    Charge charge;
  };

  // --- statements
  Flow run(const Block& block);
  Flow run(const Statement& statement);
  void run_output(const Output& node);
  Flow run_condition(const Condition& node);
  Flow run_loop(const Loop& node);
  Flow iterate_loop(const Loop& node, const Value& sequence, int64_t depth,
                    const std::shared_ptr<Activation>& outer);
  std::shared_ptr<Iterator> filtered(const Loop& node, std::shared_ptr<Iterator> source);
  void run_set(const Set& node);
  Flow run_set_block(const SetBlock& node);
  Flow run_filter_block(const FilterBlock& node);
  Flow run_with(const With& node);
  void run_call_block(const CallBlock& node);

  // --- expressions
  Value evaluate(const Expression& expression);
  Value evaluate_name(const Name& node);
  Value evaluate_list(const ListLiteral& node);
  Value evaluate_dict(const DictLiteral& node);
  Value evaluate_unary(const Unary& node);
  Value evaluate_concat(const Concat& node);
  Value evaluate_comparison(const ComparisonChain& node);
  Value evaluate_conditional(const Conditional& node);
  Value evaluate_slice(const Slice& node);
  Value evaluate_call(const Call& node, const Value* caller);
  Value evaluate_filter(const FilterCall& node);
  Value evaluate_test(const TestCall& node);
  Arguments evaluate_arguments(const CallArguments& arguments);

  // --- variables and output
  void enter(const Scope& scope);
  Value look_up(const std::string& name) const;
  Value& slot(Slot slot);
  void assign(const Target& target, const Value& value);
  void check_namespaces(const Target& target);
  void write(std::string_view text);
  Value make_macro(const MacroCode& code);

  const Template& template_;
  const Variables& variables_;
  Runtime& runtime_;
  std::shared_ptr<Activation> activation_;
  Sink* sink_ = nullptr;
  const Value* block_text_ = nullptr;  // what the filters of a block start from
};

}  // namespace hwtv::text::jinja
