// JSON in, as Python's json.loads reads it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/jinja_runtime.h"

namespace hwtv::text::jinja {

namespace {
// Builds the values straight from the parser's events: no second tree, and numbers keep their text.
class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return put(Value::none()); }
  bool boolean(bool b) override { return put(Value::boolean(b)); }
  bool number_integer(number_integer_t i) override { return put(Value::integer(i)); }
  bool number_unsigned(number_unsigned_t i) override {
    if (i > static_cast<number_unsigned_t>(INT64_MAX)) return put(Value::big(std::to_string(i)));
    return put(Value::integer(static_cast<int64_t>(i)));
  }
  bool number_float(number_float_t d, const string_t& text) override {
    const bool integer = text.find_first_of(".eE") == string_t::npos;
    return put(integer ? Value::big(text) : Value::real(d));
  }
  bool string(string_t& text) override { return put(Value::constant(std::move(text))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool key(string_t& name) override {
    open_.back().key = Value::constant(std::move(name));
    return true;
  }
  bool end_object() override {
    auto dict = std::move(open_.back().dict);
    open_.pop_back();
    return put(Value::dict(std::move(dict)));
  }
  bool end_array() override {
    std::vector<Value> values = std::move(open_.back().values);
    open_.pop_back();
    int depth = 1;
    for (const Value& value : values) depth = std::max(depth, value.depth() + 1);
    return put(Value::list(std::make_shared<Items>(std::move(values), depth, false, Charge())));
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem = fmt::format("is no JSON at byte {}", position);
    return false;
  }

  Value root;
  std::string problem;

 private:
  static constexpr size_t kDepthMax = 200;

  struct Open {                  // an array or object that is not closed yet
    std::shared_ptr<Dict> dict;  // null: an array
    Value key;
    std::vector<Value> values;
  };

  bool open(bool object) {
    if (open_.size() == kDepthMax) {
      problem = fmt::format("is nested deeper than {}", kDepthMax);
      return false;
    }
    open_.push_back({object ? std::make_shared<Dict>(nullptr) : nullptr, {}, {}});
    return true;
  }

  bool put(Value value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().dict != nullptr) {
      open_.back().dict->set(open_.back().key, std::move(value));
    } else {
      open_.back().values.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Open> open_;
};
}  // namespace

Result<Value> parse_json(std::string_view json, std::string_view what) {
  Reader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    return fail(ErrorCode::invalid_request,
                fmt::format("the chat template's {} {}", what, reader.problem),
                fmt::format("give the {} as JSON, not nested deeper than 200", what));
  }
  return std::move(reader.root);
}

}  // namespace hwtv::text::jinja
