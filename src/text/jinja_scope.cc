#include "text/jinja_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "text/jinja_lexer.h"

namespace hwtv::text::jinja {

namespace {
[[noreturn]] void fail_at(Position at, std::string message) {
  throw SyntaxFailure{{ErrorCode::invalid_request, std::move(message)}, at};
}

// The slots of a template, macro, call block or recursive loop while it runs.
struct FunctionSlots {
  FunctionSlots* outer;
  size_t* n_copied;  // names copied for branches, in the whole template
  uint32_t n_slots = 0;
};

struct Variable {
  FunctionSlots* function;
  uint32_t index;
};

// The names of one scope.  Inside, the branches of an `if` are copies that are merged afterwards.
class Symbols {
 public:
  Symbols(FunctionSlots* function, const Symbols* parent)
      : function_(function), parent_(parent), slots_(std::make_shared<Slots>()) {}

  FunctionSlots* function() const { return function_; }

  std::optional<Variable> find(const std::string& name) const {
    if (refs_.contains(name)) return Variable{function_, slots_->at(name)};
    return parent_ != nullptr ? parent_->find(name) : std::nullopt;
  }

  // The name is read.
  void load(const std::string& name) {
    if (!find(name)) define(name, {Action::resolve, name, {}});
  }

  // The name is assigned to.
  void store(const std::string& name) {
    stores_.insert(name);
    if (!refs_.contains(name)) define(name, outer_or(name, Action::undefined));
  }

  // The name is a parameter: whoever enters the scope gives it its value.
  uint32_t declare(const std::string& name) {
    stores_.insert(name);
    return define(name, {Action::parameter, name, {}});
  }

  // Throws when copying this once more for a branch makes too many copies: the work would be
  // quadratic in the size of a hostile template.
  void count_copy(Position at) const {
    constexpr size_t kCopiedMax = 4'000'000;
    *function_->n_copied += refs_.size();
    if (*function_->n_copied > kCopiedMax) {
      throw SyntaxFailure{{ErrorCode::unsupported, "too many names in too many branches"}, at};
    }
  }

  void merge(std::initializer_list<const Symbols*> branches) {
    std::set<std::string> stored;
    for (const Symbols* branch : branches) {
      for (const auto& name : branch->stores_) {
        if (!stores_.contains(name)) stored.insert(name);
      }
    }
    for (const Symbols* branch : branches) {
      refs_.insert(branch->refs_.begin(), branch->refs_.end());
      for (const auto& [index, load] : branch->loads_) loads_[index] = load;
      stores_.insert(branch->stores_.begin(), branch->stores_.end());
    }
    // Where no branch assigns it, the name still means what it meant outside.
    for (const auto& name : stored) loads_[slots_->at(name)] = outer_or(name, Action::resolve);
  }

  Slot slot_of(const Variable& variable) const {
    uint32_t hops = 0;
    for (const FunctionSlots* at = function_; at != variable.function; at = at->outer) ++hops;
    return {hops, variable.index};
  }

  Scope scope() const {
    Scope scope;
    for (const auto& [index, load] : loads_) {
      switch (load.action) {
        case Action::parameter: break;
        case Action::resolve:
          scope.loads.push_back({Load::From::context, index, load.name, {}});
          break;
        case Action::alias:
          scope.loads.push_back({Load::From::outer, index, load.name, slot_of(load.outer)});
          break;
        case Action::undefined: scope.loads.push_back({Load::From::nothing, index, "", {}}); break;
      }
    }
    return scope;
  }

 private:
  enum class Action { parameter, resolve, alias, undefined };
  struct Loading {
    Action action;
    std::string name;
    Variable outer;  // of an alias
  };
  using Slots = std::map<std::string, uint32_t>;

  Loading outer_or(const std::string& name, Action otherwise) const {
    if (parent_ != nullptr) {
      if (const auto outer = parent_->find(name)) return {Action::alias, name, *outer};
    }
    return {otherwise, name, {}};
  }

  uint32_t define(const std::string& name, Loading loading) {
    const auto [at, added] = slots_->try_emplace(name, function_->n_slots);
    if (added) ++function_->n_slots;
    refs_.insert(name);
    loads_[at->second] = std::move(loading);
    return at->second;
  }

  FunctionSlots* function_;
  const Symbols* parent_;
  std::shared_ptr<Slots> slots_;  // shared by the copies for branches
  std::set<std::string> refs_, stores_;
  std::map<uint32_t, Loading> loads_;
};

// Calls visit(child) for each expression directly below.
template <typename Visit>
void for_each_argument(CallArguments& arguments, Visit&& visit) {
  for (auto& argument : arguments.positional) visit(*argument);
  for (auto& [name, argument] : arguments.named) visit(*argument);
  if (arguments.more_positional != nullptr) visit(*arguments.more_positional);
  if (arguments.more_named != nullptr) visit(*arguments.more_named);
}

template <typename Visit>
void for_each_child(Expression& expression, Visit&& visit) {
  const auto visit_if_any = [&](ExpressionPtr& child) {
    if (child != nullptr) visit(*child);
  };
  using Kind = Expression::Kind;
  switch (expression.kind) {
    case Kind::constant:
    case Kind::name: return;
    case Kind::list:
      for (auto& item : static_cast<ListLiteral&>(expression).items) visit(*item);
      return;
    case Kind::dict:
      for (auto& [key, value] : static_cast<DictLiteral&>(expression).entries) {
        visit(*key);
        visit(*value);
      }
      return;
    case Kind::unary: return visit(*static_cast<Unary&>(expression).operand);
    case Kind::binary:
    case Kind::logic: {
      auto& node = static_cast<TwoOperands&>(expression);
      visit(*node.left);
      return visit(*node.right);
    }
    case Kind::concat:
      for (auto& part : static_cast<Concat&>(expression).parts) visit(*part);
      return;
    case Kind::comparison: {
      auto& node = static_cast<ComparisonChain&>(expression);
      visit(*node.first);
      for (auto& [op, operand] : node.rest) visit(*operand);
      return;
    }
    case Kind::conditional: {
      auto& node = static_cast<Conditional&>(expression);
      visit(*node.condition);
      visit(*node.when_true);
      return visit_if_any(node.when_false);
    }
    case Kind::attribute: return visit(*static_cast<Attribute&>(expression).object);
    case Kind::item: {
      auto& node = static_cast<Item&>(expression);
      visit(*node.object);
      return visit(*node.key);
    }
    case Kind::slice: {
      auto& node = static_cast<Slice&>(expression);
      visit(*node.object);
      visit_if_any(node.start);
      visit_if_any(node.stop);
      return visit_if_any(node.step);
    }
    case Kind::call: {
      auto& node = static_cast<Call&>(expression);
      visit(*node.callee);
      return for_each_argument(node.arguments, visit);
    }
    case Kind::filter: {
      auto& node = static_cast<FilterCall&>(expression);
      visit_if_any(node.input);
      return for_each_argument(node.arguments, visit);
    }
    case Kind::test: {
      auto& node = static_cast<TestCall&>(expression);
      visit(*node.input);
      return for_each_argument(node.arguments, visit);
    }
  }
}

// --- what one scope reads and assigns: its statements, but not the scopes within them

void collect(Expression& expression, Symbols& symbols) {
  if (expression.kind == Expression::Kind::name) symbols.load(static_cast<Name&>(expression).name);
  for_each_child(expression, [&](Expression& child) { collect(child, symbols); });
}

void collect(const Target& target, Symbols& symbols, bool parameter) {
  switch (target.kind) {
    case Target::Kind::name:
      if (parameter) {
        symbols.declare(target.name);
      } else {
        symbols.store(target.name);
      }
      return;
    case Target::Kind::attribute: return symbols.load(target.name);
    case Target::Kind::tuple:
      for (const Target& item : target.items) collect(item, symbols, parameter);
  }
}

void collect(Block& block, Symbols& symbols);

void collect_condition(Condition& node, Symbols& symbols) {
  collect(*node.branches[0].test, symbols);
  symbols.count_copy(node.at);
  Symbols body = symbols, others = symbols, otherwise = symbols;
  collect(node.branches[0].body, body);
  for (size_t i = 1; i < node.branches.size(); ++i) {
    collect(*node.branches[i].test, others);
    others.count_copy(node.at);
    const Symbols unchanged = others;
    Symbols branch = others;
    collect(node.branches[i].body, branch);
    others.merge({&branch, &unchanged});
  }
  collect(node.otherwise, otherwise);
  symbols.merge({&body, &others, &otherwise});
}

void collect(Statement& statement, Symbols& symbols) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
    case Kind::output:
      for (auto& part : static_cast<Output&>(statement).parts) {
        if (part.expression != nullptr) collect(*part.expression, symbols);
      }
      return;
    case Kind::condition: return collect_condition(static_cast<Condition&>(statement), symbols);
    case Kind::loop: return collect(*static_cast<Loop&>(statement).sequence, symbols);
    case Kind::set:
      collect(*static_cast<Set&>(statement).value, symbols);
      return collect(static_cast<Set&>(statement).target, symbols, false);
    case Kind::set_block: return collect(static_cast<SetBlock&>(statement).target, symbols, false);
    case Kind::macro: return symbols.store(static_cast<MacroDefinition&>(statement).code.name);
    case Kind::call_block:
      if (auto& call = static_cast<CallBlock&>(statement).call) collect(*call, symbols);
      return;
    case Kind::filter_block: return collect(*static_cast<FilterBlock&>(statement).filter, symbols);
    case Kind::with:
      for (auto& [target, value] : static_cast<With&>(statement).assignments) {
        collect(*value, symbols);
      }
      return;
    case Kind::break_loop:
    case Kind::continue_loop: return;
  }
}

void collect(Block& block, Symbols& symbols) {
  for (auto& statement : block) collect(*statement, symbols);
}

// --- special names: `loop`, `caller`, ... count as used if they are read before being assigned,
//     anywhere below, in the order of the source

class UseFinder {
 public:
  explicit UseFinder(std::set<std::string> wanted) : wanted_(std::move(wanted)) {}

  std::set<std::string> find(Block& block) {
    visit(block);
    return used_;
  }

 private:
  void read(const std::string& name) {
    if (wanted_.contains(name)) used_.insert(name);
  }

  void assign(const Target& target) {
    if (target.kind == Target::Kind::name) wanted_.erase(target.name);
    if (target.kind == Target::Kind::attribute) return;
    for (const Target& item : target.items) assign(item);
  }

  void visit(Expression& expression) {
    if (expression.kind == Expression::Kind::name) read(static_cast<Name&>(expression).name);
    for_each_child(expression, [&](Expression& child) { visit(child); });
  }

  void visit(Block& block) {
    for (auto& statement : block) visit(*statement);
  }

  void visit(MacroCode& code) {
    for (const auto& parameter : code.parameters) wanted_.erase(parameter.name);
    for (auto& parameter : code.parameters) {
      if (parameter.fallback != nullptr) visit(*parameter.fallback);
    }
    visit(code.body);
  }

  void visit_loop(Loop& node) {
    assign(node.target);
    visit(*node.sequence);
    visit(node.body);
    visit(node.otherwise);
    if (node.test != nullptr) visit(*node.test);
  }

  void visit(Statement& statement) {
    using Kind = Statement::Kind;
    switch (statement.kind) {
      case Kind::output:
        for (auto& part : static_cast<Output&>(statement).parts) {
          if (part.expression != nullptr) visit(*part.expression);
        }
        return;
      case Kind::condition: {
        auto& node = static_cast<Condition&>(statement);
        for (auto& branch : node.branches) {
          visit(*branch.test);
          visit(branch.body);
        }
        return visit(node.otherwise);
      }
      case Kind::loop: return visit_loop(static_cast<Loop&>(statement));
      case Kind::set:
        assign(static_cast<Set&>(statement).target);
        return visit(*static_cast<Set&>(statement).value);
      case Kind::set_block: {
        auto& node = static_cast<SetBlock&>(statement);
        assign(node.target);
        if (node.filter != nullptr) visit(*node.filter);
        return visit(node.body);
      }
      case Kind::macro: return visit(static_cast<MacroDefinition&>(statement).code);
      case Kind::call_block: {
        auto& node = static_cast<CallBlock&>(statement);
        if (node.call != nullptr) visit(*node.call);
        return visit(node.code);
      }
      case Kind::filter_block:
        visit(static_cast<FilterBlock&>(statement).body);
        return visit(*static_cast<FilterBlock&>(statement).filter);
      case Kind::with: {
        auto& node = static_cast<With&>(statement);
        for (auto& [target, value] : node.assignments) assign(target);
        for (auto& [target, value] : node.assignments) visit(*value);
        return visit(node.body);
      }
      case Kind::break_loop:
      case Kind::continue_loop: return;
    }
  }

  std::set<std::string> wanted_, used_;
};

// --- the second walk: names become slots

class Resolver {
 public:
  // `soft`: within an `if`, where a filter that does not exist fails only when it is used.
  void resolve(Block& block, const Symbols& symbols, bool soft) {
    for (auto& statement : block) resolve(*statement, symbols, soft);
  }

 private:
  static Slot slot_of(const std::string& name, Position at, const Symbols& symbols) {
    const auto variable = symbols.find(name);
    if (!variable) fail_at(at, fmt::format("'{}' is out of reach here", name));
    return symbols.slot_of(*variable);
  }

  void resolve(Expression& expression, const Symbols& symbols, bool soft) {
    if (expression.kind == Expression::Kind::name) {
      auto& node = static_cast<Name&>(expression);
      node.slot = slot_of(node.name, node.at, symbols);
    } else if (expression.kind == Expression::Kind::filter) {
      auto& node = static_cast<FilterCall&>(expression);
      node.function = find_filter(node.name);
      if (node.function == nullptr && !soft) {
        fail_at(node.at, fmt::format("No filter named '{}'.", node.name));
      }
    } else if (expression.kind == Expression::Kind::test) {
      auto& node = static_cast<TestCall&>(expression);
      node.function = find_test(node.name);
      if (node.function == nullptr && !soft) {
        fail_at(node.at, fmt::format("No test named '{}'.", node.name));
      }
    }
    const bool soft_below = soft || expression.kind == Expression::Kind::conditional;
    for_each_child(expression, [&](Expression& child) { resolve(child, symbols, soft_below); });
  }

  void resolve(Target& target, const Symbols& symbols) {
    if (target.kind != Target::Kind::tuple) target.slot = slot_of(target.name, target.at, symbols);
    if (n_loops_ > 0 && target.kind == Target::Kind::name && target.name == "loop") {
      fail_at(target.at, "Can't assign to special loop variable in for-loop target");
    }
    for (Target& item : target.items) resolve(item, symbols);
  }

  void resolve_loop(Loop& node, const Symbols& symbols, bool soft) {
    resolve(*node.sequence, symbols, soft);
    FunctionSlots own{symbols.function(), symbols.function()->n_copied};
    FunctionSlots* function = node.recursive ? &own : symbols.function();
    Symbols body(function, &symbols), test(function, &symbols), otherwise(function, &symbols);
    node.uses_loop = node.recursive || !UseFinder({"loop"}).find(node.body).empty();
    if (node.uses_loop) node.loop_index = body.declare("loop");
    collect(node.target, body, true);
    collect(node.body, body);
    collect(node.otherwise, otherwise);
    ++n_loops_;
    resolve(node.target, body);
    if (node.test != nullptr) {
      collect(node.test_target, test, true);
      collect(*node.test, test);
      resolve(node.test_target, test);
      resolve(*node.test, test, false);
    }
    resolve(node.body, body, false);
    resolve(node.otherwise, otherwise, false);
    --n_loops_;
    node.body_scope = body.scope();
    node.test_scope = test.scope();
    node.otherwise_scope = otherwise.scope();
    node.n_slots = own.n_slots;
  }

  void resolve_macro(MacroCode& code, Position at, const Symbols& symbols) {
    FunctionSlots function{symbols.function(), symbols.function()->n_copied};
    Symbols own(&function, &symbols);
    for (auto& parameter : code.parameters) parameter.index = own.declare(parameter.name);
    const auto declares = [&](std::string_view name) {
      return std::any_of(code.parameters.begin(), code.parameters.end(),
                         [&](const auto& parameter) { return parameter.name == name; });
    };
    const std::set<std::string> used = UseFinder({"caller", "kwargs", "varargs"}).find(code.body);
    code.declares_caller = declares("caller");
    code.uses_caller = used.contains("caller");
    if (code.uses_caller && !code.declares_caller) code.caller_index = own.declare("caller");
    if (code.uses_caller && code.declares_caller) check_caller_default(code, at);
    code.uses_kwargs = used.contains("kwargs") && !declares("kwargs");
    code.uses_varargs = used.contains("varargs") && !declares("varargs");
    if (code.uses_kwargs) code.kwargs_index = own.declare("kwargs");
    if (code.uses_varargs) code.varargs_index = own.declare("varargs");
    for (auto& parameter : code.parameters) {
      if (parameter.fallback != nullptr) collect(*parameter.fallback, own);
    }
    collect(code.body, own);
    for (auto& parameter : code.parameters) {
      if (parameter.fallback != nullptr) resolve(*parameter.fallback, own, false);
    }
    resolve(code.body, own, false);
    code.scope = own.scope();
    code.n_slots = function.n_slots;
  }

  static void check_caller_default(const MacroCode& code, Position at) {
    for (const auto& parameter : code.parameters) {
      if (parameter.name == "caller" && parameter.fallback == nullptr) {
        fail_at(at, "the special \"caller\" argument must be omitted or be given a default");
      }
    }
  }

  void resolve(Statement& statement, const Symbols& symbols, bool soft) {
    using Kind = Statement::Kind;
    switch (statement.kind) {
      case Kind::output:
        for (auto& part : static_cast<Output&>(statement).parts) {
          if (part.expression != nullptr) resolve(*part.expression, symbols, soft);
        }
        return;
      case Kind::condition: {
        auto& node = static_cast<Condition&>(statement);
        for (auto& branch : node.branches) {
          resolve(*branch.test, symbols, true);
          resolve(branch.body, symbols, true);
        }
        return resolve(node.otherwise, symbols, true);
      }
      case Kind::loop: return resolve_loop(static_cast<Loop&>(statement), symbols, soft);
      case Kind::set:
        resolve(static_cast<Set&>(statement).target, symbols);
        return resolve(*static_cast<Set&>(statement).value, symbols, soft);
      case Kind::set_block: {
        auto& node = static_cast<SetBlock&>(statement);
        Symbols inner(symbols.function(), &symbols);
        collect(node.body, inner);
        resolve(node.body, inner, false);
        resolve(node.target, symbols);
        if (node.filter != nullptr) resolve(*node.filter, inner, false);
        node.scope = inner.scope();
        return;
      }
      case Kind::macro: {
        auto& node = static_cast<MacroDefinition&>(statement);
        resolve_macro(node.code, node.at, symbols);
        node.slot = slot_of(node.code.name, node.at, symbols);
        return;
      }
      case Kind::call_block: {
        auto& node = static_cast<CallBlock&>(statement);
        resolve_macro(node.code, node.at, symbols);
        if (node.call != nullptr) resolve(*node.call, symbols, soft);
        return;
      }
      case Kind::filter_block: {
        auto& node = static_cast<FilterBlock&>(statement);
        Symbols inner(symbols.function(), &symbols);
        collect(node.body, inner);
        collect(*node.filter, inner);
        resolve(node.body, inner, false);
        resolve(*node.filter, inner, false);
        node.scope = inner.scope();
        return;
      }
      case Kind::with: return resolve_with(static_cast<With&>(statement), symbols, soft);
      case Kind::break_loop:
      case Kind::continue_loop: return;
    }
  }

  void resolve_with(With& node, const Symbols& symbols, bool soft) {
    Symbols inner(symbols.function(), &symbols);
    const int outer_loops = std::exchange(n_loops_, 0);  // `loop` may be one of its names
    for (auto& [target, value] : node.assignments) {
      collect(target, inner, true);
      resolve(*value, symbols, soft);
      resolve(target, inner);
    }
    n_loops_ = outer_loops;
    collect(node.body, inner);
    resolve(node.body, inner, false);
    node.scope = inner.scope();
  }

  int n_loops_ = 0;
};
}  // namespace

void resolve_names(Template& parsed) {
  size_t n_copied = 0;
  FunctionSlots function{nullptr, &n_copied};
  Symbols symbols(&function, nullptr);
  collect(parsed.body, symbols);
  Resolver().resolve(parsed.body, symbols, false);
  parsed.scope = symbols.scope();
  parsed.n_slots = function.n_slots;
}

}  // namespace hwtv::text::jinja
