#include "text/jinja_loop.h"

#include <fmt/format.h>

namespace hwtv::text::jinja {

bool LoopContext::next(Runtime& runtime, Value& out) {
  Value item = std::exchange(after_, Value());
  if (item.is(Kind::missing) && !source_->next(runtime, item)) return false;
  ++index0_;
  before_ = std::exchange(current_, item);
  out = std::move(item);
  return true;
}

const Value& LoopContext::peek(Runtime& runtime) {
  if (after_.is(Kind::missing)) {
    Value item;
    if (source_->next(runtime, item)) after_ = std::move(item);
  }
  return after_;
}

std::optional<int64_t> LoopContext::length(Runtime& runtime) {
  if (length_) return length_;
  const bool has_length = !iterable_.is(Kind::missing) &&
                          (!iterable_.is(Kind::object) || iterable_.object().length(runtime));
  if (has_length) {
    length_ = jinja::length(iterable_, runtime);
  } else {
    const Value rest = runtime.list(to_vector(Value::object(source_), runtime));
    source_ = jinja::iterate(rest, runtime);
    length_ = static_cast<int64_t>(rest.items().size()) + index0_ + 1 +
              (after_.is(Kind::missing) ? 0 : 1);
  }
  return length_;
}

std::string LoopContext::repr(Runtime& runtime) {
  return fmt::format("<LoopContext {}/{}>", index0_ + 1, *length(runtime));
}

Value LoopContext::attribute(Runtime& runtime, std::string_view name) {
  if (name == "index0") return Value::integer(index0_);
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(peek(runtime).is(Kind::missing));
  if (name == "length") return Value::integer(*length(runtime));
  if (name == "revindex0") return Value::integer(*length(runtime) - index0_ - 1);
  if (name == "revindex") return Value::integer(*length(runtime) - index0_);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "previtem") {
    return index0_ == 0 ? Value::undefined("there is no previous item") : before_;
  }
  if (name == "nextitem") {
    const Value& after = peek(runtime);
    return after.is(Kind::missing) ? Value::undefined("there is no next item") : after;
  }
  if (name == "cycle") {
    return runtime.object<Function>(
        0, "cycle", [this](Runtime&, const Arguments& arguments) { return cycle(arguments); });
  }
  if (name == "changed") {
    return runtime.object<Function>(0, "changed", [this](Runtime& now, const Arguments& arguments) {
      return Value::boolean(changed(now, arguments));
    });
  }
  return {};
}

Value LoopContext::cycle(const Arguments& arguments) const {
  if (!arguments.named.empty()) raise("cycle() takes no keyword arguments");
  if (arguments.positional.empty()) raise("no items for cycling given");
  const int64_t n = static_cast<int64_t>(arguments.positional.size());
  return arguments.positional[static_cast<size_t>(index0_ % n)];
}

bool LoopContext::changed(Runtime& runtime, const Arguments& arguments) {
  if (!arguments.named.empty()) raise("changed() takes no keyword arguments");
  const Value value = runtime.tuple(arguments.positional);
  if (!last_changed_.is(Kind::missing) && equal(last_changed_, value, &runtime.budget)) {
    return false;
  }
  last_changed_ = value;
  return true;
}

Value LoopContext::call(Runtime& runtime, const Arguments& arguments) {
  const std::vector<Value> bound = bind("loop", arguments, {"iterable"}, 1);
  (void)runtime;
  if (!node_.recursive) {
    raise("The loop must have the 'recursive' marker to be called recursively.");
  }
  return interpreter_.run_recursive_loop(node_, outer_, bound[0], depth0_ + 1);
}

void LoopContext::forget() {
  outer_.reset();
  source_.reset();
  iterable_ = before_ = current_ = after_ = last_changed_ = Value();
}

}  // namespace hwtv::text::jinja
