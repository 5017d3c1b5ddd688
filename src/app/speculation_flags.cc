#include "app/speculation_flags.h"

#include <fmt/format.h>

namespace hwtv::app {

std::vector<Option> speculation_flags(SessionOptions& options) {
  options.speculate = "auto";
  return {
      {"--speculate",
       "MODE",
       "check guessed tokens, several to a step: auto (where it pays), off, lookup (what the text "
       "has already, always), or draft (what --draft says, always); the answer is the same "
       "(default auto)",
       &options.speculate,
       {"auto", "off", "lookup", "draft"}},
      {"--draft", "MODEL", "a smaller model with the same vocabulary, to guess what comes next",
       &options.draft},
      {"--draft-max", "N", "most guessed tokens of one step (default 15)", &options.draft_max},
  };
}

engine::SpeculationMode speculation_mode(const SessionOptions& options) {
  if (options.speculate == "auto") return engine::SpeculationMode::automatic;
  return options.speculate == "off" ? engine::SpeculationMode::off
                                    : engine::SpeculationMode::always;
}

bool looks_up(const SessionOptions& options) {
  return options.speculate == "auto" || options.speculate == "lookup";
}

namespace {

Result<void> check_draft(const SessionOptions& options) {
  if (options.speculate != "auto" && options.speculate != "draft")
    return fail(ErrorCode::invalid_request,
                fmt::format("--draft and --speculate {} exclude each other", options.speculate),
                "leave one of them out, or use --speculate draft");
  if (options.chunk <= options.n_seqs)
    return fail(
        ErrorCode::invalid_request,
        fmt::format("--chunk {} leaves a step no room for what --draft guesses", options.chunk),
        fmt::format("use --chunk {} or more, or leave --draft out", options.n_seqs + 1));
  return {};
}

}  // namespace

Result<void> give_up_guesses(SessionOptions& options) {
  if (!options.draft.empty() || (options.speculate != "auto" && options.speculate != "off"))
    return fail(ErrorCode::unsupported,
                "the model keeps a recurrent state, from which guessed tokens cannot be taken back",
                "leave --draft out, and use --speculate off");
  options.speculate = "off";
  return {};
}

Result<void> check_speculation(const SessionOptions& options) {
  if (!options.draft.empty()) HWTV_TRY_VOID(check_draft(options));
  if (options.draft.empty() && options.speculate == "draft")
    return fail(ErrorCode::invalid_request, "--speculate draft needs a draft model",
                "name a smaller one with the same vocabulary: --draft MODEL");
  if (options.speculate == "off") return {};
  if (options.draft_max >= 1 && options.draft_max <= kMostDraftTokens) return {};
  return fail(ErrorCode::invalid_request, fmt::format("--draft-max is {}", options.draft_max),
              fmt::format("use 1 to {}, or --speculate off", kMostDraftTokens));
}

}  // namespace hwtv::app
