// The flags of the commands that may guess tokens ahead.
#pragma once
#include <vector>

#include "app/command.h"
#include "app/session.h"

namespace hwtv::app {

// `options` outlives the table.  Speculation is on where it pays, for who offers the flags.
std::vector<Option> speculation_flags(SessionOptions& options);

// What --speculate asks for.  Requires: one of its choices.
engine::SpeculationMode speculation_mode(const SessionOptions& options);

// Whether prompt lookup makes guesses.
bool looks_up(const SessionOptions& options);

// For a model that guesses cannot be taken back from: turns them off.  Errors: unsupported, where
// they were asked for.
Result<void> give_up_guesses(SessionOptions& options);

// Errors: invalid_request, naming the flag, its value and its range.
Result<void> check_speculation(const SessionOptions& options);

}  // namespace hwtv::app
