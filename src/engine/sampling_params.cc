#include "engine/sampling_params.h"

#include <fmt/format.h>

#include <cmath>

namespace hwtv::engine {
namespace {

Result<void> check_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::invalid_request,
              fmt::format("{} is {}, outside {} to {}", name, value, low, high),
              fmt::format("give a value from {} to {}", low, high));
}

}  // namespace

Result<void> check_sampling_params(const SamplingParams& params, int64_t vocab_size) {
  HWTV_TRY_VOID(check_range("temperature", params.temperature, 0, 100));
  HWTV_TRY_VOID(check_range("top_k", params.top_k, 0, 1 << 30));
  HWTV_TRY_VOID(check_range("top_p", params.top_p, 0, 1));
  HWTV_TRY_VOID(check_range("min_p", params.min_p, 0, 1));
  HWTV_TRY_VOID(check_range("typical_p", params.typical_p, 0, 1));
  HWTV_TRY_VOID(check_range("repetition_penalty", params.repetition_penalty, 0.01, 100));
  HWTV_TRY_VOID(check_range("presence_penalty", params.presence_penalty, -100, 100));
  HWTV_TRY_VOID(check_range("frequency_penalty", params.frequency_penalty, -100, 100));
  for (const auto& [token, bias] : params.logit_bias) {
    if (token < 0 || token >= vocab_size)
      return fail(
          ErrorCode::invalid_request,
          fmt::format("logit_bias names token {}, the vocabulary has {}", token, vocab_size),
          fmt::format("use token ids from 0 to {}", vocab_size - 1));
    if (std::isnan(bias))
      return fail(ErrorCode::invalid_request,
                  fmt::format("logit_bias of token {} is not a number", token),
                  "give a number such as -100 or 5");
  }
  return {};
}

}  // namespace hwtv::engine
