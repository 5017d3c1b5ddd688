#include "text/jinja_interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "text/jinja_loop.h"

namespace hwtv::text::jinja {

namespace {
// Sets a variable for as long as this lives.
template <typename T>
class Replaced {
 public:
  Replaced(T& variable, T value)
      : variable_(variable), old_(std::exchange(variable, std::move(value))) {}
  ~Replaced() { variable_ = std::move(old_); }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  T& variable_;
  T old_;
};

// What `{% macro %}` defines, and `caller` in the macro that a call block calls.
class Macro final : public Object {
 public:
  Macro(Interpreter& interpreter, const MacroCode& code, std::shared_ptr<Activation> outer)
      : interpreter_(interpreter), code_(code), outer_(std::move(outer)) {}

  std::string_view type_name() const override { return "Macro"; }
  std::string_view qualified_type_name() const override { return "jinja2.runtime.Macro"; }
  std::string repr(Runtime&) override {
    return code_.name.empty() ? "<Macro anonymous>" : fmt::format("<Macro '{}'>", code_.name);
  }
  bool callable() const override { return true; }
  Value call(Runtime&, const Arguments& arguments) override {
    return interpreter_.run_macro(code_, outer_, arguments);
  }
  Value attribute(Runtime& runtime, std::string_view name) override {
    if (name == "name") return code_.name.empty() ? Value::none() : runtime.string(code_.name);
    if (name == "catch_kwargs") return Value::boolean(code_.uses_kwargs);
    if (name == "catch_varargs") return Value::boolean(code_.uses_varargs);
    if (name == "caller") return Value::boolean(code_.uses_caller);
    if (name != "arguments") return {};
    std::vector<Value> names;
    for (const auto& parameter : code_.parameters) names.push_back(runtime.string(parameter.name));
    return runtime.tuple(std::move(names));
  }
  void forget() override { outer_.reset(); }

 private:
  Interpreter& interpreter_;
  const MacroCode& code_;
  std::shared_ptr<Activation> outer_;
};
}  // namespace

std::string Interpreter::render() {
  Sink sink{"", Charge(&runtime_.budget, 0)};
  sink_ = &sink;
  activation_ = std::make_shared<Activation>(&runtime_.budget, template_.n_slots, nullptr);
  runtime_.retain(activation_);
  enter(template_.scope);
  run(template_.body);
  return std::move(sink.text);
}

// --- variables and output

void Interpreter::write(std::string_view text) {
  if (text.size() > runtime_.budget.output_bytes_max() - sink_->text.size()) {
    raise_unsupported(
        fmt::format("more than {} bytes of output", runtime_.budget.output_bytes_max()));
  }
  sink_->charge.grow(text.size());
  runtime_.budget.spend_on_bytes(text.size());
  sink_->text += text;
}

Value Interpreter::look_up(const std::string& name) const {
  if (const auto at = variables_.find(name); at != variables_.end()) return at->second;
  const Variables& globals = global_variables();
  if (const auto at = globals.find(name); at != globals.end()) return at->second;
  return {};
}

Value& Interpreter::slot(Slot slot) {
  Activation* activation = activation_.get();
  for (uint32_t i = 0; i < slot.hops; ++i) activation = activation->outer.get();
  return activation->slots[slot.index];
}

void Interpreter::enter(const Scope& scope) {
  for (const Load& load : scope.loads) {
    Value value;
    if (load.from == Load::From::context) value = look_up(load.name);
    if (load.from == Load::From::outer) value = slot(load.outer);
    activation_->slots[load.index] = std::move(value);
  }
}

void Interpreter::check_namespaces(const Target& target) {
  if (target.kind == Target::Kind::attribute) {
    const Value& value = slot(target.slot);
    if (!value.is(Kind::object) || dynamic_cast<Namespace*>(&value.object()) == nullptr) {
      runtime_.at = target.at;
      raise("cannot assign attribute on non-namespace object");
    }
  }
  for (const Target& item : target.items) check_namespaces(item);
}

void Interpreter::assign(const Target& target, const Value& value) {
  switch (target.kind) {
    case Target::Kind::name: slot(target.slot) = value; return;
    case Target::Kind::attribute:
      check_namespaces(target);
      static_cast<Namespace&>(slot(target.slot).object()).set(target.attribute, value);
      return;
    case Target::Kind::tuple: break;
  }
  runtime_.at = target.at;
  if (!iterable(value)) {
    raise(fmt::format("cannot unpack non-iterable {} object", type_name(value)));
  }
  const std::vector<Value> parts = to_vector(value, runtime_);
  if (parts.size() < target.items.size()) {
    raise(fmt::format("not enough values to unpack (expected {}, got {})", target.items.size(),
                      parts.size()));
  }
  if (parts.size() > target.items.size()) {
    raise(fmt::format("too many values to unpack (expected {})", target.items.size()));
  }
  for (size_t i = 0; i < parts.size(); ++i) assign(target.items[i], parts[i]);
}

Value Interpreter::make_macro(const MacroCode& code) {
  auto macro = std::make_shared<Macro>(*this, code, activation_);
  runtime_.retain(macro);
  return Value::object(std::move(macro));
}

// --- statements

Interpreter::Flow Interpreter::run(const Block& block) {
  const DepthGuard depth(runtime_.budget);
  for (const auto& statement : block) {
    const Flow flow = run(*statement);
    if (flow != Flow::go_on) return flow;
  }
  return Flow::go_on;
}

Interpreter::Flow Interpreter::run(const Statement& statement) {
  runtime_.budget.spend(1);
  runtime_.at = statement.at;
  using StatementKind = Statement::Kind;
  switch (statement.kind) {
    case StatementKind::output: run_output(static_cast<const Output&>(statement)); break;
    case StatementKind::condition: return run_condition(static_cast<const Condition&>(statement));
    case StatementKind::loop: return run_loop(static_cast<const Loop&>(statement));
    case StatementKind::set: run_set(static_cast<const Set&>(statement)); break;
    case StatementKind::set_block: return run_set_block(static_cast<const SetBlock&>(statement));
    case StatementKind::macro: {
      const auto& node = static_cast<const MacroDefinition&>(statement);
      slot(node.slot) = make_macro(node.code);
      break;
    }
    case StatementKind::call_block: run_call_block(static_cast<const CallBlock&>(statement)); break;
    case StatementKind::filter_block:
      return run_filter_block(static_cast<const FilterBlock&>(statement));
    case StatementKind::with: return run_with(static_cast<const With&>(statement));
    case StatementKind::break_loop: return Flow::break_loop;
    case StatementKind::continue_loop: return Flow::continue_loop;
  }
  return Flow::go_on;
}

void Interpreter::run_output(const Output& node) {
  for (const Output::Part& part : node.parts) {
    if (part.expression == nullptr) {
      write(part.text);
      continue;
    }
    const Value value = evaluate(*part.expression);
    if (value.is(Kind::string)) {
      write(value.text());
    } else {
      write(to_str(value, runtime_));
    }
  }
}

Interpreter::Flow Interpreter::run_condition(const Condition& node) {
  for (const Condition::Branch& branch : node.branches) {
    if (truthy(evaluate(*branch.test), runtime_)) return run(branch.body);
  }
  return run(node.otherwise);
}

Interpreter::Flow Interpreter::run_loop(const Loop& node) {
  const Value sequence = evaluate(*node.sequence);
  runtime_.at = node.at;
  if (!node.recursive) return iterate_loop(node, sequence, 0, activation_);
  write(run_recursive_loop(node, activation_, sequence, 0).text());
  return Flow::go_on;
}

std::shared_ptr<Iterator> Interpreter::filtered(const Loop& node,
                                                std::shared_ptr<Iterator> source) {
  enter(node.test_scope);
  auto home = activation_;
  return std::make_shared<Generator>([this, &node, home = std::move(home),
                                      source = std::move(source)](Runtime& runtime, Value& out) {
    const Replaced at_home(activation_, home);
    const DepthGuard depth(runtime.budget);
    while (source->next(runtime, out)) {
      runtime.budget.spend(1);
      assign(node.test_target, out);
      if (!truthy(evaluate(*node.test), runtime)) continue;
      // jinja2 puts the item together again from the variables it was unpacked into.
      if (node.target.kind == Target::Kind::tuple) out = runtime.tuple(to_vector(out, runtime));
      return true;
    }
    return false;
  });
}

Interpreter::Flow Interpreter::iterate_loop(const Loop& node, const Value& sequence, int64_t depth,
                                            const std::shared_ptr<Activation>& outer) {
  std::shared_ptr<Iterator> source = iterate(sequence, runtime_);
  Value countable = sequence;
  if (node.test != nullptr) {
    source = filtered(node, std::move(source));
    countable = Value();
  }
  std::shared_ptr<LoopContext> loop;
  if (node.uses_loop) {
    loop = std::make_shared<LoopContext>(*this, node, outer, countable, source, depth);
    runtime_.retain(loop);
  }
  const auto advance = [&](Value& item) {
    return loop != nullptr ? loop->next(runtime_, item) : source->next(runtime_, item);
  };
  bool completed = false;  // whether a run of the body came to its end
  for (Value item; advance(item);) {
    runtime_.budget.spend(1);
    assign(node.target, item);
    if (loop != nullptr) activation_->slots[node.loop_index] = Value::object(loop);
    enter(node.body_scope);
    const Flow flow = run(node.body);
    if (flow == Flow::break_loop) break;
    // jinja2 notes at the body's end that there was an item: after `continue` it has not.
    if (flow == Flow::go_on) completed = true;
  }
  if (completed || node.otherwise.empty()) return Flow::go_on;
  enter(node.otherwise_scope);
  return run(node.otherwise);
}

Value Interpreter::run_recursive_loop(const Loop& node, const std::shared_ptr<Activation>& outer,
                                      const Value& sequence, int64_t depth) {
  const DepthGuard guard(runtime_.budget);
  Sink sink{"", Charge(&runtime_.budget, 0)};
  const Replaced to_sink(sink_, &sink);
  auto own = std::make_shared<Activation>(&runtime_.budget, node.n_slots, outer);
  {
    const Replaced in_loop(activation_, own);
    iterate_loop(node, sequence, depth, outer);
  }
  if (own.use_count() > 1) runtime_.retain(own);
  return runtime_.string(std::move(sink.text));
}

void Interpreter::run_set(const Set& node) {
  check_namespaces(node.target);
  assign(node.target, evaluate(*node.value));
}

Interpreter::Flow Interpreter::run_set_block(const SetBlock& node) {
  check_namespaces(node.target);
  enter(node.scope);
  Sink sink{"", Charge(&runtime_.budget, 0)};
  {
    const Replaced to_sink(sink_, &sink);
    const Flow flow = run(node.body);
    if (flow != Flow::go_on) return flow;
  }
  Value value = runtime_.string(std::move(sink.text));
  if (node.filter != nullptr) {
    const Value text = std::move(value);
    const Replaced filtering(block_text_, &text);
    value = evaluate(*node.filter);
  }
  assign(node.target, value);
  return Flow::go_on;
}

Interpreter::Flow Interpreter::run_filter_block(const FilterBlock& node) {
  enter(node.scope);
  Sink sink{"", Charge(&runtime_.budget, 0)};
  {
    const Replaced to_sink(sink_, &sink);
    const Flow flow = run(node.body);
    if (flow != Flow::go_on) return flow;
  }
  const Value text = runtime_.string(std::move(sink.text));
  const Replaced filtering(block_text_, &text);
  const Value value = evaluate(*node.filter);
  if (!value.is(Kind::string)) {
    raise(fmt::format("a filter block's filter must give a str, not {}", type_name(value)));
  }
  write(value.text());
  return Flow::go_on;
}

Interpreter::Flow Interpreter::run_with(const With& node) {
  enter(node.scope);
  for (const auto& [target, value] : node.assignments) assign(target, evaluate(*value));
  return run(node.body);
}

void Interpreter::run_call_block(const CallBlock& node) {
  const Value caller = make_macro(node.code);
  const Value value =
      node.call != nullptr ? evaluate_call(*node.call, &caller) : call(caller, {}, runtime_);
  if (!value.is(Kind::string)) {
    raise(fmt::format("a call block's call must give a str, not {}", type_name(value)));
  }
  write(value.text());
}

Value Interpreter::run_macro(const MacroCode& code, const std::shared_ptr<Activation>& outer,
                             const Arguments& arguments) {
  const DepthGuard guard(runtime_.budget);
  auto own = std::make_shared<Activation>(&runtime_.budget, code.n_slots, outer);
  std::vector<std::pair<std::string, Value>> named = arguments.named;
  const auto take_named = [&](std::string_view name) {
    const auto at = std::find_if(named.begin(), named.end(),
                                 [&](const auto& argument) { return argument.first == name; });
    if (at == named.end()) return Value();
    Value value = std::move(at->second);
    named.erase(at);
    return value;
  };
  const size_t n_parameters = code.parameters.size();
  const size_t n_given = std::min(arguments.positional.size(), n_parameters);
  for (size_t i = 0; i < n_parameters; ++i) {
    own->slots[code.parameters[i].index] =
        i < n_given ? arguments.positional[i] : take_named(code.parameters[i].name);
  }
  if (code.uses_caller && !code.declares_caller) {
    Value caller = take_named("caller");
    const bool none = caller.is(Kind::missing) || caller.is(Kind::none);
    own->slots[code.caller_index] =
        none ? Value::undefined("No caller defined") : std::move(caller);
  }
  if (code.uses_kwargs) {
    auto dict = runtime_.dict();
    for (auto& [name, value] : named) dict->set(Value::constant(name), std::move(value));
    own->slots[code.kwargs_index] = Value::dict(std::move(dict));
  } else if (!named.empty()) {
    raise(fmt::format("macro '{}' takes no keyword argument '{}'", code.name, named[0].first));
  }
  if (code.uses_varargs) {
    const auto rest = arguments.positional.begin() + static_cast<int64_t>(n_given);
    own->slots[code.varargs_index] = runtime_.tuple({rest, arguments.positional.end()});
  } else if (arguments.positional.size() > n_parameters) {
    raise(fmt::format("macro '{}' takes not more than {} argument(s)", code.name, n_parameters));
  }
  Sink sink{"", Charge(&runtime_.budget, 0)};
  {
    const Replaced to_sink(sink_, &sink);
    const Replaced in_macro(activation_, own);
    enter(code.scope);
    for (const MacroCode::Parameter& parameter : code.parameters) {
      if (!own->slots[parameter.index].is(Kind::missing)) continue;
      Value value =
          parameter.fallback != nullptr ? evaluate(*parameter.fallback) : parameter.undefined;
      own->slots[parameter.index] = std::move(value);
    }
    run(code.body);
  }
  if (own.use_count() > 1) runtime_.retain(own);
  return runtime_.string(std::move(sink.text));
}

// --- expressions

Value Interpreter::evaluate(const Expression& expression) {
  runtime_.budget.spend(1);
  const DepthGuard depth(runtime_.budget);
  using ExpressionKind = Expression::Kind;
  switch (expression.kind) {
    case ExpressionKind::constant: return static_cast<const Constant&>(expression).value;
    case ExpressionKind::name: return evaluate_name(static_cast<const Name&>(expression));
    case ExpressionKind::list: return evaluate_list(static_cast<const ListLiteral&>(expression));
    case ExpressionKind::dict: return evaluate_dict(static_cast<const DictLiteral&>(expression));
    case ExpressionKind::unary: return evaluate_unary(static_cast<const Unary&>(expression));
    case ExpressionKind::binary: {
      const auto& node = static_cast<const Binary&>(expression);
      const Value left = evaluate(*node.left), right = evaluate(*node.right);
      runtime_.at = node.at;
      return binary(node.op, left, right, runtime_);
    }
    case ExpressionKind::logic: {
      const auto& node = static_cast<const Logic&>(expression);
      Value left = evaluate(*node.left);
      return truthy(left, runtime_) == node.conjunction ? evaluate(*node.right) : left;
    }
    case ExpressionKind::concat: return evaluate_concat(static_cast<const Concat&>(expression));
    case ExpressionKind::comparison:
      return evaluate_comparison(static_cast<const ComparisonChain&>(expression));
    case ExpressionKind::conditional:
      return evaluate_conditional(static_cast<const Conditional&>(expression));
    case ExpressionKind::attribute: {
      const auto& node = static_cast<const Attribute&>(expression);
      const Value object = evaluate(*node.object);
      runtime_.at = node.at;
      return attribute(object, node.name, runtime_);
    }
    case ExpressionKind::item: {
      const auto& node = static_cast<const Item&>(expression);
      const Value object = evaluate(*node.object), key = evaluate(*node.key);
      runtime_.at = node.at;
      return item(object, key, runtime_);
    }
    case ExpressionKind::slice: return evaluate_slice(static_cast<const Slice&>(expression));
    case ExpressionKind::call: return evaluate_call(static_cast<const Call&>(expression), nullptr);
    case ExpressionKind::filter: return evaluate_filter(static_cast<const FilterCall&>(expression));
    case ExpressionKind::test: return evaluate_test(static_cast<const TestCall&>(expression));
  }
  return {};
}

Value Interpreter::evaluate_name(const Name& node) {
  const Value& value = slot(node.slot);
  return value.is(Kind::missing) ? node.undefined : value;
}

Value Interpreter::evaluate_list(const ListLiteral& node) {
  std::vector<Value> values;
  values.reserve(node.items.size());
  for (const auto& item : node.items) values.push_back(evaluate(*item));
  return node.tuple ? runtime_.tuple(std::move(values)) : runtime_.list(std::move(values));
}

Value Interpreter::evaluate_dict(const DictLiteral& node) {
  auto dict = runtime_.dict();
  for (const auto& [key_node, value_node] : node.entries) {
    const Value key = evaluate(*key_node);
    Value value = evaluate(*value_node);
    runtime_.at = node.at;
    dict->set(key, std::move(value));
  }
  return Value::dict(std::move(dict));
}

Value Interpreter::evaluate_unary(const Unary& node) {
  const Value value = evaluate(*node.operand);
  runtime_.at = node.at;
  switch (node.op) {
    case Unary::Op::negate: return negate(value);
    case Unary::Op::posit: return posit(value);
    case Unary::Op::invert: return Value::boolean(!truthy(value, runtime_));
  }
  return {};
}

Value Interpreter::evaluate_concat(const Concat& node) {
  std::string out;
  for (const auto& part : node.parts) {
    append_str(evaluate(*part), runtime_, out);
    runtime_.at = node.at;
    runtime_.budget.require_room(out.size());
  }
  return runtime_.string(std::move(out));
}

Value Interpreter::evaluate_comparison(const ComparisonChain& node) {
  Value left = evaluate(*node.first);
  for (const auto& [op, operand] : node.rest) {
    Value right = evaluate(*operand);
    runtime_.at = node.at;
    const bool holds = op == ComparisonChain::Op::in ? contains(right, left, runtime_)
                       : op == ComparisonChain::Op::not_in
                           ? !contains(right, left, runtime_)
                           : compare(static_cast<Comparison>(op), left, right, runtime_);
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_conditional(const Conditional& node) {
  if (truthy(evaluate(*node.condition), runtime_)) return evaluate(*node.when_true);
  if (node.when_false != nullptr) return evaluate(*node.when_false);
  return Value::undefined(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was "
                  "defined.",
                  node.at.line));
}

Value Interpreter::evaluate_slice(const Slice& node) {
  const auto bound = [&](const ExpressionPtr& part) {
    return part != nullptr ? evaluate(*part) : Value();
  };
  const Value object = evaluate(*node.object);
  const Value start = bound(node.start), stop = bound(node.stop), step = bound(node.step);
  runtime_.at = node.at;
  return slice(object, start, stop, step, runtime_);
}

Arguments Interpreter::evaluate_arguments(const CallArguments& arguments) {
  Arguments out;
  out.positional.reserve(arguments.positional.size());
  for (const auto& argument : arguments.positional) out.positional.push_back(evaluate(*argument));
  for (const auto& [name, argument] : arguments.named) {
    out.named.emplace_back(name, evaluate(*argument));
  }
  if (arguments.more_positional != nullptr) {
    const std::vector<Value> more = to_vector(evaluate(*arguments.more_positional), runtime_);
    out.positional.insert(out.positional.end(), more.begin(), more.end());
  }
  if (arguments.more_named != nullptr) {
    const Value more = evaluate(*arguments.more_named);
    if (!more.is(Kind::dict)) {
      raise(fmt::format("argument after ** must be a mapping, not {}", type_name(more)));
    }
    for (const auto& [key, value] : more.dict().entries()) {
      const std::string_view name = to_text("a keyword", key);
      const auto same = [&](const auto& other) { return other.first == name; };
      if (std::any_of(out.named.begin(), out.named.end(), same)) {
        raise(fmt::format("got multiple values for keyword argument '{}'", name));
      }
      out.named.emplace_back(name, value);
    }
  }
  return out;
}

Value Interpreter::evaluate_call(const Call& node, const Value* caller) {
  Value callee;
  if (node.callee->kind == Expression::Kind::attribute) {
    // A method is called at once, without making an object of it first.
    const auto& callee_node = static_cast<const Attribute&>(*node.callee);
    const Value object = evaluate(*callee_node.object);
    Method method = nullptr;
    if (object.is(Kind::string)) method = find_string_method(callee_node.name);
    const bool collection = object.is(Kind::dict) || object.is_sequence();
    if (collection) method = find_collection_method(object.kind(), callee_node.name);
    if (method != nullptr) {
      Arguments arguments = evaluate_arguments(node.arguments);
      if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
      runtime_.at = node.at;
      return method(runtime_, object, arguments);
    }
    runtime_.at = callee_node.at;
    callee = attribute(object, callee_node.name, runtime_);
  } else {
    callee = evaluate(*node.callee);
  }
  Arguments arguments = evaluate_arguments(node.arguments);
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  runtime_.at = node.at;
  return call(callee, arguments, runtime_);
}

Value Interpreter::evaluate_filter(const FilterCall& node) {
  CHECK(node.input != nullptr || block_text_ != nullptr);
  const Value input = node.input != nullptr ? evaluate(*node.input) : *block_text_;
  const Arguments arguments = evaluate_arguments(node.arguments);
  runtime_.at = node.at;
  if (node.function == nullptr) raise(fmt::format("No filter named '{}' found.", node.name));
  return node.function(runtime_, input, arguments);
}

Value Interpreter::evaluate_test(const TestCall& node) {
  const Value input = evaluate(*node.input);
  const Arguments arguments = evaluate_arguments(node.arguments);
  runtime_.at = node.at;
  if (node.function == nullptr) raise(fmt::format("No test named '{}' found.", node.name));
  return Value::boolean(node.function(runtime_, input, arguments));
}

}  // namespace hwtv::text::jinja
