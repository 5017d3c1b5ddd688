// The documented exit codes: one for each kind of failure.
#pragma once
#include "base/error.h"

namespace hwtv::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // a check that was asked for did not hold

// 2 invalid_request, 3 unsupported, 4 corrupt_file, 5 io, 6 out_of_memory, 7 device_lost,
// 130 cancelled (as shells report Ctrl-C).
int exit_code(ErrorCode code);

}  // namespace hwtv::app
