#include <fmt/format.h>

#include <algorithm>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

std::vector<Value> bind(std::string_view callee, const Arguments& arguments,
                        std::initializer_list<std::string_view> names, size_t n_required) {
  if (arguments.positional.size() > names.size()) {
    raise(fmt::format("{}() takes at most {} arguments ({} given)", callee, names.size(),
                      arguments.positional.size()));
  }
  std::vector<Value> bound = arguments.positional;
  bound.resize(names.size());
  for (const auto& [name, value] : arguments.named) {
    const auto at = name.empty() ? names.end() : std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      raise(fmt::format("{}() got an unexpected keyword argument '{}'", callee, name));
    }
    Value& slot = bound[static_cast<size_t>(at - names.begin())];
    if (!slot.is(Kind::missing)) {
      raise(fmt::format("{}() got multiple values for argument '{}'", callee, name));
    }
    slot = value;
  }
  for (size_t i = 0; i < n_required; ++i) {
    if (bound[i].is(Kind::missing)) {
      raise(fmt::format("{}() misses its argument {}", callee, i + 1));
    }
  }
  return bound;
}

int64_t to_index(const Value& value) {
  if (value.is(Kind::big)) raise_unsupported("an integer beyond 64 bits");
  if (!value.is_integral()) {
    raise(fmt::format("'{}' object cannot be interpreted as an integer", type_name(value)));
  }
  return value.as_integer();
}

std::string_view to_text(std::string_view callee, const Value& value) {
  if (!value.is(Kind::string)) {
    raise(fmt::format("{} needs a str, not {}", callee, type_name(value)));
  }
  return value.text();
}

}  // namespace hwtv::text::jinja
