#include "transform/pre_tokenizer_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "base/quoted.h"
#include "transform/json_file.h"

namespace hwtv::transform {
namespace {

using Json = nlohmann::json;

// What stands for a step that has no expression of its own.
constexpr std::string_view kDigit = "<each digit>";
constexpr std::string_view kGpt2 = "<the words of gpt-2>";

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define REST "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define REST_WITH_SLASH "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BEFORE_WORD "[^\\r\\n\\p{L}\\p{N}]?"

constexpr std::string_view kLlama3 = CONTRACTION "|" WORD "|\\p{N}{1,3}" REST;

struct Known {
  std::vector<std::string_view> steps;
  std::string_view name;
  std::string_view name_ignoring_merges;  // where a word that is a token is taken whole
};

const std::vector<Known>& table() {
  static const std::vector<Known> kTable = {
      {{kGpt2}, "gpt-2", "gpt-2"},
      {{kDigit, kGpt2}, "smollm", "smollm"},
      {{kLlama3}, "dbrx", "llama-bpe"},
      {{CONTRACTION "|" WORD "|\\p{N}" REST}, "qwen2", "qwen2"},
      {{BEFORE_WORD UPPER "*" LOWER "+|" BEFORE_WORD UPPER "+" LOWER "*|\\p{N}" REST_WITH_SLASH},
       "tekken",
       "tekken"},
      {{BEFORE_WORD UPPER "*" LOWER "+" CONTRACTION "?|" BEFORE_WORD UPPER "+" LOWER "*" CONTRACTION
                          "?|\\p{N}{1,3}" REST_WITH_SLASH},
       "gpt-4o",
       "gpt-4o"},
  };
  return kTable;
}

bool flag(const Json& object, std::string_view key, bool otherwise) {
  const Json* value = json_member(object, key);
  return value && value->is_boolean() ? value->get<bool>() : otherwise;
}

// One step in words; empty where it cuts nothing.  Errors: unsupported.
Result<std::string> step_of(const std::string& path, const Json& step) {
  const std::string type = json_text(step, "type");
  const auto odd = [&](std::string_view what) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: its pre_tokenizer has a step {}", path, hwtv::quoted(what)),
                "name the one that cuts text alike with --pre NAME");
  };
  if (type == "ByteLevel") {
    if (flag(step, "add_prefix_space", true)) return odd("ByteLevel with add_prefix_space");
    return std::string(flag(step, "use_regex", true) ? kGpt2 : "");
  }
  if (type == "Digits")
    return flag(step, "individual_digits", false) ? Result<std::string>(std::string(kDigit))
                                                  : odd("Digits of several digits");
  if (type != "Split") return odd(type.empty() ? "null" : type);
  // Keeping the pieces between the matches' opposite is keeping the matches.
  const std::string behavior = json_text(step, "behavior");
  const bool is_inverted = flag(step, "invert", false);
  if (!(behavior == "Isolated" && !is_inverted) && !(behavior == "Removed" && is_inverted))
    return odd(fmt::format("Split, {}", behavior));
  const Json* pattern = json_member(step, "pattern");
  std::string expression = pattern ? json_text(*pattern, "Regex") : std::string();
  if (expression.empty()) return odd("Split by a fixed text");
  return expression;
}

Result<std::vector<std::string>> steps_of(const std::string& path, const Json& tokenizer) {
  std::vector<std::string> steps;
  const Json none;
  const Json* pre_tokenizer = json_member(tokenizer, "pre_tokenizer");
  if (!pre_tokenizer) pre_tokenizer = &none;
  const Json* sequence = json_member(*pre_tokenizer, "pretokenizers");
  const Json one = Json::array({*pre_tokenizer});
  for (const Json& step : sequence && sequence->is_array() ? *sequence : one) {
    HWTV_TRY(std::string text, step_of(path, step));
    if (!text.empty()) steps.push_back(std::move(text));
  }
  return steps;
}

}  // namespace

Result<std::string> pre_tokenizer_name(const std::string& path, const Json& tokenizer) {
  HWTV_TRY(const std::vector<std::string> steps, steps_of(path, tokenizer));
  const Json* model = json_member(tokenizer, "model");
  const bool ignores_merges = model && flag(*model, "ignore_merges", false);
  for (const Known& known : table())
    if (std::ranges::equal(known.steps, steps))
      return std::string(ignores_merges ? known.name_ignoring_merges : known.name);
  std::string names;
  for (const std::string_view name : recognised_pre_tokenizers())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return fail(
      ErrorCode::unsupported,
      fmt::format("{}: its pre_tokenizer of {} step{} is not one that is known, last {}", path,
                  steps.size(), steps.size() == 1 ? "" : "s",
                  hwtv::quoted(steps.empty() ? "" : steps.back())),
      fmt::format("known are {}; name the one that cuts text alike with --pre NAME", names));
}

std::vector<std::string_view> recognised_pre_tokenizers() {
  std::vector<std::string_view> names;
  for (const Known& known : table()) {
    names.push_back(known.name);
    if (known.name_ignoring_merges != known.name) names.push_back(known.name_ignoring_merges);
  }
  return names;
}

}  // namespace hwtv::transform
