// Jinja's filters on lists, dicts and iterators.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja_characters.h"
#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
bool given(const Value& value) { return !value.is(Kind::missing) && !value.is(Kind::none); }
bool is_true(const Value& value, Runtime& runtime) {
  return !value.is(Kind::missing) && truthy(value, runtime);
}

Value ignore_case(const Value& value, Runtime& runtime) {
  return value.is(Kind::string) ? runtime.string(lower(value.text())) : value;
}

// `attribute="a.b.0"`: the items to take one after the other.
class AttributePath {
 public:
  AttributePath() = default;
  AttributePath(const Value& attribute, Value fallback) : fallback_(std::move(fallback)) {
    if (!given(attribute)) return;
    if (!attribute.is(Kind::string)) {
      parts_.push_back(attribute);
      return;
    }
    std::string_view rest = attribute.text();
    for (bool more = true; more;) {
      const size_t dot = rest.find('.');
      more = dot != std::string_view::npos;
      parts_.push_back(part(rest.substr(0, dot)));
      if (more) rest.remove_prefix(dot + 1);
    }
  }

  Value follow(Value value, Runtime& runtime) const {
    for (const Value& part : parts_) {
      value = item(value, part, runtime);
      if (given(fallback_) && value.is(Kind::undefined)) value = fallback_;
    }
    return value;
  }

 private:
  static Value part(std::string_view text) {
    const bool number =
        !text.empty() && text.size() < 18 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number ? Value::integer(std::stoll(std::string(text)))
                  : Value::constant(std::string(text));
  }

  std::vector<Value> parts_;
  Value fallback_;
};

// The key by which sort, unique, min, max and groupby compare.
struct KeyOf {
  AttributePath path;
  bool case_sensitive;

  Value operator()(const Value& value, Runtime& runtime) const {
    const Value key = path.follow(value, runtime);
    return case_sensitive ? key : ignore_case(key, runtime);
  }
};

Value generator(Runtime& runtime, const Value& input, Generator::Next next) {
  return runtime.object<Generator>(input.depth() + 1, std::move(next));
}

Value length_of(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("length", arguments, {}, 0);
  return Value::integer(length(input, runtime));
}

Value first(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("first", arguments, {}, 0);
  Value out;
  if (iterate(input, runtime)->next(runtime, out)) return out;
  return Value::undefined("No first item, sequence was empty.");
}

// An iterator from the end; null where Python's reversed() raises TypeError.
std::shared_ptr<Iterator> reversed(Runtime& runtime, const Value& input) {
  std::vector<Value> values;
  std::string_view name = "list_reverseiterator";
  if (input.is_sequence()) {
    if (input.is(Kind::tuple)) name = "reversed";
    values = input.items();
  } else if (input.is(Kind::dict) || input.is(Kind::string) || input.is(Kind::undefined)) {
    name = input.is(Kind::dict) ? "dict_reversekeyiterator" : "reversed";
    values = to_vector(input, runtime);
  } else if (input.is(Kind::object) && input.object().length(runtime).has_value()) {
    values = to_vector(input, runtime);
  } else {
    return nullptr;
  }
  runtime.budget.spend(values.size() + 1);
  auto made = std::make_shared<Generator>(
      [values = std::move(values)](Runtime&, Value& out) mutable {
        if (values.empty()) return false;
        out = std::move(values.back());
        values.pop_back();
        return true;
      },
      name);
  made->depth = input.depth() + 1;
  return made;
}

Value last(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("last", arguments, {}, 0);
  if (input.is_sequence() && !input.items().empty()) return input.items().back();
  const auto iterator = reversed(runtime, input);
  if (iterator == nullptr) raise(fmt::format("'{}' object is not reversible", type_name(input)));
  Value out;
  if (iterator->next(runtime, out)) return out;
  return Value::undefined("No last item, sequence was empty.");
}

Value reverse(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("reverse", arguments, {}, 0);
  if (input.is(Kind::string)) return slice(input, {}, {}, Value::integer(-1), runtime);
  if (auto iterator = reversed(runtime, input)) return Value::object(std::move(iterator));
  if (!iterable(input)) raise("argument must be iterable");
  std::vector<Value> values = to_vector(input, runtime);
  std::reverse(values.begin(), values.end());
  return runtime.list(std::move(values));
}

Value join(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("join", arguments, {"d", "attribute"}, 0);
  const std::string separator = bound[0].is(Kind::missing) ? "" : to_str(bound[0], runtime);
  const AttributePath path(bound[1], {});
  std::string out;
  bool leading = true;
  const auto iterator = iterate(input, runtime);
  for (Value value; iterator->next(runtime, value);) {
    runtime.budget.spend(1);
    if (!leading) out += separator;
    leading = false;
    append_str(path.follow(value, runtime), runtime, out);
    runtime.budget.require_room(out.size() + separator.size());
  }
  return runtime.string(std::move(out));
}

Value to_list(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("list", arguments, {}, 0);
  return runtime.list(to_vector(input, runtime));
}

Value items_of(Runtime& runtime, const Value& input, const Arguments& arguments) {
  bind("items", arguments, {}, 0);
  return generator(
      runtime, input,
      [input, iterator = std::shared_ptr<Iterator>()](Runtime& now, Value& out) mutable {
        if (input.is(Kind::undefined)) return false;
        if (!input.is(Kind::dict)) raise("Can only get item pairs from a mapping.");
        if (iterator == nullptr) {
          iterator =
              iterate(now.object<DictView>(input.depth() + 1, input, DictView::Part::items), now);
        }
        return iterator->next(now, out);
      });
}

Value dict_sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind("dictsort", arguments, {"case_sensitive", "by", "reverse"}, 0);
  const std::string_view by = bound[1].is(Kind::missing) ? "key" : to_text("dictsort", bound[1]);
  if (by != "key" && by != "value") raise("You can only sort by either \"key\" or \"value\"");
  if (input.is(Kind::undefined)) raise(input.undefined_message());
  if (!input.is(Kind::dict)) {
    raise(fmt::format("'{}' object has no attribute 'items'", type_name(input)));
  }
  std::vector<Value> pairs, keys;
  for (const auto& [key, value] : input.dict().entries()) {
    pairs.push_back(runtime.tuple({key, value}));
    const Value& sorted_by = by == "key" ? key : value;
    keys.push_back(is_true(bound[0], runtime) ? sorted_by : ignore_case(sorted_by, runtime));
  }
  sort_by_keys(pairs, std::move(keys), is_true(bound[2], runtime), runtime);
  return runtime.list(std::move(pairs));
}

Value sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}, 0);
  std::vector<AttributePath> paths;
  if (bound[2].is(Kind::string)) {
    std::string_view rest = bound[2].text();
    for (bool more = true; more;) {
      const size_t comma = rest.find(',');
      more = comma != std::string_view::npos;
      paths.emplace_back(Value::constant(std::string(rest.substr(0, comma))), Value());
      if (more) rest.remove_prefix(comma + 1);
    }
  } else {
    paths.emplace_back(bound[2], Value());
  }
  const bool case_sensitive = is_true(bound[1], runtime);
  std::vector<Value> values = to_vector(input, runtime), keys;
  for (const Value& value : values) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) {
      key.push_back(path.follow(value, runtime));
      if (!case_sensitive) key.back() = ignore_case(key.back(), runtime);
    }
    keys.push_back(runtime.list(std::move(key)));
  }
  sort_by_keys(values, std::move(keys), is_true(bound[0], runtime), runtime);
  return runtime.list(std::move(values));
}

Value unique(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("unique", arguments, {"case_sensitive", "attribute"}, 0);
  const KeyOf key_of{AttributePath(bound[1], {}), is_true(bound[0], runtime)};
  return generator(runtime, input,
                   [key_of, input, seen = runtime.dict(), iterator = std::shared_ptr<Iterator>()](
                       Runtime& now, Value& out) mutable {
                     if (iterator == nullptr) iterator = iterate(input, now);
                     while (iterator->next(now, out)) {
                       now.budget.spend(1);
                       const Value key = key_of(out, now);
                       if (seen->find(key) != nullptr) continue;
                       seen->set(key, Value::none());
                       return true;
                     }
                     return false;
                   });
}

template <bool want_largest>
Value extreme(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("min", arguments, {"case_sensitive", "attribute"}, 0);
  const KeyOf key_of{AttributePath(bound[1], {}), is_true(bound[0], runtime)};
  const auto iterator = iterate(input, runtime);
  Value best, best_key;
  if (!iterator->next(runtime, best)) {
    return Value::undefined("No aggregated item, sequence was empty.");
  }
  best_key = key_of(best, runtime);
  for (Value value; iterator->next(runtime, value);) {
    Value key = key_of(value, runtime);
    if (compare(want_largest ? Comparison::gt : Comparison::lt, key, best_key, runtime)) {
      best = value;
      best_key = std::move(key);
    }
  }
  return best;
}

Value sum(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("sum", arguments, {"attribute", "start"}, 0);
  const AttributePath path(bound[0], {});
  Value total = bound[1].is(Kind::missing) ? Value::integer(0) : bound[1];
  if (total.is(Kind::string)) raise("sum() can't sum strings [use ''.join(seq) instead]");
  const auto iterator = iterate(input, runtime);
  for (Value value; iterator->next(runtime, value);) {
    total = binary(Operator::add, total, path.follow(value, runtime), runtime);
  }
  return total;
}

Value group_by(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound =
      bind("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = is_true(bound[2], runtime);
  const AttributePath path(bound[0], bound[1]);
  const KeyOf key_of{path, case_sensitive};
  std::vector<Value> values = to_vector(input, runtime), keys;
  for (const Value& value : values) keys.push_back(key_of(value, runtime));
  sort_by_keys(values, std::move(keys), false, runtime);
  std::vector<Value> groups;
  for (size_t i = 0; i < values.size();) {
    const Value key = key_of(values[i], runtime);
    std::vector<Value> members{values[i++]};
    while (i < values.size() && equal(key_of(values[i], runtime), key, &runtime.budget)) {
      members.push_back(values[i++]);
    }
    const Value shown = case_sensitive ? key : path.follow(members[0], runtime);
    auto group = runtime.items({shown, runtime.list(std::move(members))});
    group->group = true;
    groups.push_back(Value::tuple(std::move(group)));
  }
  return runtime.list(std::move(groups));
}

Value batch(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = to_index(bound[0]);
  if (given(bound[1]) && size > (int64_t{1} << 31)) raise_unsupported("batches too long");
  return generator(runtime, input,
                   [input, size, fill = bound[1], iterator = std::shared_ptr<Iterator>(),
                    held = Value(), started = false](Runtime& now, Value& out) mutable {
                     if (iterator == nullptr) iterator = iterate(input, now);
                     std::vector<Value> values;
                     // jinja2 tests before it appends, so that a size of 0 gives one empty batch
                     // first.
                     if (!started) {
                       started = true;
                       if (!iterator->next(now, held)) return false;
                       if (size == 0) {
                         out = now.list({});
                         return true;
                       }
                     }
                     if (held.is(Kind::missing)) return false;
                     values.push_back(std::exchange(held, Value()));
                     for (Value value; iterator->next(now, value);) {
                       now.budget.spend(1);
                       if (static_cast<int64_t>(values.size()) == size || size == 0) {
                         held = std::move(value);
                         break;
                       }
                       values.push_back(std::move(value));
                     }
                     if (held.is(Kind::missing) && given(fill)) {
                       const size_t wanted = static_cast<size_t>(std::max<int64_t>(size, 0));
                       now.budget.require_room(wanted * sizeof(Value));
                       if (values.size() < wanted) values.resize(wanted, fill);
                     }
                     out = now.list(std::move(values));
                     return true;
                   });
}

Value slices(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const std::vector<Value> bound = bind("slice", arguments, {"slices", "fill_with"}, 1);
  return generator(
      runtime, input,
      [input, count = bound[0], fill = bound[1], i = int64_t{0}](Runtime& now, Value& out) mutable {
        const std::vector<Value> all = to_vector(input, now);
        const int64_t n = to_index(count), length = static_cast<int64_t>(all.size());
        if (n == 0) raise("integer division or modulo by zero");
        if (i >= n) return false;
        const int64_t size = length / n, extra = length % n;
        const int64_t begin = i * size + std::min(i, extra);
        const int64_t end = (i + 1) * size + std::min(i + 1, extra);
        std::vector<Value> part(all.begin() + begin, all.begin() + end);
        if (given(fill) && i >= extra) part.push_back(fill);
        ++i;
        out = now.list(std::move(part));
        return true;
      });
}

Value map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!truthy(input, runtime)) {
    return generator(runtime, input, [](Runtime&, Value&) { return false; });
  }
  Generator::Next transform;
  const auto is_attribute = [](const auto& named) { return named.first == "attribute"; };
  const auto& named = arguments.named;
  if (arguments.positional.empty() && std::any_of(named.begin(), named.end(), is_attribute)) {
    const std::vector<Value> bound = bind("map", arguments, {"attribute", "default"}, 0);
    transform = [path = AttributePath(bound[0], bound[1])](Runtime& now, Value& value) {
      value = path.follow(std::move(value), now);
      return true;
    };
  } else {
    if (arguments.positional.empty()) raise("map requires a filter argument");
    const Value name = arguments.positional[0];
    Arguments rest{{arguments.positional.begin() + 1, arguments.positional.end()}, named};
    transform = [name, rest = std::move(rest)](Runtime& now, Value& value) {
      const Filter filter = name.is(Kind::string) ? find_filter(name.text()) : nullptr;
      if (filter == nullptr) raise(fmt::format("No filter named {}.", to_repr(name, now)));
      value = filter(now, value, rest);
      return true;
    };
  }
  return generator(runtime, input,
                   [input, transform = std::move(transform),
                    iterator = std::shared_ptr<Iterator>()](Runtime& now, Value& out) mutable {
                     if (iterator == nullptr) iterator = iterate(input, now);
                     now.budget.spend(1);
                     return iterator->next(now, out) && transform(now, out);
                   });
}

template <bool keep, bool by_attribute>
Value select(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!truthy(input, runtime)) {
    return generator(runtime, input, [](Runtime&, Value&) { return false; });
  }
  return generator(
      runtime, input,
      [input, arguments, iterator = std::shared_ptr<Iterator>(), path = AttributePath(),
       rest = Arguments(), name = Value()](Runtime& now, Value& out) mutable {
        if (iterator == nullptr) {
          const std::vector<Value>& given_arguments = arguments.positional;
          const size_t skip = by_attribute ? 1 : 0;
          if (given_arguments.size() < skip) raise("Missing parameter for attribute name");
          if (by_attribute) path = AttributePath(given_arguments[0], {});
          if (given_arguments.size() > skip) {
            name = given_arguments[skip];
            rest.positional.assign(given_arguments.begin() + static_cast<int64_t>(skip) + 1,
                                   given_arguments.end());
            rest.named = arguments.named;
          }
          iterator = iterate(input, now);
        }
        while (iterator->next(now, out)) {
          now.budget.spend(1);
          const Value subject = by_attribute ? path.follow(out, now) : out;
          bool holds = false;
          if (name.is(Kind::missing)) {
            holds = truthy(subject, now);
          } else {
            const Test test = name.is(Kind::string) ? find_test(name.text()) : nullptr;
            if (test == nullptr) raise(fmt::format("No test named {}.", to_repr(name, now)));
            holds = test(now, subject, rest);
          }
          if (holds == keep) return true;
        }
        return false;
      });
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};

constexpr NamedFilter kFilters[] = {
    // in the order of their names
    {"batch", batch},
    {"count", length_of},
    {"dictsort", dict_sort},
    {"first", first},
    {"groupby", group_by},
    {"items", items_of},
    {"join", join},
    {"last", last},
    {"length", length_of},
    {"list", to_list},
    {"map", map},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"reverse", reverse},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
    {"slice", slices},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};
}  // namespace

Filter find_sequence_filter(std::string_view name) {
  const auto* at = std::lower_bound(
      std::begin(kFilters), std::end(kFilters), name,
      [](const NamedFilter& filter, std::string_view wanted) { return filter.name < wanted; });
  return at != std::end(kFilters) && at->name == name ? at->filter : nullptr;
}

}  // namespace hwtv::text::jinja
