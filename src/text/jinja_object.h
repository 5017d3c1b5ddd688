// Values that are neither scalars, strings, lists nor dicts: what templates call, loop over and
// assign attributes to.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_value.h"

namespace hwtv::text::jinja {

class Iterator;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Object {
 public:
  virtual ~Object() = default;

  // Of nesting, as in Items: what this holds is torn down with it.  0 for what Runtime::retain
  // keeps.
  int depth = 0;

  virtual std::string_view type_name() const = 0;
  virtual std::string_view qualified_type_name() const { return type_name(); }
  virtual std::string repr(Runtime& runtime);
  virtual bool equals(const Object&) const { return false; }
  virtual bool truthy(Runtime& runtime);
  virtual std::optional<int64_t> length(Runtime&) { return std::nullopt; }  // none: no len()
  // Python's getattr() and obj[key]; missing where there is none.
  virtual Value attribute(Runtime&, std::string_view) { return {}; }
  virtual Value item(Runtime&, const Value&) { return {}; }
  virtual bool has_items() const { return false; }  // whether it can be indexed at all
  virtual std::shared_ptr<Iterator> iterate(std::shared_ptr<Object>) { return nullptr; }
  virtual bool callable() const { return false; }
  virtual Value call(Runtime&, const Arguments&);
  virtual bool hashable() const { return true; }
  // Lets go of all values, at the end of a rendering, so that no cycle of objects stays.
  virtual void forget() {}
};

class Iterator : public Object {
 public:
  // False at the end.
  virtual bool next(Runtime& runtime, Value& out) = 0;
  std::shared_ptr<Iterator> iterate(std::shared_ptr<Object> self) final;
};

// An iterator made of a function; what filters such as `map` give.
class Generator final : public Iterator {
 public:
  using Next = std::function<bool(Runtime&, Value&)>;
  explicit Generator(Next next, std::string_view type_name = "generator")
      : next_(std::move(next)), type_name_(type_name) {}
  std::string_view type_name() const override { return type_name_; }
  bool next(Runtime& runtime, Value& out) override { return next_(runtime, out); }

 private:
  Next next_;
  std::string_view type_name_;
};

// dict.items(), .keys(), .values().
class DictView final : public Object {
 public:
  enum class Part { items, keys, values };
  DictView(Value dict, Part part) : dict_(std::move(dict)), part_(part) {}
  std::string_view type_name() const override;
  std::string repr(Runtime& runtime) override;
  std::optional<int64_t> length(Runtime&) override;
  std::shared_ptr<Iterator> iterate(std::shared_ptr<Object>) override;
  bool hashable() const override { return part_ == Part::values; }
  const Dict& dict() const { return dict_.dict(); }
  Part part() const { return part_; }

 private:
  Value dict_;
  Part part_;
};

class Range final : public Object {
 public:
  Range(int64_t start, int64_t stop, int64_t step) : start_(start), stop_(stop), step_(step) {}
  std::string_view type_name() const override { return "range"; }
  std::string repr(Runtime&) override;
  bool equals(const Object& other) const override;
  std::optional<int64_t> length(Runtime&) override { return size(); }
  Value item(Runtime&, const Value& key) override;
  bool has_items() const override { return true; }
  std::shared_ptr<Iterator> iterate(std::shared_ptr<Object>) override;
  int64_t size() const;
  int64_t at(int64_t i) const { return start_ + i * step_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};

// namespace(...): the one thing a template can assign attributes to.
class Namespace final : public Object {
 public:
  explicit Namespace(std::shared_ptr<Dict> attributes) : attributes_(std::move(attributes)) {}
  std::string_view type_name() const override { return "Namespace"; }
  std::string_view qualified_type_name() const override { return "jinja2.utils.Namespace"; }
  std::string repr(Runtime& runtime) override;
  Value attribute(Runtime&, std::string_view name) override;
  void set(const std::string& name, Value value);
  void forget() override { attributes_ = std::make_shared<Dict>(nullptr); }

 private:
  std::shared_ptr<Dict> attributes_;
};

class Cycler final : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  std::string_view type_name() const override { return "Cycler"; }
  std::string_view qualified_type_name() const override { return "jinja2.utils.Cycler"; }
  Value attribute(Runtime& runtime, std::string_view name) override;

 private:
  std::vector<Value> items_;
  std::shared_ptr<size_t> at_ = std::make_shared<size_t>(0);
};

class Joiner final : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  std::string_view type_name() const override { return "Joiner"; }
  std::string_view qualified_type_name() const override { return "jinja2.utils.Joiner"; }
  bool callable() const override { return true; }
  Value call(Runtime& runtime, const Arguments&) override;

 private:
  Value separator_;
  bool used_ = false;
};

// A function of ours: a global, or a method bound to its receiver.
class Function final : public Object {
 public:
  using Body = std::function<Value(Runtime&, const Arguments&)>;
  Function(std::string name, Body body, std::string_view type = "builtin_function_or_method")
      : name_(std::move(name)), body_(std::move(body)), type_(type) {}
  std::string_view type_name() const override { return type_; }
  std::string repr(Runtime&) override { return "<built-in function " + name_ + ">"; }
  bool callable() const override { return true; }
  Value call(Runtime& runtime, const Arguments& arguments) override {
    return body_(runtime, arguments);
  }

 private:
  std::string name_;
  Body body_;
  std::string_view type_;
};

}  // namespace hwtv::text::jinja
