// The functions that every template can call.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
Value make_range(Runtime& runtime, const Arguments& arguments) {
  const std::vector<Value> bound = bind("range", arguments, {"", "", ""}, 1);
  int64_t start = 0, stop = to_index(bound[0]), step = 1;
  if (!bound[1].is(Kind::missing)) {
    start = stop;
    stop = to_index(bound[1]);
  }
  if (!bound[2].is(Kind::missing)) step = to_index(bound[2]);
  if (step == 0) raise("range() arg 3 must not be zero");
  constexpr int64_t kFarthest = int64_t{1} << 61;
  for (int64_t bound_value : {start, stop, step}) {
    if (bound_value > kFarthest || bound_value < -kFarthest) raise_unsupported("a range so far");
  }
  constexpr int64_t kRangeMax = 100000;  // the sandbox's MAX_RANGE
  if (Range(start, stop, step).size() > kRangeMax) {
    raise(fmt::format("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).",
                      kRangeMax));
  }
  return runtime.object<Range>(0, start, stop, step);
}

std::shared_ptr<Dict> dict_of(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.size() > 1) {
    raise(fmt::format("dict expected at most 1 argument, got {}", arguments.positional.size()));
  }
  auto dict = runtime.dict();
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Kind::dict)) {
      for (const auto& [key, value] : source.dict().entries()) dict->set(key, value);
    } else {
      const auto iterator = iterate(source, runtime);
      for (Value pair; iterator->next(runtime, pair);) {
        std::vector<Value> parts = to_vector(pair, runtime);
        if (parts.size() != 2) {
          raise(fmt::format("dictionary update sequence element has length {}; 2 is required",
                            parts.size()));
        }
        dict->set(parts[0], std::move(parts[1]));
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dict->set(Value::constant(name), value);
  return dict;
}

Value make_dict(Runtime& runtime, const Arguments& arguments) {
  return Value::dict(dict_of(runtime, arguments));
}

Value make_namespace(Runtime& runtime, const Arguments& arguments) {
  auto made = std::make_shared<Namespace>(dict_of(runtime, arguments));
  runtime.retain(made);
  return Value::object(std::move(made));
}

Value make_cycler(Runtime& runtime, const Arguments& arguments) {
  if (!arguments.named.empty()) raise("cycler takes no keyword arguments");
  if (arguments.positional.empty()) raise("at least one item has to be provided");
  int depth = 1;
  for (const Value& value : arguments.positional) depth = std::max(depth, value.depth() + 1);
  return runtime.object<Cycler>(depth, arguments.positional);
}

Value make_joiner(Runtime& runtime, const Arguments& arguments) {
  std::vector<Value> bound = bind("joiner", arguments, {"sep"}, 0);
  if (bound[0].is(Kind::missing)) bound[0] = Value::constant(", ");
  const int depth = bound[0].depth() + 1;
  return runtime.object<Joiner>(depth, std::move(bound[0]));
}

Value raise_exception(Runtime& runtime, const Arguments& arguments) {
  const std::vector<Value> bound = bind("raise_exception", arguments, {"message"}, 1);
  raise(to_str(bound[0], runtime));
}

Value strftime_now(Runtime& runtime, const Arguments& arguments) {
  const std::vector<Value> bound = bind("strftime_now", arguments, {"format"}, 1);
  return runtime.string(format_time(to_text("strftime_now()", bound[0]), runtime.now, runtime));
}

[[noreturn]] Value lipsum(Runtime&, const Arguments&) { raise_unsupported("lipsum()"); }
}  // namespace

const Variables& global_variables() {
  static const Variables variables = [] {
    Variables made;
    const auto add = [&](const char* name, Function::Body body, const char* type) {
      made.emplace(name, Value::object(std::make_shared<Function>(name, std::move(body), type)));
    };
    add("range", make_range, "function");
    add("dict", make_dict, "type");
    add("namespace", make_namespace, "type");
    add("cycler", make_cycler, "type");
    add("joiner", make_joiner, "type");
    add("raise_exception", raise_exception, "function");
    add("strftime_now", strftime_now, "function");
    add("lipsum", lipsum, "function");
    return made;
  }();
  return variables;
}

}  // namespace hwtv::text::jinja
