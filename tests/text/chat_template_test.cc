// The chat templates' interface and limits, and Jinja's semantics in examples whose results were
// checked against jinja2 once.  make_template_cases.py compares with jinja2 itself.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace hwtv::text {
namespace {

ChatTemplateInput input_of(std::string messages = "[]") {
  ChatTemplateInput input;
  input.messages_json = std::move(messages);
  input.special_tokens = {{"bos_token", "<s>"}};
  return input;
}

Result<std::string> render(std::string_view source, const ChatTemplateInput& input = input_of(),
                           const ChatTemplateLimits& limits = {}) {
  HWTV_TRY(const ChatTemplate parsed, ChatTemplate::parse(source));
  return parsed.render(input, limits);
}

std::string text_of(std::string_view source, const ChatTemplateInput& input = input_of()) {
  const auto text = render(source, input);
  return text ? *text : "error: " + text.error().what;
}

constexpr std::string_view kChatMl =
    "{% for message in messages %}\n"
    "  {{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}\n";

TEST(ChatTemplate, RendersAConversation) {
  const std::vector<ChatMessage> messages = {{"system", "Be \"brief\"."}, {"user", " Grüße\n"}};
  ChatTemplateInput input = input_of(messages_to_json(messages));
  EXPECT_EQ(text_of(kChatMl, input),
            "<|im_start|>system\nBe \"brief\".<|im_end|>\n"
            "<|im_start|>user\nGrüße<|im_end|>\n<|im_start|>assistant\n");
  input.add_generation_prompt = false;
  EXPECT_TRUE(text_of(kChatMl, input).ends_with("Grüße<|im_end|>\n"));
}

TEST(ChatTemplate, SeesItsVariables) {
  ChatTemplateInput input = input_of();
  EXPECT_EQ(text_of("{{ bos_token }}{{ eos_token }}{{ tools }}{{ documents }}", input),
            "<s>NoneNone");
  input.tools_json = R"([{"name": "f", "maximum": 18446744073709551615, "x": 1e-7}])";
  input.extra_json = R"({"bos_token": "<b>", "enable_thinking": false})";
  EXPECT_EQ(text_of("{{ bos_token }}{{ enable_thinking }}{{ tools|tojson }}", input),
            "<b>False[{\"name\": \"f\", \"maximum\": 18446744073709551615, \"x\": 1e-07}]");
}

TEST(ChatTemplate, TellsTheTimeItIsGiven) {
  ChatTemplateInput input = input_of();
  input.now.tm_year = 126;
  input.now.tm_mon = 6;
  input.now.tm_mday = 4;
  EXPECT_EQ(text_of("{{ strftime_now('%d %b %Y') }}", input), "04 Jul 2026");
}

TEST(ChatTemplate, ErrorsNameThePlaceAndTheTemplatesMessage) {
  const auto refused = render("a\n  {{ raise_exception('Roles must alternate') }}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_request);
  EXPECT_EQ(refused.error().what, "chat template, line 2 column 21: Roles must alternate");
  EXPECT_EQ(render("é{{ 'ü' + x.y }}").error().what,
            "chat template, line 1 column 12: 'x' is undefined");
  EXPECT_EQ(render("{% if x %}\n{% endfor %}").error().what,
            "chat template, line 2 column 4: Encountered unknown tag 'endfor'.");
  EXPECT_EQ(render("{{ 'a' }").error().what, "chat template, line 1 column 8: unexpected '}'");
}

TEST(ChatTemplate, RefusesWhatIsNoConversation) {
  EXPECT_EQ(render("x", input_of("[1")).error().code, ErrorCode::invalid_request);
  EXPECT_EQ(render("x", input_of("")).error().code, ErrorCode::invalid_request);
  EXPECT_FALSE(render("x", input_of(std::string(100000, '['))));
  ChatTemplateInput input = input_of();
  input.extra_json = "[]";
  EXPECT_EQ(render("x", input).error().code, ErrorCode::invalid_request);
  EXPECT_EQ(render("caf\xE9").error().what, "the chat template is no UTF-8 at byte 3");
  EXPECT_EQ(render("{% include 'x' %}").error().code, ErrorCode::unsupported);
  EXPECT_EQ(render(std::string(2 << 20, 'x')).error().code, ErrorCode::unsupported);
}

TEST(ChatTemplate, ReplacesBytesOfATokenThatAreNoText) {
  ChatTemplateInput input = input_of();
  input.special_tokens["bos_token"] = "a\xFFz";
  EXPECT_EQ(text_of("{{ bos_token }}", input), "a\xEF\xBF\xBDz");
}

struct Example {
  const char* source;
  const char* expected;
};

TEST(Jinja, ControlsWhitespace) {
  const Example examples[] = {
      {"  {% if true %}\n  a\n  {% endif %}\nb", "  a\nb"},
      {"a \n {%- if true -%} \n b {%- endif %} c", "ab c"},
      {"x\n  {%+ if true +%}\ny{% endif %}", "x\n  \ny"},
      {"{# c #}\n{{ 1 }}\n\n", "1\n"},
      {"a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
  };
  for (const auto& [source, expected] : examples) EXPECT_EQ(text_of(source), expected) << source;
}

TEST(Jinja, ScopesVariablesAsPythonFunctionsWould) {
  const Example examples[] = {
      {"{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", "231"},
      {"{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x "
       "}}",
       "3"},
      {"{% macro m() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{% set x = 2 %}{{ m() }}",
       "12"},
      // The assignment makes it the template's own name, unset so far, in the loop as well.
      {"{% for i in [1] %}{{ bos_token }}{% endfor %}{% set bos_token = 'x' %}{{ bos_token }}",
       "x"},
      {"{% macro m(a, b=a) %}{{ caller(a ~ b) }}{% endmacro %}{% call(c) m(1) %}<{{ c }}>{% "
       "endcall %}",
       "<11>"},
  };
  for (const auto& [source, expected] : examples) EXPECT_EQ(text_of(source), expected) << source;
}

TEST(Jinja, PrintsAsPythonDoes) {
  const Example examples[] = {
      {"{{ [1, 'it\\'s', none, true, 2.0, 1e16, 'ü\\n', {'a': (1,)}] }}",
       "[1, \"it's\", None, True, 2.0, 1e+16, 'ü\\n', {'a': (1,)}]"},
      {"{{ 7 // -2 }} {{ -7 % 3 }} {{ 1 / 2 }} {{ 2 ** -1 }} {{ 0.1 + 0.2 }}",
       "-4 2 0.5 0.5 0.30000000000000004"},
      {"{{ 'Straße ΑΣ'.upper() }} {{ 'ΑΣ'|lower }} {{ \"they're\".title() }}",
       "STRASSE ΑΣ ας They'Re"},
      {"{{ {'b': '<é>', 'a': [1.0]}|tojson }} {{ {'a': []}|tojson(indent=2) }}",
       "{\"b\": \"<é>\", \"a\": [1.0]} {\n  \"a\": []\n}"},
      {"{{ 'é😀x'[1] }}{{ 'é😀x'[::-1] }}{{ 'é😀x'|length }}", "😀x😀é3"},
      {"{{ '%05.1f|%-4s|%x' % (3.14159, 'a', 255) }} {{ '{:>4}{b!r}'.format(1, b='c') }}",
       "003.1|a   |ff    1'c'"},
      {"{{ 2.5|round }} {{ 2.675|round(2) }} {{ '3.9'|int }}", "2.0 2.67 3"},
  };
  for (const auto& [source, expected] : examples) EXPECT_EQ(text_of(source), expected) << source;
}

TEST(Jinja, LetsMacrosCallThemselves) {
  EXPECT_EQ(
      text_of(
          "{% macro m(n) %}{% if n > 0 %}{% for i in [n] %}{{ '(' ~ m(i - 1) ~ ')' }}{% endfor %}"
          "{% endif %}{% endmacro %}{{ m(60)|length }}"),
      "120");
}

TEST(Jinja, KeepsTheSandbox) {
  EXPECT_EQ(text_of("{{ [].append is defined }}{{ {}.get is defined }}"), "FalseTrue");
  EXPECT_TRUE(text_of("{{ [].append(1) }}")
                  .ends_with("access to attribute 'append' of 'list' object is unsafe."));
  EXPECT_TRUE(text_of("{{ ''.__class__.mro }}").starts_with("error"));
  EXPECT_TRUE(text_of("{{ range(100001) }}").starts_with("error"));
}

// Each of these would hang, or eat the memory or the stack, if nothing stopped it.
TEST(Jinja, StopsHostileTemplates) {
  const char* const hostile[] = {
      "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
      "{{ 'x' * 10 ** 12 }}",
      "{{ [1] * 10 ** 12 }}",
      "{{ 'x'.center(10 ** 12) }}{{ '%1000000000d' % 1 }}",
      "{{ '{:1000000000}'.format(1) }}",
      "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% "
      "endfor %}",
      "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% "
      "endfor %}",
      "{% set n = namespace(s='ab') %}{% for i in range(99) %}{% set n.s = n.s.replace('', n.s) "
      "%}{% endfor %}",
      "{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = [n.l, n.l] %}{% endfor "
      "%}{{ n.l }}",
      "{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = [n.l, n.l] %}{% endfor "
      "%}{{ n.l|tojson }}",
      "{% set n = namespace(l=[1], m=[1]) %}{% for i in range(99) %}{% set n.l = [n.l, n.l] %}"
      "{% set n.m = [n.m, n.m] %}{% endfor %}{{ n.l == n.m }}",
      "{% set n = namespace(l=[1]) %}{% for i in range(9999) %}{% set n.l = [n.l] %}{% endfor %}",
      "{% set n = namespace(l=[1]) %}{% for i in range(9999) %}{% set n.l = n.l|map('string') %}{% "
      "endfor %}{{ n.l|list }}",
      "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m() %}{{ caller() }}{% endmacro %}{% macro k() %}{% call m() %}{{ k() }}{% endcall "
      "%}{% endmacro %}{{ k() }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}",
      "{{ [1]|tojson(indent=10 ** 12) }}",
      "{{ 9223372036854775807 + 1 }}",
      "{{ -9223372036854775807 * 2 }}",
      "{{ 7 ** 99 }}",
      "{{ [1]|batch(10 ** 10, 0)|list }}",
      "{{ range(10)|slice(10 ** 10)|list }}",
      "{{ strftime_now('%Y' * 100000) }}",
  };
  const ChatTemplateLimits limits{500'000, size_t{32} << 20, size_t{8} << 20};
  for (const char* source : hostile) {
    EXPECT_FALSE(render(source, input_of(), limits).has_value()) << source;
  }
}

TEST(Jinja, StopsDeepTemplates) {
  const auto repeated = [](std::string_view part, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += part;
    return out;
  };
  EXPECT_FALSE(render("{{ " + repeated("(", 100000)));
  EXPECT_FALSE(render("{{ " + repeated("[", 100000)));
  EXPECT_FALSE(render("{{ " + repeated("not ", 100000) + "1 }}"));
  EXPECT_FALSE(render("{{ " + repeated("-", 100000) + "1 }}"));
  EXPECT_FALSE(render("{{ 1" + repeated(" + 1", 100000) + " }}"));
  EXPECT_FALSE(render("{{ x" + repeated(".x", 100000) + " }}"));
  EXPECT_FALSE(render("{{ x" + repeated("|list", 100000) + " }}"));
  EXPECT_FALSE(render("{{ 1" + repeated(" if 1 else 1", 50000) + " }}"));
  EXPECT_FALSE(render(repeated("{% if 1 %}", 90000)));
  EXPECT_EQ(text_of("{{ 1" + repeated(" + 1", 400) + " }}"), "401");
  EXPECT_EQ(text_of("{{ '" + repeated("a' ~ '", 5000) + "' }}"), std::string(5000, 'a'));
}

TEST(Jinja, HoldsToTheLimitsItIsGiven) {
  const ChatTemplateLimits few_steps{100, 1 << 20, 1 << 20}, small{1 << 20, 4096, 1 << 20},
      short_output{1 << 20, 1 << 20, 8};
  EXPECT_EQ(render("{% for i in range(999) %}{% endfor %}", input_of(), few_steps).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(render("{{ ('x' * 5000)|length }}", input_of(), small).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(*render("12345678", input_of(), short_output), "12345678");
  EXPECT_EQ(render("123456789", input_of(), short_output).error().code, ErrorCode::unsupported);
}

TEST(ChatTemplate, RendersOnSeveralThreadsAtOnce) {
  const auto parsed = ChatTemplate::parse(
      "{% macro m(x) %}{{ x|upper }}{% endmacro %}{% for m_ in messages %}{{ m(m_.content) }}{{ "
      "'c' }}"
      "{% endfor %}");
  ASSERT_TRUE(parsed);
  const ChatTemplateInput input = input_of(R"([{"content": "a"}, {"content": "b"}])");
  std::vector<std::string> texts(4);
  {
    std::vector<std::jthread> threads;
    for (auto& text : texts) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) text = parsed->render(input).value_or("");
      });
    }
  }
  for (const auto& text : texts) EXPECT_EQ(text, "AcBc");
}

TEST(ChatTemplate, RendersALongConversationWithFewSteps) {
  std::vector<ChatMessage> messages;
  for (int i = 0; i < 100; ++i) {
    messages.push_back({i % 2 == 0 ? "user" : "assistant", std::string(500, 'x')});
  }
  const ChatTemplateLimits limits{20'000, size_t{4} << 20, size_t{1} << 20};
  EXPECT_TRUE(render(kChatMl, input_of(messages_to_json(messages)), limits));
}

}  // namespace
}  // namespace hwtv::text
