// How a model family writes its answers: the marks around reasoning, and the grammar of tool calls.
// The formats are facts about models; the table in answer_format.cc knows a family by its chat
// template.
#pragma once
#include <string_view>
#include <variant>
#include <vector>

namespace hwtv::text {

// Text between two marks that is reasoning.  An empty `open`: only a message's header opens it.
struct ReasoningMarks {
  std::string_view open, close;
};

// JSON objects with a name, arguments and perhaps an id: one, several, or a list of them.
struct JsonCallMarks {
  std::string_view close;      // empty: the value's own end
  std::string_view lead = {};  // may stand before the value
  bool keyed = false;          // {"the name": {the arguments}}
  bool known_names = false;    // an object that names no tool at hand is content
};

// A name and perhaps an id as text, then the arguments as one JSON value.
struct HeaderCallMarks {
  enum class Parts { name, name_id, id_name, type_name, numbered };
  std::string_view name_end;
  std::string_view close;         // empty: the value's own end
  Parts parts = Parts::name;      // numbered: the id functions.NAME:0 holds the name
  std::string_view between = {};  // the parts of a header of two
  bool or_json = false;           // a `[` or `{` instead of a name: as JsonCallMarks
  bool all_is_content = false;    // the name `all` stands before content
};

// A name, then each argument between marks of its own.
struct ParameterCallMarks {
  std::string_view call_open;  // empty: the call begins where the section does
  std::string_view name_end;   // empty: before the next `<`
  std::string_view parameter_open, key_end;
  std::string_view value_open;  // empty: the value follows its key
  std::string_view value_close, call_close;
  std::string_view section_close;  // empty: one call
  bool newlines = false;           // one at each end of a value belongs to the marks
  bool cdata = false;              // a value may stand in <![CDATA[ ]]>
  std::string_view json_open = {}, json_close = {};  // instead of parameters: one JSON value
};

// name(key=value, ...), perhaps as a list; values as Python writes them.
struct PythonCallMarks {
  std::string_view close;  // empty: the end of the answer
  bool method = false;     // NAME.call(...) is a call of NAME
  bool or_json = false;    // a `{` instead of a name: as JsonCallMarks
};

// call:NAME{key:value,...} with a mark of its own for quotes.
struct QuoteMarkCallMarks {
  std::string_view quote, close;
};

// Arguments as a tree of tags, each behind the same prefix.
struct TreeCallMarks {
  std::string_view prefix;
  std::string_view call_open, call_close;  // the name and `">` stand behind the first
  std::string_view close;
};

// A message's header, which says to whom it goes: reasoning, a call, or content.
struct MessageMarks {
  std::string_view header_end;
  bool json_calls = false;  // the body of a call is its arguments
};

using SegmentMarks = std::variant<JsonCallMarks, HeaderCallMarks, ParameterCallMarks,
                                  PythonCallMarks, QuoteMarkCallMarks, TreeCallMarks, MessageMarks>;

// Text that begins with `open` and is read by rules of its own.
struct Segment {
  std::string_view open;
  SegmentMarks marks;
  bool at_start = false;   // only where nothing but spaces came before it
  bool keep_open = false;  // `open` is part of what is read
};

struct AnswerFormat {
  std::string_view name;
  std::vector<ReasoningMarks> reasoning;
  std::vector<Segment> segments;
  std::vector<std::string_view> structure;  // marks that carry no text
};

struct FormatChoice {
  const AnswerFormat& format;
  std::string_view reason;  // one line
};

// The format of a chat template's family.  An unknown template's answers are content, with
// reasoning between <think> and </think>.
FormatChoice choose_answer_format(std::string_view chat_template);

}  // namespace hwtv::text
