#include "text/jinja_object.h"

#include <fmt/format.h>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

std::string Object::repr(Runtime&) { return fmt::format("<{} object>", qualified_type_name()); }

bool Object::truthy(Runtime& runtime) { return length(runtime).value_or(1) != 0; }

Value Object::call(Runtime&, const Arguments&) {
  raise(fmt::format("'{}' object is not callable", type_name()));
}

std::shared_ptr<Iterator> Iterator::iterate(std::shared_ptr<Object> self) {
  return std::static_pointer_cast<Iterator>(std::move(self));
}

std::string_view DictView::type_name() const {
  switch (part_) {
    case Part::items: return "dict_items";
    case Part::keys: return "dict_keys";
    case Part::values: return "dict_values";
  }
  return "";
}

std::string DictView::repr(Runtime& runtime) {
  std::string out = fmt::format("{}([", type_name());
  const auto iterator = iterate(nullptr);
  bool first = true;
  for (Value value; iterator->next(runtime, value);) {
    if (!first) out += ", ";
    first = false;
    append_repr(value, runtime, out);
  }
  return out + "])";
}

std::optional<int64_t> DictView::length(Runtime&) {
  return static_cast<int64_t>(dict().entries().size());
}

std::shared_ptr<Iterator> DictView::iterate(std::shared_ptr<Object>) {
  return std::make_shared<Generator>(
      [dict = dict_, part = part_, i = size_t{0}](Runtime& runtime, Value& out) mutable {
        if (i == dict.dict().entries().size()) return false;
        const auto& [key, value] = dict.dict().entries()[i++];
        out = part == Part::items ? runtime.tuple({key, value}) : part == Part::keys ? key : value;
        return true;
      });
}

std::string Range::repr(Runtime&) {
  if (step_ == 1) return fmt::format("range({}, {})", start_, stop_);
  return fmt::format("range({}, {}, {})", start_, stop_, step_);
}

int64_t Range::size() const {
  const int64_t distance = step_ > 0 ? stop_ - start_ : start_ - stop_;
  return distance <= 0 ? 0 : (distance - 1) / (step_ > 0 ? step_ : -step_) + 1;
}

bool Range::equals(const Object& other) const {
  const auto* range = dynamic_cast<const Range*>(&other);
  if (range == nullptr || range->size() != size()) return false;
  return size() == 0 || (range->start_ == start_ && (size() == 1 || range->step_ == step_));
}

Value Range::item(Runtime&, const Value& key) {
  if (!key.is_integral()) return {};
  int64_t i = key.as_integer();
  if (i < 0) i += size();
  return i < 0 || i >= size() ? Value() : Value::integer(at(i));
}

std::shared_ptr<Iterator> Range::iterate(std::shared_ptr<Object>) {
  return std::make_shared<Generator>([range = *this, i = int64_t{0}](Runtime&, Value& out) mutable {
    if (i == range.size()) return false;
    out = Value::integer(range.at(i++));
    return true;
  });
}

std::string Namespace::repr(Runtime& runtime) {
  return fmt::format("<Namespace {}>", to_repr(Value::dict(attributes_), runtime));
}

Value Namespace::attribute(Runtime&, std::string_view name) {
  const Value* found = attributes_->find(name);
  return found != nullptr ? *found : Value();
}

void Namespace::set(const std::string& name, Value value) {
  attributes_->set(Value::constant(name), std::move(value));
}

Value Cycler::attribute(Runtime& runtime, std::string_view name) {
  if (name == "current") return items_[*at_];
  if (name == "next") {
    return runtime.object<Function>(depth + 1, "next",
                                    [items = items_, at = at_](Runtime&, const Arguments&) {
                                      const Value current = items[*at];
                                      *at = (*at + 1) % items.size();
                                      return current;
                                    });
  }
  if (name == "reset") {
    return runtime.object<Function>(0, "reset", [at = at_](Runtime&, const Arguments&) {
      *at = 0;
      return Value::none();
    });
  }
  return {};
}

Value Joiner::call(Runtime& runtime, const Arguments&) {
  if (used_) return separator_;
  used_ = true;
  return runtime.string("");
}

}  // namespace hwtv::text::jinja
