// Renders chat templates for make_template_cases.py: one JSON job a line on stdin, one JSON answer
// a line on stdout.  A job has `template`, and as its JSON texts `messages`, `tools`, `documents`,
// `extra`; `special_tokens`, `add_generation_prompt` and `now` (seconds since 1970, UTC).  An
// answer has `text`, or `error`.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template.h"

namespace {
using nlohmann::json;

json render(const json& job) {
  const auto parsed = hwtv::text::ChatTemplate::parse(job.at("template").get<std::string>());
  if (!parsed) return {{"error", parsed.error().what}};
  hwtv::text::ChatTemplateInput input;
  input.messages_json = job.at("messages");
  input.tools_json = job.value("tools", "");
  input.documents_json = job.value("documents", "");
  input.extra_json = job.value("extra", "");
  input.add_generation_prompt = job.value("add_generation_prompt", false);
  input.special_tokens = job.value("special_tokens", std::map<std::string, std::string>());
  const std::time_t now = job.value("now", std::time_t{0});
  gmtime_r(&now, &input.now);
  const auto text = parsed->render(input);
  if (!text) return {{"error", text.error().what}};
  return {{"text", *text}};
}
}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << render(json::parse(line)).dump() << "\n" << std::flush;
  }
}
