// A template's source as a tree of statements, every name resolved.
#pragma once
#include <string_view>

#include "text/jinja_ast.h"

namespace hwtv::text::jinja {

// Throws SyntaxFailure.  Requires: valid UTF-8.
Template parse_template(std::string_view source);

}  // namespace hwtv::text::jinja
