#include "app/speculation_flags.h"

#include <fmt/format.h>

namespace hwtv::app {

std::vector<Option> speculation_flags(SessionOptions& options) {
  options.speculate = "auto";
  return {
      {"--speculate",
       "MODE",
       "check guessed tokens, several to a step: auto (where it pays), off, or lookup (what the "
       "text has already, always); the answer is the same (default auto)",
       &options.speculate,
       {"auto", "off", "lookup"}},
      {"--draft-max", "N", "most guessed tokens of one step (default 15)", &options.draft_max},
  };
}

engine::SpeculationMode speculation_mode(const SessionOptions& options) {
  if (options.speculate == "auto") return engine::SpeculationMode::automatic;
  return options.speculate == "off" ? engine::SpeculationMode::off
                                    : engine::SpeculationMode::always;
}

Result<void> check_speculation(const SessionOptions& options) {
  if (options.speculate == "off") return {};
  if (options.draft_max >= 1 && options.draft_max <= kMostDraftTokens) return {};
  return fail(ErrorCode::invalid_request, fmt::format("--draft-max is {}", options.draft_max),
              fmt::format("use 1 to {}, or --speculate off", kMostDraftTokens));
}

}  // namespace hwtv::app
