#include "text/jinja_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "text/jinja_expression_parser.h"
#include "text/jinja_scope.h"

namespace hwtv::text::jinja {

namespace {
// Statements; expressions are ExpressionParser's.
class Parser : private ExpressionParser {
 public:
  explicit Parser(std::string_view source) : ExpressionParser(tokenize(source)) {}

  Template run() {
    Template parsed;
    parsed.body = parse_block({});
    return parsed;
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  bool at_one_of(Names names) const {
    return std::any_of(names.begin(), names.end(), [&](auto name) { return at_name(name); });
  }

  // Statements up to one of the tags `ends`, which is left to the caller; to the end of the source
  // when there are none.
  Block parse_block(Names ends) {
    const Nesting nesting(*this);
    Block body;
    std::unique_ptr<Output> output;
    const auto output_at = [&](Position at) -> Output& {
      if (output == nullptr) output = std::make_unique<Output>(at);
      return *output;
    };
    const auto flush = [&] {
      if (output != nullptr) body.push_back(std::move(output));
    };
    while (true) {
      const Token& token = current();
      switch (token.kind) {
        case Token::Kind::data:
          output_at(token.at).parts.push_back({token.text, nullptr});
          next();
          break;
        case Token::Kind::variable_begin:
          output_at(token.at);
          next();
          output->parts.push_back({"", parse_tuple({})});
          expect(Token::Kind::variable_end);
          break;
        case Token::Kind::block_begin:
          flush();
          next();
          if (at_one_of(ends)) return body;
          body.push_back(parse_statement());
          expect(Token::Kind::block_end);
          break;
        default:
          flush();
          if (ends.size() > 0) {
            fail_here(
                fmt::format("Unexpected end of template; '{}' is missing", *(ends.end() - 1)));
          }
          return body;
      }
    }
  }

  // The body of a statement whose head has just been read: up to `end`, which is taken too.
  Block parse_body(Names ends) {
    skip_symbol(":");
    expect(Token::Kind::block_end);
    return parse_block(ends);
  }

  Block parse_whole_body(std::string_view end) {
    Block body = parse_body({end});
    next();
    return body;
  }

  StatementPtr parse_statement() {
    if (current().kind != Token::Kind::name) fail_here("tag name expected");
    const Position at = current().at;
    const std::string tag = next().text;
    if (tag == "if") return parse_if(at);
    if (tag == "for") return parse_for(at);
    if (tag == "set") return parse_set(at);
    if (tag == "macro") return parse_macro(at);
    if (tag == "call") return parse_call_block(at);
    if (tag == "generation") return parse_generation(at);
    if (tag == "filter") return parse_filter_block(at);
    if (tag == "with") return parse_with(at);
    if (tag == "print") return parse_print(at);
    if (tag == "break" || tag == "continue") {
      if (n_loops_ == 0) fail_at(at, fmt::format("'{}' outside loop", tag));
      return std::make_unique<LoopControl>(at, tag == "break");
    }
    constexpr std::string_view kWebOnly[] = {"autoescape", "block",  "extends",
                                             "from",       "import", "include"};
    if (std::find(std::begin(kWebOnly), std::end(kWebOnly), tag) != std::end(kWebOnly)) {
      throw SyntaxFailure{{ErrorCode::unsupported, fmt::format("the tag '{}'", tag)}, at};
    }
    fail_at(at, fmt::format("Encountered unknown tag '{}'.", tag));
  }

  StatementPtr parse_if(Position at) {
    auto node = std::make_unique<Condition>(at);
    while (true) {
      Condition::Branch branch;
      branch.test = parse_tuple({.conditional = false});
      branch.body = parse_body({"elif", "else", "endif"});
      node->branches.push_back(std::move(branch));
      const std::string tag = next().text;
      if (tag == "elif") continue;
      if (tag == "else") node->otherwise = parse_whole_body("endif");
      return node;
    }
  }

  StatementPtr parse_for(Position at) {
    auto node = std::make_unique<Loop>(at);
    node->target = parse_target({.simple = true, .end = "in"});
    check_no_loop_name(node->target);
    node->test_target = node->target;
    expect_name("in");
    node->sequence = parse_tuple({.conditional = false, .end = "recursive"});
    if (skip_name("if")) node->test = parse_expression();
    node->recursive = skip_name("recursive");
    ++n_loops_;
    node->body = parse_body({"else", "endfor"});
    --n_loops_;
    if (next().text == "else") node->otherwise = parse_whole_body("endfor");
    return node;
  }

  void check_no_loop_name(const Target& target) {
    if (target.kind == Target::Kind::name && target.name == "loop") {
      fail_at(target.at, "Can't assign to special loop variable in for-loop target");
    }
    for (const Target& item : target.items) check_no_loop_name(item);
  }

  StatementPtr parse_set(Position at) {
    Target target = parse_target({.simple = true, .with_namespace = true});
    if (skip_symbol("=")) {
      auto node = std::make_unique<Set>(at);
      node->target = std::move(target);
      node->value = parse_tuple({});
      return node;
    }
    auto node = std::make_unique<SetBlock>(at);
    node->target = std::move(target);
    node->filter = parse_filters(nullptr);
    node->body = parse_whole_body("endset");
    return node;
  }

  void parse_signature(MacroCode& code) {
    expect_symbol("(");
    while (!at_symbol(")")) {
      if (!code.parameters.empty()) expect_symbol(",");
      MacroCode::Parameter parameter;
      if (current().kind != Token::Kind::name) fail_here("expected a parameter's name");
      parameter.name = next().text;
      check_assignable(parameter.name);
      const auto same = [&](const auto& other) { return other.name == parameter.name; };
      if (std::any_of(code.parameters.begin(), code.parameters.end(), same)) {
        fail_here(fmt::format("duplicate argument '{}'", parameter.name));
      }
      if (skip_symbol("=")) {
        parameter.fallback = parse_expression();
      } else if (!code.parameters.empty() && code.parameters.back().fallback != nullptr) {
        fail_here("non-default argument follows default argument");
      }
      parameter.undefined =
          Value::undefined(fmt::format("parameter '{}' was not provided", parameter.name));
      code.parameters.push_back(std::move(parameter));
    }
    next();
  }

  void check_assignable(const std::string& name) {
    constexpr std::string_view kConstants[] = {"True", "False", "None", "true", "false", "none"};
    if (std::find(std::begin(kConstants), std::end(kConstants), name) != std::end(kConstants)) {
      fail_here(fmt::format("can't assign to '{}'", name));
    }
  }

  // The body of a function: its loops are its own.
  Block parse_function_body(std::string_view end) {
    const int outer_loops = std::exchange(n_loops_, 0);
    Block body = parse_whole_body(end);
    n_loops_ = outer_loops;
    return body;
  }

  StatementPtr parse_macro(Position at) {
    auto node = std::make_unique<MacroDefinition>(at);
    if (current().kind != Token::Kind::name) fail_here("expected the macro's name");
    node->code.name = next().text;
    check_assignable(node->code.name);
    parse_signature(node->code);
    node->code.body = parse_function_body("endmacro");
    return node;
  }

  StatementPtr parse_call_block(Position at) {
    auto node = std::make_unique<CallBlock>(at);
    if (at_symbol("(")) parse_signature(node->code);
    ExpressionPtr call = parse_expression();
    if (call->kind != Expression::Kind::call) fail_at(at, "expected call");
    node->call.reset(static_cast<Call*>(call.release()));
    node->code.body = parse_function_body("endcall");
    return node;
  }

  StatementPtr parse_generation(Position at) {
    auto node = std::make_unique<CallBlock>(at);
    node->code.body = parse_function_body("endgeneration");
    return node;
  }

  StatementPtr parse_filter_block(Position at) {
    auto node = std::make_unique<FilterBlock>(at);
    node->filter = parse_filters(parse_one_filter(nullptr));
    node->body = parse_whole_body("endfilter");
    return node;
  }

  StatementPtr parse_with(Position at) {
    auto node = std::make_unique<With>(at);
    while (current().kind != Token::Kind::block_end) {
      if (!node->assignments.empty()) expect_symbol(",");
      Target target = parse_target({.simple = true});
      expect_symbol("=");
      node->assignments.emplace_back(std::move(target), parse_expression());
    }
    node->body = parse_whole_body("endwith");
    return node;
  }

  StatementPtr parse_print(Position at) {
    auto node = std::make_unique<Output>(at);
    while (current().kind != Token::Kind::block_end) {
      if (!node->parts.empty()) expect_symbol(",");
      node->parts.push_back({"", parse_expression()});
    }
    return node;
  }

  int n_loops_ = 0;
};
}  // namespace

Template parse_template(std::string_view source) {
  Template parsed = Parser(source).run();
  resolve_names(parsed);
  return parsed;
}

}  // namespace hwtv::text::jinja
