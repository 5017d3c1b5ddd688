// The methods of Python's dict, list and tuple that change nothing.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
template <DictView::Part part>
Value view(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("dict", arguments, {}, 0);
  return runtime.object<DictView>(self.depth() + 1, self, part);
}

Value get(Runtime&, const Value& self, const Arguments& arguments) {
  std::vector<Value> bound = bind("get", arguments, {"", ""}, 1);
  if (const Value* found = self.dict().find(bound[0])) return *found;
  return bound[1].is(Kind::missing) ? Value::none() : bound[1];
}

Value copy_dict(Runtime&, const Value& self, const Arguments& arguments) {
  bind("copy", arguments, {}, 0);
  return self;
}

Value from_keys(Runtime& runtime, const Value&, const Arguments& arguments) {
  std::vector<Value> bound = bind("fromkeys", arguments, {"", ""}, 1);
  if (bound[1].is(Kind::missing)) bound[1] = Value::none();
  auto dict = runtime.dict();
  const auto iterator = iterate(bound[0], runtime);
  for (Value key; iterator->next(runtime, key);) dict->set(key, bound[1]);
  return Value::dict(std::move(dict));
}

Value count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("count", arguments, {""}, 1);
  const auto matches = [&](const Value& item) { return equal(item, bound[0], &runtime.budget); };
  return Value::integer(std::count_if(self.items().begin(), self.items().end(), matches));
}

Value index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> bound = bind("index", arguments, {"", "", ""}, 1);
  const int64_t n = static_cast<int64_t>(self.items().size());
  const auto limit = [n](const Value& value, int64_t fallback) {
    if (value.is(Kind::missing)) return fallback;
    const int64_t at = to_index(value);
    return at < 0 ? std::max<int64_t>(at + n, 0) : std::min(at, n);
  };
  for (int64_t i = limit(bound[1], 0); i < limit(bound[2], n); ++i) {
    if (equal(self.items()[static_cast<size_t>(i)], bound[0], &runtime.budget)) {
      return Value::integer(i);
    }
  }
  raise(fmt::format("{} is not in {}", to_repr(bound[0], runtime), type_name(self)));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
}  // namespace

Method find_collection_method(Kind kind, std::string_view name) {
  if (kind == Kind::dict) {
    if (name == "get") return get;
    if (name == "items") return view<DictView::Part::items>;
    if (name == "keys") return view<DictView::Part::keys>;
    if (name == "values") return view<DictView::Part::values>;
    if (name == "copy") return copy_dict;
    if (name == "fromkeys") return from_keys;
    return nullptr;
  }
  if (name == "count") return count;
  if (name == "index") return index;
  if (kind == Kind::list && name == "copy") {
    return [](Runtime&, const Value& self, const Arguments& arguments) {
      bind("copy", arguments, {}, 0);
      return self;
    };
  }
  return nullptr;
}

bool changes_collection(Kind kind, std::string_view name) {
  if (kind == Kind::dict) {
    return is_one_of(name, {"clear", "pop", "popitem", "setdefault", "update"});
  }
  return kind == Kind::list && is_one_of(name, {"append", "clear", "extend", "insert", "pop",
                                                "remove", "reverse", "sort"});
}

}  // namespace hwtv::text::jinja
