// Tool calls whose arguments are a tree of tags: MiniMax M3.
#include <optional>
#include <string>
#include <utility>

#include "text/literal.h"
#include "text/segment_reader.h"

namespace hwtv::text {

namespace {
using nlohmann::json;

const json* child_schema(const json* schema, std::string_view key) {
  if (schema == nullptr || !schema->is_object()) return nullptr;
  if (key == "item" && schema->contains("items")) return &(*schema)["items"];
  const auto properties = schema->find("properties");
  if (properties == schema->end() || !properties->is_object()) return nullptr;
  const auto found = properties->find(std::string(key));
  return found == properties->end() ? nullptr : &*found;
}

bool is_type(const json* schema, std::string_view type) {
  return schema != nullptr && schema->is_object() && schema->contains("type") &&
         (*schema)["type"] == type;
}

// <key>value</key>... behind a prefix; a value is a leaf's text or such a list again.
class TreeReader {
 public:
  TreeReader(std::string_view text, std::string_view prefix) : text_(text), prefix_(prefix) {}

  struct Child {
    std::string key, json;
  };

  // The children up to the end, or up to the tag that closes their parent.
  template <typename Schema>
  bool children(std::vector<Child>& out, int depth, const Schema& schema_of) {
    constexpr int kDepthMax = 100;
    if (depth > kDepthMax) return false;
    for (std::string_view key; open(key);) {
      Child child{std::string(key), {}};
      if (!value(schema_of(key), child, depth)) return false;
      out.push_back(std::move(child));
    }
    return true;
  }

  bool at_end() const { return count_spaces(text_) == text_.size(); }

 private:
  // <key> after spaces.
  bool open(std::string_view& key) {
    const std::string_view rest = text_.substr(count_spaces(text_));
    if (!rest.starts_with(prefix_)) return false;
    const std::string_view tag = rest.substr(prefix_.size());
    const size_t end = tag.find('>');
    if (!tag.starts_with('<') || tag.starts_with("</") || end == std::string_view::npos) {
      return false;
    }
    key = tag.substr(1, end - 1);
    text_ = tag.substr(end + 1);
    return true;
  }

  bool close(std::string_view key) {
    const std::string_view rest = text_.substr(std::min(prefix_.size(), text_.size()));
    if (!text_.starts_with(prefix_) || !rest.starts_with("</")) return false;
    if (rest.substr(2, key.size()) != key || !rest.substr(2 + key.size()).starts_with('>')) {
      return false;
    }
    text_ = rest.substr(3 + key.size());
    return true;
  }

  bool value(const json* schema, Child& child, int depth) {
    std::vector<Child> inner;
    const auto schema_of = [&](std::string_view key) { return child_schema(schema, key); };
    if (!children(inner, depth + 1, schema_of)) return false;
    if (!inner.empty()) {
      text_.remove_prefix(count_spaces(text_));
      child.json = collection(inner, schema);
      return close(child.key);
    }
    const size_t end = text_.find(prefix_);
    if (end == std::string_view::npos) return false;
    const std::string_view leaf = text_.substr(0, end);
    text_.remove_prefix(end);
    const bool object = is_type(schema, "object"), array = is_type(schema, "array");
    if (leaf.empty() && (object || array)) {
      child.json = object ? "{}" : "[]";
    } else {
      child.json = bare_value_to_json(leaf, schema);
    }
    return close(child.key);
  }

  static std::string collection(const std::vector<Child>& children, const json* schema) {
    bool array = !is_type(schema, "object");
    for (const Child& child : children) array = array && child.key == "item";
    std::string out = array ? "[" : "{";
    for (const Child& child : children) {
      if (&child != &children.front()) out += ", ";
      if (!array) out += quote_json(child.key) + ": ";
      out += child.json;
    }
    return out + (array ? "]" : "}");
  }

  std::string_view text_, prefix_;
};

class TreeCalls final : public SegmentReader {
 public:
  TreeCalls(TreeCallMarks marks, const ToolTypes& tools) : marks_(marks), tools_(tools) {}

  Status read(AnswerInput& input, AnswerSink& sink) override {
    for (;;) {
      input.skip_spaces();
      const std::string_view text = input.unread();
      const Match closes = match(text, marks_.close);
      if (closes == Match::yes && n_calls_ > 0) {
        input.skip(marks_.close.size());
        return Status::done;
      }
      const Match opens = match(text, marks_.call_open);
      if (closes == Match::no && opens == Match::no) {
        return n_calls_ > 0 ? Status::done : Status::failed;
      }
      if (text.empty() && input.ended() && n_calls_ > 0) return Status::done;
      if (opens != Match::yes) return Status::more;
      const size_t end = input.find(marks_.call_close);
      if (end == std::string_view::npos) return Status::more;
      if (!take_call(text.substr(marks_.call_open.size(), end - marks_.call_open.size()), sink)) {
        input.skip(end);
        return Status::failed;
      }
      input.skip(end + marks_.call_close.size());
      input.commit();
    }
  }

 private:
  bool take_call(std::string_view text, AnswerSink& sink) {
    const size_t end = text.find("\">");
    if (end == std::string_view::npos) return false;
    const std::string name(text.substr(0, end));
    TreeReader reader(text.substr(end + 2), marks_.prefix);
    std::vector<TreeReader::Child> children;
    const auto schema_of = [&](std::string_view key) { return tools_.parameter(name, key); };
    if (!is_tool_name(name) || !reader.children(children, 0, schema_of) || !reader.at_end()) {
      return false;
    }
    std::string out;
    for (const auto& child : children) {
      out += (out.empty() ? "" : ", ") + quote_json(child.key) + ": " + child.json;
    }
    sink.begin_call(name, {});
    sink.arguments("{" + out + "}");
    sink.end_call(true);
    ++n_calls_;
    return true;
  }

  const TreeCallMarks marks_;
  const ToolTypes& tools_;
  size_t n_calls_ = 0;
};
}  // namespace

std::unique_ptr<SegmentReader> make_reader(const TreeCallMarks& marks, const ToolTypes& tools) {
  return std::make_unique<TreeCalls>(marks, tools);
}

}  // namespace hwtv::text
