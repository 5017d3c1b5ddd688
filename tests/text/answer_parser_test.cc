// The answer parser on written examples: each family's other ways to write a call, half calls,
// what is no call, and long hostile answers.
#include "text/answer_parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/text/parsed_answer.h"
#include "text/json_scanner.h"
#include "text/literal.h"

namespace hwtv::text {
namespace {

const char* const kTools = R"([
  {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
    "s": {"type": "string"}, "n": {"type": "integer"}, "maybe": {"type": ["string", "null"]}}}}},
  {"name": "g"}])";

const AnswerFormat& format_of(std::string_view marks) { return choose_answer_format(marks).format; }

// The same for pieces of 1, 2, 3 and 7 bytes.
ParsedAnswer parse(const AnswerFormat& format, std::string_view answer,
                   std::string_view prompt = "") {
  const ParsedAnswer whole = parse_in_pieces(format, prompt, kTools, answer, answer.size() + 1);
  for (const size_t n_bytes : {1, 2, 3, 7}) {
    EXPECT_TRUE(parse_in_pieces(format, prompt, kTools, answer, n_bytes) == whole)
        << answer << " in pieces of " << n_bytes;
  }
  return whole;
}

const AnswerFormat& hermes() { return format_of("<tool_call>"); }
const AnswerFormat& coder() { return format_of("<function= <parameter="); }
const AnswerFormat& mistral() { return format_of("[TOOL_CALLS]"); }
const AnswerFormat& llama3() { return format_of("{\"name\": function name, \"parameters\""); }
const AnswerFormat& harmony() { return format_of("<|channel|>analysis"); }

void expect_call(const ParsedAnswer& answer, std::string_view name, std::string_view arguments,
                 std::string_view id = "") {
  ASSERT_EQ(answer.calls.size(), 1u) << answer.content;
  EXPECT_EQ(answer.calls[0].name, name);
  EXPECT_EQ(answer.calls[0].arguments, arguments);
  EXPECT_EQ(answer.calls[0].id, id);
  EXPECT_TRUE(answer.calls[0].complete);
}

TEST(AnswerParser, LeavesPlainTextAsItIs) {
  const std::string text = "  a < b, <tool, [TOOL, {x} </think> \n\n é 你好 \n";
  for (const AnswerFormat* format : {&hermes(), &coder(), &mistral(), &llama3(), &harmony()}) {
    const ParsedAnswer answer = parse(*format, text);
    EXPECT_EQ(answer.content, text) << format->name;
    EXPECT_TRUE(answer.calls.empty());
  }
}

TEST(AnswerParser, SendsContentAndArgumentsAsTheyArrive) {
  AnswerParser parser(hermes(), "", kTools);
  ParsedAnswer answer;
  answer.add(parser.push("Hello <tool_"));
  EXPECT_EQ(answer.content, "Hello");
  answer.add(parser.push("call>{\"name\": \"f\", \"arguments\": {\"s\": \"ab"));
  ASSERT_EQ(answer.calls.size(), 1u);
  EXPECT_EQ(answer.calls[0].arguments, "{\"s\": \"ab");
  answer.add(parser.push("c\"}}</tool_call>"));
  EXPECT_TRUE(answer.calls[0].complete);
  answer.add(parser.finish());
  EXPECT_EQ(answer.content, "Hello");
}

TEST(AnswerParser, KeepsCharactersWhole) {
  AnswerParser parser(hermes(), "", "");
  EXPECT_TRUE(parser.push("\xE4\xBD").empty());
  const auto deltas = parser.push("\xA0");
  ASSERT_EQ(deltas.size(), 1u);
  EXPECT_EQ(deltas[0].text, "你");
}

TEST(AnswerParser, FindsReasoning) {
  ParsedAnswer answer = parse(hermes(), "<think>\nHm.\n</think>\n\nYes <think> no");
  EXPECT_EQ(answer.reasoning, "Hm.");
  EXPECT_EQ(answer.content, "Yes <think> no");
  answer = parse(hermes(), "Hm. </thin k></think>Yes", "<|im_start|>assistant\n<think>\n");
  EXPECT_EQ(answer.reasoning, "Hm. </thin k>");
  EXPECT_EQ(answer.content, "Yes");
  answer = parse(hermes(), "<think>cut o");
  EXPECT_EQ(answer.reasoning, "cut o");
  answer = parse(hermes(), "</think>\n\nYes </think>");
  EXPECT_EQ(answer.reasoning, "");
  EXPECT_EQ(answer.content, "Yes </think>");
  answer = parse(mistral(), "[THINK]a[/THINK]b");
  EXPECT_EQ(answer.reasoning, "a");
  EXPECT_EQ(answer.content, "b");
}

TEST(AnswerParser, ReadsWhatModelsWriteBesideTheirTemplates) {
  expect_call(parse(hermes(), "<tool_call>{\"arguments\": {\"s\": \"x\"}, \"name\": \"f\"}"), "f",
              "{\"s\": \"x\"}");  // the order, and the mark that is missing
  expect_call(parse(hermes(), "<tool_call>[{\"name\":\"g\",\"id\":\"1\"}]</tool_call>"), "g", "{}",
              "1");
  expect_call(parse(hermes(),
                    "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"s\\\": "
                    "\\\"\\\\u00fc\\\\ud83d\\\\ude42\\\"}\"}</tool_call>"),
              "f", "{\"s\": \"\\u00fc\\ud83d\\ude42\"}");
  expect_call(parse(coder(),
                    "<tool_call>\n<function=f>\n<parameter=n>\n3\n</parameter>\n"
                    "<parameter=s>\n4\n</parameter>\n</function>"),
              "f", "{\"n\": 3, \"s\": \"4\"}");
  expect_call(parse(coder(),
                    "<tool_call><function=f><parameter=s>a</parameter>b</parameter>"
                    "</function></tool_call>"),
              "f", "{\"s\": \"a</parameter>b\"}");
  expect_call(parse(coder(),
                    "<tool_call><function=f><parameter=maybe>null</parameter>"
                    "</function></tool_call>"),
              "f", "{\"maybe\": null}");
  expect_call(parse(mistral(), "[TOOL_CALLS]f[CALL_ID]abcdef123[ARGS]{\"n\": 1}"), "f",
              "{\"n\": 1}", "abcdef123");
  expect_call(
      parse(mistral(), "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}, \"id\": \"x1\"}]"), "f",
      "{}", "x1");
  expect_call(parse(llama3(), "{\"name\": \"f\", \"parameters\": {\"n\": 1}}"), "f", "{\"n\": 1}");
  expect_call(parse(llama3(), "<|python_tag|>f.call(s=\"a(b', \", n=3)"), "f",
              "{\"s\": \"a(b', \", \"n\": 3}");
  expect_call(parse(llama3(), "<|python_tag|>{\"name\": \"f\", \"parameters\": {}}"), "f", "{}");
  expect_call(parse(harmony(),
                    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
                    "{\"n\": 1}<|call|>"),
              "f", "{\"n\": 1}");
}

TEST(AnswerParser, KnowsTheIds) {
  expect_call(parse(format_of("<|tool_call_argument_begin|>"),
                    "<|tool_calls_section_begin|><|tool_call_begin|>functions.a.b:12"
                    "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"),
              "a.b", "{}", "functions.a.b:12");
  expect_call(parse(format_of("<|START_ACTION|>"),
                    "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"f\", "
                    "\"parameters\": {}}]<|END_ACTION|>"),
              "f", "{}", "0");
  expect_call(parse(format_of("<|tool_call:begin|>"),
                    "<|tool_calls|><|tool_call:begin|>x7<|tool_call:name|>f<|tool_call:args|>{}"
                    "<|tool_call:end|><|calls|>"),
              "f", "{}", "x7");
}

TEST(AnswerParser, ReadsChannels) {
  const ParsedAnswer answer =
      parse(harmony(),
            "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>commentary"
            "<|message|>I look.<|end|><|start|>assistant to=functions.f<|channel|>commentary json"
            "<|message|>{\"n\": 1}<|call|><|start|>assistant<|channel|>final<|message|>Done.");
  EXPECT_EQ(answer.reasoning, "Think.");
  EXPECT_EQ(answer.content, "I look.Done.");
  EXPECT_EQ(answer.calls.size(), 1u);
}

// What is no call comes back, marks and all.
TEST(AnswerParser, GivesBackWhatIsNoCall) {
  const std::pair<const AnswerFormat*, std::string> examples[] = {
      {&hermes(), "<tool_call>no JSON</tool_call>"},
      {&hermes(), "<tool_call>{\"name\": \"two words\", \"arguments\": {}}</tool_call>"},
      {&hermes(), "<tool_call>[1, 2]</tool_call>"},
      {&hermes(), "<tool_call>"},
      {&hermes(), "<tool_call>{\"name\": \"f"},
      {&hermes(), "a <tool_call><tool_call><tool_call>x"},
      {&coder(), "<tool_call>\n<function="},
      {&coder(), "<tool_call></tool_call>"},
      {&mistral(), "[TOOL_CALLS]f and so on"},
      {&mistral(), "[TOOL_CALLS]two words[ARGS]{}"},
      {&llama3(), "{\"temperature\": 21}"},
      {&llama3(), "{\"name\": \"Ann\", \"age\": 7}"},
      {&llama3(), "<|python_tag|>print(1 + 1)"},
      {&harmony(), " to= nobody in particular"},
      {&format_of("<|tool_call>call:"), "<|tool_call>call:f{s:<|\"|>a<tool_call|>"},
      {&format_of("<|tool_call>call:"), "<|tool_call>call:f{s}<tool_call|>"},
      {&format_of("]<]minimax[>["), "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">"},
  };
  for (const auto& [format, text] : examples) {
    const ParsedAnswer answer = parse(*format, text);
    EXPECT_EQ(answer.content, text) << format->name;
    EXPECT_TRUE(answer.calls.empty()) << text;
  }
}

TEST(AnswerParser, SaysThatHalfACallIsNotComplete) {
  for (const char* text : {"<tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"ab",
                           "<tool_call>{\"name\": \"f\", \"arguments\": {\"s\" x}}</tool_call>"}) {
    const ParsedAnswer answer = parse(hermes(), text);
    ASSERT_EQ(answer.calls.size(), 1u);
    EXPECT_TRUE(answer.calls[0].ended);
    EXPECT_FALSE(answer.calls[0].complete);
  }
  const ParsedAnswer answer =
      parse(coder(), "<tool_call><function=f><parameter=n>1</parameter><parameter=s>half");
  ASSERT_EQ(answer.calls.size(), 1u);
  EXPECT_FALSE(answer.calls[0].complete);
  EXPECT_EQ(answer.content, "<parameter=s>half");
  // A string that holds no JSON.
  const ParsedAnswer wrapped =
      parse(hermes(), "<tool_call>{\"name\": \"f\", \"arguments\": \"s=1\"}</tool_call>");
  ASSERT_EQ(wrapped.calls.size(), 1u);
  EXPECT_EQ(wrapped.calls[0].arguments, "s=1");
  EXPECT_FALSE(wrapped.calls[0].complete);
}

// Found by the fuzzer: what fails late, or with a header near the limit, must fail alike in pieces.
TEST(AnswerParser, FailsAlikeInPieces) {
  const std::string calls =
      "<|open|>call tool=\"f\" index=\"1\"<|sep|><|open|>json type=\"object\"<|sep|>{\"n ";
  parse(format_of("<|open|>"), calls + calls + "1}<|close|>json<|sep|><|close|>call<|sep|>");
  const std::string header = "<|channel|>commentary to=functions.f json<|message|>";
  EXPECT_EQ(parse(harmony(), header + "{\"s\"\x01" + header + "{}").calls.size(), 2u);
  EXPECT_EQ(parse(harmony(), header + "{\"s\" x").content, "x");
  for (size_t n = kHeaderBytesMax - 30; n < kHeaderBytesMax + 30; ++n) {
    parse(mistral(), "[TOOL_CALLS]" + std::string(n, 'f') + "[ARGS]{}");
  }
}

std::string repeated(std::string_view part, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += part;
  return out;
}

// Twice the text takes about twice the time; a search that starts again from the front would take
// minutes for these.
TEST(AnswerParser, IsLinearInTheLength) {
  constexpr size_t n = 40'000;
  const std::pair<const AnswerFormat*, std::string> hostile[] = {
      {&hermes(), repeated("<tool_call>", n)},
      {&hermes(), "<tool_call>" + repeated("[", n)},
      {&hermes(), "<tool_call>{\"name\":\"f\",\"arguments\":" + repeated("[", n)},
      {&hermes(), repeated("<", n) + repeated(" ", n)},
      {&hermes(), "<think>" + repeated("</think", n)},
      {&coder(), "<tool_call><function=f><parameter=s>" + repeated("</parameter>", n)},
      {&coder(), "<tool_call><function=f><parameter=s>" + repeated("<", 12 * n)},
      {&coder(), "<tool_call><function=f><parameter=s></parameter>" + repeated(" ", n)},
      {&coder(), repeated("<tool_call><function=", n)},
      {&coder(), repeated("<tool_call><function=f>", n)},
      {&mistral(), repeated("[TOOL_CALLS]", n)},
      {&llama3(), repeated("{\"name\":", n)},
      {&llama3(), "<|python_tag|>f(s=" + repeated("(", n)},
      {&llama3(), repeated("<|python_tag|>f(", n)},
      {&harmony(), repeated("<|channel|>", n)},
      {&harmony(), repeated(" to=", n)},
      {&format_of("<|tool_call>call:"), repeated("<|tool_call>call:f{<|\"|>", n)},
      {&format_of("]<]minimax[>["), "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">" +
                                        repeated("]<]minimax[>[<a>", n)},
      {&format_of("]<]minimax[>["),
       repeated("]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">", n)},
      {&format_of(">>> all"), repeated(">>>", n)},
  };
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [format, text] : hostile) {
    const ParsedAnswer whole = parse_in_pieces(*format, "", kTools, text, text.size());
    EXPECT_TRUE(parse_in_pieces(*format, "", kTools, text, 5) == whole)
        << format->name << text.substr(0, 40);
  }
  // It takes 0.4 s; a debug build with sanitizers on a busy machine, ten times that.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(JsonScanner, FindsTheEndOfAValue) {
  const auto read = [](std::string_view text) {
    JsonScanner scanner;
    const size_t n = scanner.read(text);
    return std::pair(scanner.status(), n);
  };
  using Status = JsonScanner::Status;
  EXPECT_EQ(read("{\"a\": [1, -2.5e3, \"}\\\"\", true, null, {}, []]} x"),
            std::pair(Status::done, size_t{45}));
  EXPECT_EQ(read("12]"), std::pair(Status::done, size_t{2}));
  EXPECT_EQ(read(" \"a").first, Status::more);
  for (const char* bad : {"{a", "[1,]", "{\"a\" 1", "01 ", "1. ", "[1 2", "\"\\x", "tru ", "]",
                          "\"\n", "{\"a\": 1]", "-a"}) {
    EXPECT_EQ(read(bad).first, Status::bad) << bad;
  }
}

TEST(Literal, BecomesJson) {
  const std::pair<const char*, const char*> examples[] = {
      {"{'a': (1, 'it\\'s', None, True), \"b\": {}}",
       "{\"a\": [1, \"it's\", null, true], \"b\": {}}"},
      {" -1.5 ", "-1.5"},
      {"'\\x41\\u00fc\\ud83d\\ude42\\d'", "\"Aü🙂\\\\d\""},
      {"(1,)", "[1]"},
  };
  for (const auto& [text, json] : examples) EXPECT_EQ(literal_to_json(text), json) << text;
  for (const char* none : {"", "abc", "1 2", "{'a'}", "[1", "'x", "{1: 2}", "nullable", "1_000"}) {
    EXPECT_EQ(literal_to_json(none), std::nullopt) << none;
  }
  EXPECT_EQ(literal_to_json(repeated("[", 100'000)), std::nullopt);
}

}  // namespace
}  // namespace hwtv::text
