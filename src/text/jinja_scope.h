// Which variable a name means.  jinja2 decides it before anything runs, and templates can tell: a
// name that a scope assigns to is that scope's own from the scope's beginning.
#pragma once
#include "text/jinja_ast.h"

namespace hwtv::text::jinja {

// Fills in every slot and scope, and finds the filters and tests.  Throws SyntaxFailure for a
// filter or test that does not exist, outside of `if`.
void resolve_names(Template& parsed);

}  // namespace hwtv::text::jinja
