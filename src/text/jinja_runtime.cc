#include "text/jinja_runtime.h"

#include <algorithm>

#include "text/jinja_characters.h"

namespace hwtv::text::jinja {

Value Runtime::string(std::string text, bool markup) {
  budget.spend_on_bytes(text.size());
  Charge charge(&budget, text.capacity() + sizeof(Str));
  const size_t n = count_characters(text);
  return Value::string(std::make_shared<const Str>(std::move(text), n, markup, std::move(charge)));
}

std::shared_ptr<Items> Runtime::items(std::vector<Value> values) {
  budget.spend(values.size() + 1);
  Charge charge(&budget, values.capacity() * sizeof(Value) + sizeof(Items));
  int depth = 1;
  for (const Value& value : values) depth = std::max(depth, value.depth() + 1);
  if (depth > kValueDepthMax) raise_unsupported("lists nested too deep");
  return std::make_shared<Items>(std::move(values), depth, false, std::move(charge));
}

void Runtime::retain(std::shared_ptr<Object> object) {
  constexpr size_t kTypicalBytes = 512;
  retained_charges_.emplace_back(&budget, kTypicalBytes);
  retained_.push_back(std::move(object));
}

}  // namespace hwtv::text::jinja
