// Every chat template of the peer that knows tools renders calls; the parser that its text chooses
// gives them back, whatever the pieces they arrive in.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/text/parsed_answer.h"
#include "tests/text/peer_files.h"
#include "text/answer_format.h"
#include "text/chat_template.h"

namespace hwtv::text {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

const char* const kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "The weather.",
   "parameters": {"type": "object", "properties": {
     "city": {"type": "string", "description": "Where"},
     "code": {"type": "string", "description": "As in \"007\""},
     "days": {"type": "integer", "description": "How many"},
     "exact": {"type": "boolean", "description": "To the point"},
     "ratio": {"type": "number", "description": "Of what"},
     "list": {"type": "array", "items": {"type": "string"}, "description": "Names"},
     "deep": {"type": "object", "description": "More",
      "additionalProperties": {"type": "string"}, "properties": {
       "a": {"type": "array", "items": {"type": "integer"}},
       "b": {"type": "object", "properties": {}}}}},
     "required": ["city"]}}},
  {"type": "function", "function": {"name": "ping", "description": "Says pong",
   "parameters": {"type": "object", "properties": {}, "required": []}}}])";

// Templates that render no call; their models' answers as they were written by hand.
struct Written {
  const char* reason;
  const char* one_call;
};
const std::map<std::string, Written> kNotRendered = {
    {"Kimi-K2-Instruct",
     {"with tools the sandbox refuses it: list.append",
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
      "<|tool_call_argument_begin|>$ARGUMENTS<|tool_call_end|><|tool_calls_section_end|>"}},
    {"Kimi-K2-Thinking",
     {"with tools the sandbox refuses it: list.append",
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
      "<|tool_call_argument_begin|>$ARGUMENTS<|tool_call_end|><|tool_calls_section_end|>"}},
    {"LFM2-8B-A1B",
     {"lists tools, renders no calls",
      "<|tool_call_start|>[get_weather(city=\"x\", days=3)]<|tool_call_end|>"}},
    {"LFM2.5-Instruct",
     {"lists tools, renders no calls",
      "<|tool_call_start|>[get_weather(city=\"x\", days=3)]<|tool_call_end|>"}},
    {"ibm-granite-granite-3.3-2B-Instruct",
     {"lists tools, renders no calls",
      "<|tool_call|>[{\"name\": \"get_weather\", \"arguments\": $ARGUMENTS}]"}},
};

// What a template renders in a way that no parser can take apart as it was meant.
struct Exception {
  std::string name, what;  // the case's name begins so
  const char* reason;
};
const Exception kExceptions[] = {
    {"NVIDIA-Nemotron-Nano-v2", "content", "<think> is opened in front of it and never closed"},
    {"NVIDIA-Nemotron-Nano-v2", "reasoning", "as above"},
    {"openai-gpt-oss-120b", "content, call", "content before a call is rendered as reasoning"},
    {"LFM2.5-8B-A1B", "marks in a string", "quotes in a string are not escaped"},
};

bool is_exception(const std::string& name, const std::string& what) {
  for (const Exception& one : kExceptions) {
    if (one.name == name && what.starts_with(one.what)) return true;
  }
  return false;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(" \n") + 1 - first);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Case {
  std::string content, reasoning;
  std::vector<std::pair<std::string, ordered_json>> calls;
};

// Where the model's turn ends; what follows, a template renders for the next turn.
const char* const kTurnEnds[] = {"<|im_end|>",
                                 "</s>",
                                 "<|END_OF_TURN_TOKEN|>",
                                 "<|START_OF_TURN_TOKEN|>",
                                 "<|eot_id|>",
                                 "<|eom_id|>",
                                 "<seed:eos>",
                                 "[e~[",
                                 "<end_of_sentence>",
                                 "<|role_end|>",
                                 "</assistant>",
                                 "<turn|>",
                                 "<sep>",
                                 "<|tool_response>",
                                 "<SPECIAL_12>",
                                 "<|end_of_msg|>",
                                 "<|eot|>",
                                 "\n<|end|>\n",
                                 "<｜end▁of▁sentence｜>",
                                 "<|end_of_text|>",
                                 "<｜hy_eos:opensource｜>",
                                 "<|assistant_end|>"};

struct Rendered {
  std::string prompt, answer;
};

class Templates : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = peer_models_folder();
    if (!folder) GTEST_SKIP() << "no cache: `make peer-source` fills it";
    for (const auto& file : std::filesystem::directory_iterator(*folder + "/templates")) {
      if (file.path().extension() == ".jinja") sources_[file.path().stem()] = read_file(file);
    }
    ASSERT_GE(sources_.size(), 70u);
  }

  std::map<std::string, std::string> sources_;
};

ordered_json message_of(const Case& one, bool text_arguments, bool null_content) {
  ordered_json message = {{"role", "assistant"}, {"content", one.content}};
  if (null_content && one.content.empty()) message["content"] = nullptr;
  if (!one.reasoning.empty()) {
    for (const char* field : {"reasoning_content", "thinking", "reasoning"}) {
      message[field] = one.reasoning;
    }
  }
  int number = 1;
  for (const auto& [name, arguments] : one.calls) {
    ordered_json function = {{"name", name}, {"arguments", arguments}};
    if (text_arguments) function["arguments"] = arguments.dump();
    message["tool_calls"].push_back({{"id", "call0000" + std::to_string(number++)},
                                     {"type", "function"},
                                     {"function", function}});
  }
  return message;
}

ChatTemplateInput input_of(const ordered_json& messages, bool tools, bool prompt) {
  ChatTemplateInput input;
  input.messages_json = messages.dump();
  if (tools) input.tools_json = kTools;
  input.add_generation_prompt = prompt;
  input.special_tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  const json functions = {{"functions", kTools}, {"datetime", "now"}};
  input.extra_json = functions.dump();
  return input;
}

Rendered cut(Rendered rendered) {
  for (const char* end : kTurnEnds) {
    rendered.answer.resize(std::min(rendered.answer.find(end), rendered.answer.size()));
  }
  return rendered;
}

// Does the prompt end in a mark that the history, which is the same for n bytes, lacks?
bool opens_reasoning(const std::string& prompt, const std::string& whole, size_t n) {
  const std::string mark = trimmed(prompt.substr(n));
  return !mark.empty() && whole.find(mark, n) == std::string::npos;
}

// The prompt, and what the template renders for the model's turn; nullopt: it refuses.
std::optional<Rendered> render(const ChatTemplate& chat_template, const ordered_json& message,
                               bool tools) {
  ordered_json messages = {{{"role", "user"}, {"content", "Q"}}};
  const auto prompt = chat_template.render(input_of(messages, tools, true));
  messages.push_back(message);
  const auto whole = chat_template.render(input_of(messages, tools, false));
  if (!prompt || !whole) return std::nullopt;
  size_t n = 0;
  while (n < prompt->size() && n < whole->size() && (*prompt)[n] == (*whole)[n]) ++n;
  // Where both go on differently, back to the last mark's end.
  if (n < prompt->size()) n = prompt->find_last_of(">]\n:", n == 0 ? 0 : n - 1) + 1;
  // Some templates leave out of the history what opened the reasoning.
  if (message.contains("thinking") && opens_reasoning(*prompt, *whole, n)) {
    return cut({*prompt, whole->substr(n)});
  }
  // Or put something in between: go on behind what both end and begin with.
  size_t n_begun = std::min(prompt->size(), whole->size()) - n;
  while (n < prompt->size() && n_begun > 0 && !prompt->ends_with(whole->substr(n, n_begun))) {
    --n_begun;
  }
  const bool mark = !trimmed(whole->substr(n, n_begun)).empty();
  if (n < prompt->size() && mark) return cut({*prompt, whole->substr(n + n_begun)});
  return cut({prompt->substr(0, n), whole->substr(n)});
}

// Does the answer hold all that the case has?
bool holds(const Rendered& rendered, const Case& one) {
  const auto has = [&](const std::string& text) {
    return rendered.answer.find(text) != std::string::npos;
  };
  bool all = has(one.content) && has(one.reasoning);
  for (const auto& [name, arguments] : one.calls) all = all && has(name);
  return all;
}

std::optional<Rendered> render_any(const std::string& source, const Case& one) {
  const auto chat_template = ChatTemplate::parse(source);
  if (!chat_template) return std::nullopt;
  for (const bool tools : {true, false}) {
    for (const bool text_arguments : {false, true}) {
      for (const bool null_content : {false, true}) {
        const auto rendered =
            render(*chat_template, message_of(one, text_arguments, null_content), tools);
        if (rendered && holds(*rendered, one)) return rendered;
      }
    }
  }
  return std::nullopt;
}

std::string difference(const ParsedAnswer& parsed, const Case& one) {
  // Spaces around what is said are the template's.
  if (trimmed(parsed.content) != one.content) return "content: " + parsed.content;
  if (trimmed(parsed.reasoning) != one.reasoning) return "reasoning: " + parsed.reasoning;
  if (parsed.calls.size() != one.calls.size()) {
    return "calls: " + std::to_string(parsed.calls.size());
  }
  for (size_t i = 0; i < one.calls.size(); ++i) {
    const ParsedCall& call = parsed.calls[i];
    if (call.name != one.calls[i].first) return "name: " + call.name;
    if (!call.complete) return "not complete: " + call.arguments;
    const json arguments = json::parse(call.arguments, nullptr, false);
    if (arguments != json::parse(one.calls[i].second.dump())) {
      return "arguments: " + call.arguments;
    }
  }
  return "";
}

// Pieces of every size give what the whole gives, and that is the case.
void expect_same(const std::string& name, const AnswerFormat& format, const Rendered& rendered,
                 const Case& one) {
  const ParsedAnswer whole =
      parse_in_pieces(format, rendered.prompt, kTools, rendered.answer, rendered.answer.size() + 1);
  EXPECT_EQ(difference(whole, one), "")
      << name << " (" << format.name << "): " << rendered.answer << "\nprompt ends: "
      << rendered.prompt.substr(rendered.prompt.size() -
                                std::min<size_t>(rendered.prompt.size(), 60));
  for (size_t n_bytes = 1; n_bytes <= rendered.answer.size(); ++n_bytes) {
    const auto parsed = parse_in_pieces(format, rendered.prompt, kTools, rendered.answer, n_bytes);
    ASSERT_TRUE(parsed == whole) << name << " in pieces of " << n_bytes << ": " << rendered.answer
                                 << "\ncontent " << parsed.content;
  }
}

const ordered_json kSimple = {{"city", "Zürich"}, {"days", 3}};
const ordered_json kNested = {{"city", "北京 🙂"},
                              {"code", "007"},
                              {"days", -3},
                              {"exact", true},
                              {"ratio", 0.5},
                              {"list", {"a", "b c", "1"}},
                              {"deep", {{"a", {1, 2}}, {"b", ordered_json::object()}}}};
const ordered_json kMarks = {
    {"city",
     "a \"q\" 'r' \\ <b> </tool_call> <tool_call> {\"x\": [1]} [TOOL_CALLS] <function=f> </think> "
     "é\nsecond line {} ) ] } end"},
    {"days", 1}};

std::map<std::string, Case> cases() {
  return {{"one call", {"", "", {{"get_weather", kSimple}}}},
          {"no arguments", {"", "", {{"ping", ordered_json::object()}}}},
          {"nested", {"", "", {{"get_weather", kNested}}}},
          {"marks in a string", {"", "", {{"get_weather", kMarks}}}},
          {"two calls", {"", "", {{"get_weather", kNested}, {"ping", ordered_json::object()}}}},
          {"content, call", {"Let me look: é.", "", {{"get_weather", kSimple}}}},
          {"reasoning, call", {"", "Hm, tools.\nYes.", {{"get_weather", kSimple}}}},
          {"reasoning, content, calls",
           {"I look.", "Hm.", {{"get_weather", kSimple}, {"get_weather", kNested}}}},
          {"content", {"Hello <b> & \"you\".\n\nSecond {1} paragraph: 你好", "", {}}},
          {"reasoning, content", {"Done.", "Step 1.\n\nStep 2.", {}}}};
}

TEST_F(Templates, GiveTheirCallsBack) {
  size_t n_formats = 0;
  std::map<std::string, std::set<std::string>> rendered_by;
  for (const auto& [name, source] : sources_) {
    const AnswerFormat& format = choose_answer_format(source).format;
    if (format.segments.empty()) continue;
    ++n_formats;
    for (const auto& [what, one] : cases()) {
      if (is_exception(name, what)) continue;
      const auto rendered = render_any(source, one);
      if (!rendered) continue;
      rendered_by[what].insert(name);
      expect_same(name + ", " + what, format, *rendered, one);
    }
    EXPECT_EQ(kNotRendered.contains(name), !rendered_by["one call"].contains(name)) << name;
  }
  // How many of the 66 templates with tools render such a case; one that stops would go unseen.
  const std::map<std::string, size_t> rendered = {{"one call", 61},
                                                  {"no arguments", 61},
                                                  {"nested", 61},
                                                  {"two calls", 55},
                                                  {"marks in a string", 60},
                                                  {"content, call", 44},
                                                  {"content", 65},
                                                  {"reasoning, call", 27},
                                                  {"reasoning, content", 24},
                                                  {"reasoning, content, calls", 22}};
  EXPECT_EQ(n_formats, 66u);
  for (const auto& [what, n] : rendered) EXPECT_EQ(rendered_by[what].size(), n) << what;
}

TEST_F(Templates, WithoutRenderedCallsAreParsedAsTheirModelsWrite) {
  for (const auto& [name, written] : kNotRendered) {
    ASSERT_TRUE(sources_.contains(name)) << name;
    const AnswerFormat& format = choose_answer_format(sources_[name]).format;
    std::string answer = written.one_call;
    const bool nested = answer.find("$ARGUMENTS") != std::string::npos;
    if (nested) answer.replace(answer.find("$ARGUMENTS"), 10, kMarks.dump());
    const ordered_json arguments = nested ? kMarks : ordered_json{{"city", "x"}, {"days", 3}};
    expect_same(name, format, {"", answer}, {"", "", {{"get_weather", arguments}}});
  }
}

// The list is empty: no template's tool calls are left unparsed.
TEST_F(Templates, WithToolsAllHaveAFormat) {
  const std::set<std::string> no_tools = {"google-gemma-2-2b-it", "microsoft-Phi-3.5-mini-instruct",
                                          "llama-cpp-rwkv-world", "HuggingFaceTB-SmolLM3-3B"};
  for (const auto& [name, source] : sources_) {
    const auto [format, reason] = choose_answer_format(source);
    EXPECT_EQ(format.segments.empty(), no_tools.contains(name)) << name << ": " << reason;
    EXPECT_FALSE(reason.empty());
  }
}

}  // namespace
}  // namespace hwtv::text
