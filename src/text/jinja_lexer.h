// A template's source as tokens, with jinja2's whitespace control (trim_blocks and lstrip_blocks
// on).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_value.h"

namespace hwtv::text::jinja {

struct Token {
  enum class Kind : uint8_t {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    string,
    number,
    symbol,
    end,
  };
  Kind kind;
  Position at;
  std::string text;  // of data, names, symbols; the content of a string
  Value number;
};

// A failure with its place; for what goes wrong while a template is parsed.
struct SyntaxFailure {
  Failure failure;
  Position at;
};

// The last token is `end`.  Throws SyntaxFailure.  Requires: valid UTF-8.
std::vector<Token> tokenize(std::string_view source);

}  // namespace hwtv::text::jinja
