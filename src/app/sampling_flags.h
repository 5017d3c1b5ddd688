// The sampling flags that `run` and `chat` share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/sampling_params.h"

namespace hwtv::app {

struct SamplingFlags {
  engine::SamplingParams params;
  int64_t top_k = 0;
  std::vector<std::string> logit_bias;  // "TOKEN=BIAS"
};

std::vector<Option> sampling_flags(SamplingFlags& flags);

// Errors: invalid_request.  Ranges are checked by the engine.
Result<engine::SamplingParams> sampling_params(const SamplingFlags& flags);

}  // namespace hwtv::app
