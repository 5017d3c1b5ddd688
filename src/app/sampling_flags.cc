#include "app/sampling_flags.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

namespace hwtv::app {
namespace {

// "42=-1.5": token 42, bias -1.5.
Result<std::pair<int32_t, float>> parse_bias(const std::string& text) {
  char* end = nullptr;
  const long token = std::strtol(text.c_str(), &end, 10);
  if (end != text.c_str() && *end == '=' && token >= 0 &&
      token <= std::numeric_limits<int32_t>::max()) {
    const char* value = end + 1;
    const float bias = std::strtof(value, &end);
    if (end != value && *end == 0) return std::pair{static_cast<int32_t>(token), bias};
  }
  return fail(ErrorCode::invalid_request, fmt::format("--logit-bias {} is no TOKEN=BIAS", text),
              "write a token id and a number, such as 42=-1.5");
}

}  // namespace

std::vector<Option> sampling_flags(SamplingFlags& flags) {
  engine::SamplingParams& p = flags.params;
  return {
      {"--temp", "T", "temperature; 0 takes the likeliest token (default 0)", &p.temperature},
      {"--top-k", "K", "keep the K likeliest tokens (default: all)", &flags.top_k},
      {"--top-p", "P", "keep the likeliest tokens up to a mass of P (default 1)", &p.top_p},
      {"--min-p", "P", "drop tokens below P times the likeliest (default 0)", &p.min_p},
      {"--typical", "P", "keep the tokens of typical surprise up to a mass of P (default 1)",
       &p.typical_p},
      {"--repetition-penalty,--repeat-penalty", "R",
       "make tokens of prompt and answer less likely (default 1)", &p.repetition_penalty},
      {"--presence-penalty", "A", "subtract A from tokens the answer has (default 0)",
       &p.presence_penalty},
      {"--frequency-penalty", "A", "subtract A for each time the answer has a token (default 0)",
       &p.frequency_penalty},
      {"--logit-bias", "TOKEN=BIAS", "add BIAS to a token's logit; may be repeated",
       &flags.logit_bias},
      {"--seed", "N", "same seed, same text (default 0)", &p.seed},
  };
}

Result<engine::SamplingParams> sampling_params(const SamplingFlags& flags) {
  engine::SamplingParams params = flags.params;
  if (flags.top_k < 0 || flags.top_k > std::numeric_limits<int32_t>::max())
    return fail(ErrorCode::invalid_request, fmt::format("--top-k is {}", flags.top_k),
                "give --top-k a positive number, or leave it out");
  params.top_k = static_cast<int32_t>(flags.top_k);
  for (const std::string& text : flags.logit_bias) {
    HWTV_TRY(const auto bias, parse_bias(text));
    params.logit_bias.push_back(bias);
  }
  // Before a model is loaded; the engine checks the tokens against its vocabulary.
  HWTV_TRY_VOID(engine::check_sampling_params(params, std::numeric_limits<int32_t>::max()));
  return params;
}

}  // namespace hwtv::app
