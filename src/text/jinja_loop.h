// The `loop` of a for loop.
#pragma once
#include <memory>
#include <optional>

#include "text/jinja_interpreter.h"

namespace hwtv::text::jinja {

class LoopContext final : public Object {
 public:
  // `source` runs over `iterable`, or over what a filter leaves of it; then `iterable` has no
  // length.
  LoopContext(Interpreter& interpreter, const Loop& node, std::shared_ptr<Activation> outer,
              Value iterable, std::shared_ptr<Iterator> source, int64_t level)
      : interpreter_(interpreter),
        node_(node),
        outer_(std::move(outer)),
        iterable_(std::move(iterable)),
        source_(std::move(source)),
        depth0_(level) {}

  std::string_view type_name() const override { return "LoopContext"; }
  std::string_view qualified_type_name() const override { return "jinja2.runtime.LoopContext"; }
  std::string repr(Runtime& runtime) override;
  std::optional<int64_t> length(Runtime& runtime) override;
  Value attribute(Runtime& runtime, std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Runtime& runtime, const Arguments& arguments) override;
  void forget() override;

  // The next item; false at the end.
  bool next(Runtime& runtime, Value& out);

 private:
  const Value& peek(Runtime& runtime);  // missing at the end
  Value cycle(const Arguments& arguments) const;
  bool changed(Runtime& runtime, const Arguments& arguments);

  Interpreter& interpreter_;
  const Loop& node_;
  std::shared_ptr<Activation> outer_;
  Value iterable_;
  std::shared_ptr<Iterator> source_;
  int64_t depth0_;
  int64_t index0_ = -1;
  std::optional<int64_t> length_;
  Value before_, current_, after_, last_changed_;
};

}  // namespace hwtv::text::jinja
