// Jinja's expressions, from tokens to trees; the base of the template parser.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_lexer.h"

namespace hwtv::text::jinja {

class ExpressionParser {
 protected:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  struct TupleOptions {
    bool conditional = true;  // whether `a if b` is read
    bool simple = false;      // names and literals only
    bool parenthesized = false;
    bool with_namespace = false;  // whether `ns.name` may be assigned to
    std::string_view end = {};    // a name that ends it
  };

  // --- tokens
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& next();  // the current one; goes on
  static bool is_name(const Token& token, std::string_view name) {
    return token.kind == Token::Kind::name && token.text == name;
  }
  bool at_name(std::string_view name) const { return is_name(current(), name); }
  bool at_symbol(std::string_view symbol) const {
    return current().kind == Token::Kind::symbol && current().text == symbol;
  }
  bool skip_name(std::string_view name);
  bool skip_symbol(std::string_view symbol);
  void expect(Token::Kind kind);
  void expect_name(std::string_view name);
  void expect_symbol(std::string_view symbol);
  [[noreturn]] void fail_here(std::string message) const {
    fail_at(current().at, std::move(message));
  }
  [[noreturn]] static void fail_at(Position at, std::string message);

  // --- expressions
  ExpressionPtr parse_expression() { return parse_conditional(); }
  ExpressionPtr parse_tuple(TupleOptions options);
  Target parse_target(TupleOptions options);
  ExpressionPtr parse_filters(ExpressionPtr input);     // `|a|b`, none included
  ExpressionPtr parse_one_filter(ExpressionPtr input);  // `a(...)`

  // Bounds how deep the parser calls itself.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kNestingMax) parser_.fail_here("nested too deep");
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    static constexpr int kNestingMax = 150;
    ExpressionParser& parser_;
  };

 private:
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concat();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_primary(bool with_namespace);
  ExpressionPtr parse_named(bool with_namespace);
  ExpressionPtr parse_strings();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_postfix(ExpressionPtr node);
  ExpressionPtr parse_filter_postfix(ExpressionPtr node);
  ExpressionPtr parse_subscript(ExpressionPtr node);
  ExpressionPtr parse_call(ExpressionPtr node);
  ExpressionPtr parse_test(ExpressionPtr node);
  CallArguments parse_arguments(Expression& call);
  bool at_tuple_end(std::string_view end) const;
  bool at_test_argument() const;
  Target to_target(const Expression& expression) const;

  // Says that `child` is a part of `parent`.
  void deepen(Expression& parent, const Expression* child) const;
  template <typename T, typename... Args>
  ExpressionPtr make_binary(Position at, Args&&... args);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace hwtv::text::jinja
