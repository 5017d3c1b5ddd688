// The logits of given tokens' positions, one row after the other.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/session.h"

namespace hwtv::app {

// Rows computed in one step: 64 rows of a vocabulary of 150,000 take 38 MB.
inline constexpr int64_t kScoredChunk = 64;

// Requires: the session was opened with n_outputs > 1.  Errors: invalid_request (no tokens, more
// than the context), device_lost.
Result<void> for_each_prompt_row(Session& session, const std::vector<int32_t>& tokens,
                                 int64_t first_position, const engine::RowSink& on_row);

}  // namespace hwtv::app
