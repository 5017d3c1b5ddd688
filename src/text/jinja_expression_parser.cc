#include "text/jinja_expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hwtv::text::jinja {

const Token& ExpressionParser::next() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) return false;
  next();
  return true;
}

void ExpressionParser::expect(Token::Kind kind) {
  if (current().kind != kind) {
    fail_here(fmt::format("expected the end of the tag, got '{}'", current().text));
  }
  next();
}

void ExpressionParser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail_here(fmt::format("expected '{}', got '{}'", name, current().text));
}

void ExpressionParser::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) {
    fail_here(fmt::format("expected '{}', got '{}'", symbol, current().text));
  }
}

void ExpressionParser::fail_at(Position at, std::string message) {
  throw SyntaxFailure{{ErrorCode::invalid_request, std::move(message)}, at};
}

void ExpressionParser::deepen(Expression& parent, const Expression* child) const {
  constexpr int kDepthMax = 500;
  if (child == nullptr) return;
  parent.depth = std::max(parent.depth, child->depth + 1);
  if (parent.depth > kDepthMax) fail_at(parent.at, "an expression nested too deep");
}

bool ExpressionParser::at_tuple_end(std::string_view end) const {
  const Token::Kind kind = current().kind;
  return kind == Token::Kind::variable_end || kind == Token::Kind::block_end || at_symbol(")") ||
         (!end.empty() && at_name(end));
}

ExpressionPtr ExpressionParser::parse_tuple(TupleOptions options) {
  const Nesting nesting(*this);
  const Position at = current().at;
  auto tuple = std::make_unique<ListLiteral>(at, true);
  tuple->parenthesized = options.parenthesized;
  bool comma = false;
  while (!at_tuple_end(options.end)) {
    ExpressionPtr item = options.simple        ? parse_primary(options.with_namespace)
                         : options.conditional ? parse_expression()
                                               : parse_or();
    deepen(*tuple, item.get());
    tuple->items.push_back(std::move(item));
    if (!skip_symbol(",")) break;
    comma = true;
  }
  if (comma) return tuple;
  if (!tuple->items.empty()) return std::move(tuple->items[0]);
  if (!options.parenthesized) {
    fail_here(fmt::format("Expected an expression, got '{}'", current().text));
  }
  return tuple;
}

Target ExpressionParser::parse_target(TupleOptions options) {
  return to_target(*parse_tuple(options));
}

Target ExpressionParser::to_target(const Expression& expression) const {
  Target target;
  target.at = expression.at;
  if (expression.kind == Expression::Kind::name) {
    target.name = static_cast<const Name&>(expression).name;
    return target;
  }
  if (expression.kind == Expression::Kind::list &&
      static_cast<const ListLiteral&>(expression).tuple) {
    target.kind = Target::Kind::tuple;
    for (const auto& item : static_cast<const ListLiteral&>(expression).items) {
      target.items.push_back(to_target(*item));
    }
    return target;
  }
  if (expression.kind == Expression::Kind::attribute) {
    const auto& attribute = static_cast<const Attribute&>(expression);
    if (attribute.assignable) {
      target.kind = Target::Kind::attribute;
      target.name = static_cast<const Name&>(*attribute.object).name;
      target.attribute = attribute.name;
      return target;
    }
  }
  fail_at(expression.at, "can't assign to this expression");
}

ExpressionPtr ExpressionParser::parse_conditional() {
  const Nesting nesting(*this);
  Position at = current().at;
  ExpressionPtr value = parse_or();
  while (skip_name("if")) {
    auto node = std::make_unique<Conditional>(at);
    node->condition = parse_or();
    node->when_true = std::move(value);
    if (skip_name("else")) node->when_false = parse_conditional();
    for (const auto* child : {&node->condition, &node->when_true, &node->when_false}) {
      deepen(*node, child->get());
    }
    value = std::move(node);
    at = current().at;
  }
  return value;
}

// A node of two operands, the first two of its last arguments.
template <typename T, typename... Args>
ExpressionPtr ExpressionParser::make_binary(Position at, Args&&... args) {
  auto node = std::make_unique<T>(at, std::forward<Args>(args)...);
  deepen(*node, node->left.get());
  deepen(*node, node->right.get());
  return node;
}

ExpressionPtr ExpressionParser::parse_or() {
  const Position at = current().at;
  ExpressionPtr left = parse_and();
  while (skip_name("or")) {
    ExpressionPtr right = parse_and();
    left = make_binary<Logic>(at, false, std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_and() {
  const Position at = current().at;
  ExpressionPtr left = parse_not();
  while (skip_name("and")) {
    ExpressionPtr right = parse_not();
    left = make_binary<Logic>(at, true, std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_not() {
  const Position at = current().at;
  if (!skip_name("not")) return parse_comparison();
  const Nesting nesting(*this);
  auto node = std::make_unique<Unary>(at, Unary::Op::invert, parse_not());
  deepen(*node, node->operand.get());
  return node;
}

ExpressionPtr ExpressionParser::parse_comparison() {
  using Op = ComparisonChain::Op;
  const Position at = current().at;
  ExpressionPtr first = parse_sum();
  const auto read_operator = [&]() -> std::optional<Op> {
    constexpr std::pair<std::string_view, Op> kOperators[] = {{"==", Op::eq}, {"!=", Op::ne},
                                                              {"<", Op::lt},  {"<=", Op::le},
                                                              {">", Op::gt},  {">=", Op::ge}};
    for (const auto& [symbol, op] : kOperators) {
      if (skip_symbol(symbol)) return op;
    }
    if (skip_name("in")) return Op::in;
    if (at_name("not") && is_name(look(), "in")) {
      next();
      next();
      return Op::not_in;
    }
    return std::nullopt;
  };
  std::unique_ptr<ComparisonChain> chain;
  while (const std::optional<Op> op = read_operator()) {
    if (chain == nullptr) {
      chain = std::make_unique<ComparisonChain>(at, std::move(first));
      deepen(*chain, chain->first.get());
    }
    chain->rest.emplace_back(*op, parse_sum());
    deepen(*chain, chain->rest.back().second.get());
  }
  if (chain == nullptr) return first;
  return chain;
}

ExpressionPtr ExpressionParser::parse_sum() {
  const Position at = current().at;
  ExpressionPtr left = parse_concat();
  while (at_symbol("+") || at_symbol("-")) {
    const Operator op = next().text == "+" ? Operator::add : Operator::subtract;
    ExpressionPtr right = parse_concat();
    left = make_binary<Binary>(at, op, std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_concat() {
  const Position at = current().at;
  ExpressionPtr first = parse_product();
  if (!at_symbol("~")) return first;
  auto node = std::make_unique<Concat>(at);
  node->parts.push_back(std::move(first));
  while (skip_symbol("~")) node->parts.push_back(parse_product());
  for (const auto& part : node->parts) deepen(*node, part.get());
  return node;
}

ExpressionPtr ExpressionParser::parse_product() {
  const Position at = current().at;
  ExpressionPtr left = parse_power();
  while (at_symbol("*") || at_symbol("/") || at_symbol("//") || at_symbol("%")) {
    const std::string& symbol = next().text;
    const Operator op = symbol == "*"    ? Operator::multiply
                        : symbol == "/"  ? Operator::divide
                        : symbol == "//" ? Operator::floor_divide
                                         : Operator::modulo;
    ExpressionPtr right = parse_power();
    left = make_binary<Binary>(at, op, std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_power() {
  const Position at = current().at;
  ExpressionPtr left = parse_unary(true);
  while (skip_symbol("**")) {
    ExpressionPtr right = parse_unary(true);
    left = make_binary<Binary>(at, Operator::power, std::move(left), std::move(right));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  const Nesting nesting(*this);
  const Position at = current().at;
  ExpressionPtr node;
  if (at_symbol("-") || at_symbol("+")) {
    const Unary::Op op = next().text == "-" ? Unary::Op::negate : Unary::Op::posit;
    auto unary = std::make_unique<Unary>(at, op, parse_unary(false));
    deepen(*unary, unary->operand.get());
    node = std::move(unary);
  } else {
    node = parse_primary(false);
  }
  node = parse_postfix(std::move(node));
  return with_filters ? parse_filter_postfix(std::move(node)) : std::move(node);
}

ExpressionPtr ExpressionParser::parse_primary(bool with_namespace) {
  const Token& token = current();
  switch (token.kind) {
    case Token::Kind::name: return parse_named(with_namespace);
    case Token::Kind::string: return parse_strings();
    case Token::Kind::number: return std::make_unique<Constant>(token.at, next().number);
    default: break;
  }
  if (skip_symbol("(")) {
    ExpressionPtr node = parse_tuple({.parenthesized = true});
    expect_symbol(")");
    return node;
  }
  if (at_symbol("[")) return parse_list();
  if (at_symbol("{")) return parse_dict();
  fail_here(fmt::format("unexpected '{}'", token.text));
}

ExpressionPtr ExpressionParser::parse_named(bool with_namespace) {
  const Token& token = next();
  const std::string& name = token.text;
  if (name == "true" || name == "True") {
    return std::make_unique<Constant>(token.at, Value::boolean(true));
  }
  if (name == "false" || name == "False") {
    return std::make_unique<Constant>(token.at, Value::boolean(false));
  }
  if (name == "none" || name == "None") {
    return std::make_unique<Constant>(token.at, Value::none());
  }
  auto node = std::make_unique<Name>(token.at, name);
  node->undefined = Value::undefined(fmt::format("'{}' is undefined", name));
  if (with_namespace && skip_symbol(".")) {
    if (current().kind != Token::Kind::name) fail_here("expected a name after '.'");
    auto attribute = std::make_unique<Attribute>(token.at, std::move(node), next().text);
    attribute->assignable = true;
    return attribute;
  }
  return node;
}

ExpressionPtr ExpressionParser::parse_strings() {
  const Position at = current().at;
  std::string text;
  while (current().kind == Token::Kind::string) text += next().text;
  return std::make_unique<Constant>(at, Value::constant(std::move(text)));
}

ExpressionPtr ExpressionParser::parse_list() {
  auto node = std::make_unique<ListLiteral>(next().at, false);
  while (!at_symbol("]")) {
    if (!node->items.empty()) {
      expect_symbol(",");
      if (at_symbol("]")) break;
    }
    node->items.push_back(parse_expression());
    deepen(*node, node->items.back().get());
  }
  next();
  return node;
}

ExpressionPtr ExpressionParser::parse_dict() {
  auto node = std::make_unique<DictLiteral>(next().at);
  while (!at_symbol("}")) {
    if (!node->entries.empty()) {
      expect_symbol(",");
      if (at_symbol("}")) break;
    }
    ExpressionPtr key = parse_expression();
    expect_symbol(":");
    ExpressionPtr value = parse_expression();
    deepen(*node, key.get());
    deepen(*node, value.get());
    node->entries.emplace_back(std::move(key), std::move(value));
  }
  next();
  return node;
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr node) {
  while (true) {
    if (at_symbol(".") || at_symbol("[")) {
      node = parse_subscript(std::move(node));
    } else if (at_symbol("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::parse_filter_postfix(ExpressionPtr node) {
  while (true) {
    if (at_symbol("|")) {
      node = parse_filters(std::move(node));
    } else if (at_name("is")) {
      node = parse_test(std::move(node));
    } else if (at_symbol("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr node) {
  const Position at = current().at;
  if (next().text == ".") {
    const Token& token = next();
    ExpressionPtr made;
    if (token.kind == Token::Kind::name) {
      made = std::make_unique<Attribute>(at, std::move(node), token.text);
      deepen(*made, static_cast<Attribute&>(*made).object.get());
    } else if (token.kind == Token::Kind::number && token.number.is(Kind::integer)) {
      made = std::make_unique<Item>(at, std::move(node),
                                    std::make_unique<Constant>(token.at, token.number));
      deepen(*made, static_cast<Item&>(*made).object.get());
    } else {
      fail_at(token.at, "expected name or number");
    }
    return made;
  }
  auto slice = std::make_unique<Slice>(at);
  if (!at_symbol(":") && !at_symbol("]")) slice->start = parse_expression();
  if (!at_symbol(":")) {  // one key, or a tuple of them
    auto keys = std::make_unique<ListLiteral>(at, true);
    if (slice->start != nullptr) keys->items.push_back(std::move(slice->start));
    while (!at_symbol("]")) {
      expect_symbol(",");
      keys->items.push_back(parse_expression());
    }
    next();
    const bool several = keys->items.size() != 1;
    for (const auto& key : keys->items) deepen(*keys, key.get());
    ExpressionPtr key = several ? std::move(keys) : std::move(keys->items[0]);
    auto made = std::make_unique<Item>(at, std::move(node), std::move(key));
    deepen(*made, made->object.get());
    deepen(*made, made->key.get());
    return made;
  }
  next();
  if (!at_symbol(":") && !at_symbol("]")) slice->stop = parse_expression();
  if (skip_symbol(":") && !at_symbol("]")) slice->step = parse_expression();
  expect_symbol("]");
  slice->object = std::move(node);
  for (const auto* part : {&slice->object, &slice->start, &slice->stop, &slice->step}) {
    deepen(*slice, part->get());
  }
  return slice;
}

CallArguments ExpressionParser::parse_arguments(Expression& call) {
  const Position at = current().at;
  CallArguments arguments;
  const auto ensure = [&](bool condition) {
    if (!condition) fail_at(at, "invalid syntax for function call expression");
  };
  expect_symbol("(");
  bool first = true;
  while (!at_symbol(")")) {
    if (!first) {
      expect_symbol(",");
      if (at_symbol(")")) break;
    }
    first = false;
    ExpressionPtr* last = nullptr;
    if (skip_symbol("*")) {
      ensure(arguments.more_positional == nullptr && arguments.more_named == nullptr);
      arguments.more_positional = parse_expression();
      last = &arguments.more_positional;
    } else if (skip_symbol("**")) {
      ensure(arguments.more_named == nullptr);
      arguments.more_named = parse_expression();
      last = &arguments.more_named;
    } else if (current().kind == Token::Kind::name && look().kind == Token::Kind::symbol &&
               look().text == "=") {
      ensure(arguments.more_named == nullptr);
      std::string name = next().text;
      next();
      const auto same = [&](const auto& other) { return other.first == name; };
      if (std::any_of(arguments.named.begin(), arguments.named.end(), same)) {
        fail_here(fmt::format("keyword argument repeated: {}", name));
      }
      arguments.named.emplace_back(std::move(name), parse_expression());
      last = &arguments.named.back().second;
    } else {
      ensure(arguments.more_positional == nullptr && arguments.more_named == nullptr &&
             arguments.named.empty());
      arguments.positional.push_back(parse_expression());
      last = &arguments.positional.back();
    }
    deepen(call, last->get());
  }
  next();
  return arguments;
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr node) {
  auto call = std::make_unique<Call>(current().at, std::move(node));
  deepen(*call, call->callee.get());
  call->arguments = parse_arguments(*call);
  return call;
}

ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr input) {
  while (skip_symbol("|")) input = parse_one_filter(std::move(input));
  return input;
}

ExpressionPtr ExpressionParser::parse_one_filter(ExpressionPtr input) {
  const Token& token = current();
  if (token.kind != Token::Kind::name) fail_here("expected a filter's name");
  std::string name = next().text;
  while (skip_symbol(".")) {
    if (current().kind != Token::Kind::name) fail_here("expected a filter's name");
    name += "." + next().text;
  }
  auto filter = std::make_unique<FilterCall>(token.at, std::move(input), std::move(name));
  deepen(*filter, filter->input.get());
  if (at_symbol("(")) filter->arguments = parse_arguments(*filter);
  return filter;
}

bool ExpressionParser::at_test_argument() const {
  switch (current().kind) {
    case Token::Kind::name: return !at_name("else") && !at_name("or") && !at_name("and");
    case Token::Kind::string:
    case Token::Kind::number: return true;
    default: return at_symbol("[") || at_symbol("{");
  }
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr node) {
  const Position at = next().at;
  const bool negated = skip_name("not");
  if (current().kind != Token::Kind::name) fail_here("expected a test's name");
  std::string name = next().text;
  while (skip_symbol(".")) {
    if (current().kind != Token::Kind::name) fail_here("expected a test's name");
    name += "." + next().text;
  }
  auto test = std::make_unique<TestCall>(at, std::move(node), std::move(name));
  deepen(*test, test->input.get());
  if (at_symbol("(")) {
    test->arguments = parse_arguments(*test);
  } else if (at_test_argument()) {
    if (at_name("is")) fail_here("You cannot chain multiple tests with is");
    test->arguments.positional.push_back(parse_postfix(parse_primary(false)));
    deepen(*test, test->arguments.positional.back().get());
  }
  if (!negated) return test;
  auto inverted = std::make_unique<Unary>(at, Unary::Op::invert, std::move(test));
  deepen(*inverted, inverted->operand.get());
  return inverted;
}

}  // namespace hwtv::text::jinja
