#include "text/answer_format.h"

#include <algorithm>

namespace hwtv::text {

namespace {
using Parts = HeaderCallMarks::Parts;

const ReasoningMarks kThink = {"<think>", "</think>"};

const AnswerFormat kPlain = {"plain", {kThink}, {}, {}};

const AnswerFormat kHermes = {
    "hermes", {kThink}, {{"<tool_call>", JsonCallMarks{"</tool_call>"}}}, {}};

const AnswerFormat kToolCallsList = {
    "tool-calls-list",
    {kThink, {"Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]"}},
    {{"<tool_calls>", JsonCallMarks{"</tool_calls>"}}},
    {}};

const AnswerFormat kNemotron2 = {
    "nemotron-v2", {kThink}, {{"<TOOLCALL>", JsonCallMarks{"</TOOLCALL>"}}}, {}};

const AnswerFormat kGranite3 = {
    "granite-3", {kThink}, {{"<|tool_call|>", JsonCallMarks{}}}, {"<response>", "</response>"}};

const AnswerFormat kLlama3 = {"llama-3",
                              {},
                              {{"<|python_tag|>", PythonCallMarks{"", true, true}},
                               {"{", JsonCallMarks{.close = "", .known_names = true}, true, true}},
                              {}};

const AnswerFormat kFirefunction = {
    "firefunction", {}, {{"functools[", JsonCallMarks{.close = "]"}}}, {}};

const AnswerFormat kGigaChat3 = {
    "gigachat-3",
    {},
    {{"<|message_sep|>\n\nfunction call<|role_sep|>\n", JsonCallMarks{}},
     {"<|function_call|>", JsonCallMarks{}}},
    {"<|message_sep|>"}};

const AnswerFormat kCommandR7b = {
    "command-r7b",
    {{"<|START_THINKING|>", "<|END_THINKING|>"}},
    {{"<|START_ACTION|>", JsonCallMarks{"<|END_ACTION|>"}}},
    {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"}};

const AnswerFormat kCommandRPlus = {
    "command-r-plus", {}, {{"Action:", JsonCallMarks{.close = "```", .lead = "```json"}}}, {}};

const AnswerFormat kApertus = {
    "apertus",
    {{"<|inner_prefix|>", "<|inner_suffix|>"}},
    {{"<|tools_prefix|>", JsonCallMarks{.close = "<|tools_suffix|>", .keyed = true}}},
    {}};

const AnswerFormat kMistral = {"mistral",
                               {{"[THINK]", "[/THINK]"}, kThink},
                               {{"[TOOL_CALLS]", HeaderCallMarks{.name_end = "[ARGS]",
                                                                 .close = "",
                                                                 .parts = Parts::name_id,
                                                                 .between = "[CALL_ID]",
                                                                 .or_json = true}}},
                               {}};

const AnswerFormat kDeepSeekR1 = {
    "deepseek-r1",
    {kThink},
    {{"<｜tool▁call▁begin｜>", HeaderCallMarks{.name_end = "\n```json\n",
                                               .close = "```",
                                               .parts = Parts::type_name,
                                               .between = "<｜tool▁sep｜>"}}},
    {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"}};

const AnswerFormat kDeepSeekV31 = {
    "deepseek-v3.1",
    {kThink},
    {{"<｜tool▁call▁begin｜>", HeaderCallMarks{"<｜tool▁sep｜>", "<｜tool▁call▁end｜>"}}},
    {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"}};

const AnswerFormat kKimiK2 = {
    "kimi-k2",
    {kThink},
    {{"<|tool_call_begin|>",
      HeaderCallMarks{"<|tool_call_argument_begin|>", "<|tool_call_end|>", Parts::numbered}}},
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"}};

const AnswerFormat kSolar = {
    "solar",
    {{"<|think|>", "<|end|>"}},
    {{"<|tool_call:begin|>", HeaderCallMarks{"<|tool_call:args|>", "<|tool_call:end|>",
                                             Parts::id_name, "<|tool_call:name|>"}}},
    {"<|begin|>assistant", "<|content|>", "<|end|>", "<|tool_calls|>", "<|calls|>"}};

const AnswerFormat kFunctionary31 = {"functionary-3.1",
                                     {},
                                     {{"<function=", HeaderCallMarks{">", "</function>"}},
                                      {"<|python_tag|>", PythonCallMarks{"", false, true}}},
                                     {}};

const AnswerFormat kFunctionary32 = {
    "functionary-3.2",
    {},
    {{">>>", HeaderCallMarks{.name_end = "\n", .close = "", .all_is_content = true}}},
    {}};

const ParameterCallMarks kCoderMarks = {.call_open = "<function=",
                                        .name_end = ">",
                                        .parameter_open = "<parameter=",
                                        .key_end = ">",
                                        .value_open = "",
                                        .value_close = "</parameter>",
                                        .call_close = "</function>",
                                        .section_close = "</tool_call>",
                                        .newlines = true};

const AnswerFormat kQwenCoder = {"qwen3-coder", {kThink}, {{"<tool_call>", kCoderMarks}}, {}};

const AnswerFormat kSeed = {
    "seed-oss",
    {{"<seed:think>", "</seed:think>"}},
    {{"<seed:tool_call>", ParameterCallMarks{"<function=", ">", "<parameter=", ">", "",
                                             "</parameter>", "</function>", "</seed:tool_call>"}}},
    {}};

const AnswerFormat kMiniMaxM2 = {
    "minimax-m2",
    {kThink},
    {{"<minimax:tool_call>",
      ParameterCallMarks{"<invoke name=\"", ">", "<parameter name=\"", ">", "", "</parameter>",
                         "</invoke>", "</minimax:tool_call>"}}},
    {}};

ParameterCallMarks dsml_marks(std::string_view section_close) {
  return {"<｜DSML｜invoke name=\"",
          ">",
          "<｜DSML｜parameter name=\"",
          ">",
          "",
          "</｜DSML｜parameter>",
          "</｜DSML｜invoke>",
          section_close};
}

const AnswerFormat kDeepSeekV32 = {
    "deepseek-v3.2",
    {kThink},
    {{"<｜DSML｜function_calls>", dsml_marks("</｜DSML｜function_calls>")},
     {"<｜DSML｜tool_calls>", dsml_marks("</｜DSML｜tool_calls>")}},
    {}};

const AnswerFormat kMiniCpm5 = {
    "minicpm-5",
    {kThink},
    {{"<function name=\"", ParameterCallMarks{.call_open = "",
                                              .name_end = ">",
                                              .parameter_open = "<param name=\"",
                                              .key_end = ">",
                                              .value_open = "",
                                              .value_close = "</param>",
                                              .call_close = "</function>",
                                              .section_close = "",
                                              .cdata = true}}},
    {}};

const AnswerFormat kGlm = {
    "glm-4.5",
    {kThink},
    {{"<tool_call>", ParameterCallMarks{"", "", "<arg_key>", "</arg_key>", "<arg_value>",
                                        "</arg_value>", "</tool_call>", ""}}},
    {}};

const AnswerFormat kHunyuan3 = {
    "hunyuan-3",
    {{"<think:opensource>", "</think:opensource>"}},
    {{"<tool_call:opensource>",
      ParameterCallMarks{"", "<tool_sep:opensource>", "<arg_key:opensource>",
                         "</arg_key:opensource>", "<arg_value:opensource>",
                         "</arg_value:opensource>", "</tool_call:opensource>", ""}}},
    {"<tool_calls:opensource>", "</tool_calls:opensource>"}};

const AnswerFormat kKimiK3 = {
    "kimi-k3",
    {{"<|open|>think<|sep|>", "<|close|>think<|sep|>"}},
    {{"<|open|>call tool=\"", ParameterCallMarks{.call_open = "",
                                                 .name_end = "<|sep|>",
                                                 .parameter_open = "<|open|>argument key=\"",
                                                 .key_end = "<|sep|>",
                                                 .value_open = "",
                                                 .value_close = "<|close|>argument<|sep|>",
                                                 .call_close = "<|close|>call<|sep|>",
                                                 .section_close = "",
                                                 .json_open = "<|open|>json type=\"object\"<|sep|>",
                                                 .json_close = "<|close|>json<|sep|>"}}},
    {"<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|open|>tools<|sep|>",
     "<|close|>tools<|sep|>", "<|close|>message<|sep|>"}};

const AnswerFormat kLfm2 = {
    "lfm-2", {kThink}, {{"<|tool_call_start|>", PythonCallMarks{"<|tool_call_end|>"}}}, {}};

const AnswerFormat kGemma4 = {"gemma-4",
                              {{"<|channel>thought\n", "<channel|>"}},
                              {{"<|tool_call>", QuoteMarkCallMarks{"<|\"|>", "<tool_call|>"}}},
                              {}};

const AnswerFormat kMiniMaxM3 = {
    "minimax-m3",
    {{"<mm:think>", "</mm:think>"}},
    {{"]<]minimax[>[<tool_call>",
      TreeCallMarks{"]<]minimax[>[", "]<]minimax[>[<invoke name=\"", "]<]minimax[>[</invoke>",
                    "]<]minimax[>[</tool_call>"}}},
    {}};

const AnswerFormat kHarmony = {"harmony",
                               {{"", "<|end|>"}},
                               {{"<|channel|>", MessageMarks{"<|message|>", true}, false, true},
                                {" to=", MessageMarks{"<|message|>", true}, true, true}},
                               {"<|start|>assistant", "<|end|>", "<|call|>", "<|return|>"}};

const AnswerFormat kMuse = {
    "muse",
    {{"", "<|eom|>"}},
    {{" to=", MessageMarks{"<|message|>"}, true, true},
     {"<atem:function_calls>",
      ParameterCallMarks{"<atem:invoke name=\"", ">", "<atem:parameter name=\"", ">", "",
                         "</atem:parameter>", "</atem:invoke>", "</atem:function_calls>"}}},
    {"<|start|>assistant", "<|message|>", "<|eom|>"}};

// The first row whose texts all stand in the template decides.  A format that shares its marks with
// another stands before it if its own texts are rarer.
struct Row {
  std::vector<std::string_view> texts;
  const AnswerFormat& format;
  std::string_view reason;
};

const Row kRows[] = {
    {{"<|channel|>analysis"}, kHarmony, "messages have channels, analysis among them"},
    {{"<atem:invoke"}, kMuse, "calls stand in <atem:invoke>"},
    {{"<|tool_call>call:"}, kGemma4, "calls begin with <|tool_call>call:"},
    {{"<|open|>"}, kKimiK3, "elements begin with <|open|>"},
    {{"<|tool_call_argument_begin|>"},
     kKimiK2,
     "arguments begin with <|tool_call_argument_begin|>"},
    {{"<|tool_call:begin|>"}, kSolar, "calls begin with <|tool_call:begin|>"},
    {{"]<]minimax[>["}, kMiniMaxM3, "tags stand behind ]<]minimax[>["},
    {{"minimax:tool_call"}, kMiniMaxM2, "calls stand in <minimax:tool_call>"},
    {{":opensource", "tool_sep"}, kHunyuan3, "marks end in :opensource"},
    {{"｜DSML｜"}, kDeepSeekV32, "marks are DSML's"},
    {{"tool▁sep", "```json"}, kDeepSeekR1, "arguments stand in a ```json fence behind tool▁sep"},
    {{"tool▁sep"}, kDeepSeekV31, "arguments stand behind tool▁sep"},
    {{"seed:tool_call"}, kSeed, "calls stand in <seed:tool_call>"},
    {{"<function name=\"", "<param name=\""}, kMiniCpm5, "calls are <function> with <param>"},
    {{"<function=", "<parameter="}, kQwenCoder, "calls are <function=> with <parameter=>"},
    {{"<function="}, kFunctionary31, "calls are <function=> with JSON"},
    {{">>>", "all"}, kFunctionary32, "recipients stand behind >>>"},
    {{"<arg_key>"}, kGlm, "arguments are <arg_key> and <arg_value>"},
    {{"<|tools_prefix|>"}, kApertus, "calls begin with <|tools_prefix|>"},
    {{"<|tool_list_start|>"}, kLfm2, "tools are listed behind <|tool_list_start|>"},
    {{"<|tool_call_start|>"}, kLfm2, "calls begin with <|tool_call_start|>"},
    {{"List of tools: [", "keep_past_thinking"}, kLfm2, "tools are listed as LFM2.5 lists them"},
    {{"<|START_ACTION|>"}, kCommandR7b, "calls begin with <|START_ACTION|>"},
    {{"Action:", "```json", "tool_name"}, kCommandRPlus, "calls stand behind Action:"},
    {{"<|function_call|>"}, kGigaChat3, "calls begin with <|function_call|>"},
    {{"function call", "role_sep"}, kGigaChat3, "calls are messages of the role function call"},
    {{"<TOOLCALL>"}, kNemotron2, "calls stand in <TOOLCALL>"},
    {{"[TOOL_CALLS]"}, kMistral, "calls begin with [TOOL_CALLS]"},
    {{"<|tool_call|>"}, kGranite3, "calls begin with <|tool_call|>"},
    {{"functools["}, kFirefunction, "calls begin with functools["},
    {{"{\"name\": function name, \"parameters\""}, kLlama3, "a call is one bare JSON object"},
    {{"<|python_tag|>"}, kLlama3, "calls of built-in tools begin with <|python_tag|>"},
    {{"<tool_calls>"}, kToolCallsList, "calls stand in <tool_calls>"},
    {{"[BEGIN FINAL RESPONSE]"}, kToolCallsList, "reasoning ends with [BEGIN FINAL RESPONSE]"},
    {{"<tool_call>"}, kHermes, "calls stand in <tool_call>"},
};
}  // namespace

FormatChoice choose_answer_format(std::string_view chat_template) {
  for (const Row& row : kRows) {
    const bool all = std::all_of(row.texts.begin(), row.texts.end(), [&](std::string_view text) {
      return chat_template.find(text) != std::string_view::npos;
    });
    if (all) return {row.format, row.reason};
  }
  return {kPlain, "the template has no marks of tool calls that are known"};
}

}  // namespace hwtv::text
