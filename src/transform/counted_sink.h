// A sink that a job watches: it counts what was written, and stops where the job is cancelled.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "gguf/writer.h"

namespace hwtv::transform {

// Job has on_progress and is_cancelled, which may be empty.  Requires: all outlive the sink.
// Errors of the sink: cancelled; those of `sink`.
template <typename Job>
auto counted_sink(const Job& job, const std::string& path, const gguf::Writer::Sink& sink,
                  int64_t& done_bytes) {
  return [&](std::span<const std::byte> bytes) -> Result<void> {
    if (job.is_cancelled && job.is_cancelled())
      return fail(ErrorCode::cancelled, fmt::format("stopped; {} was not written", path));
    HWTV_TRY_VOID(sink(bytes));
    done_bytes += static_cast<int64_t>(bytes.size());
    if (job.on_progress) job.on_progress(done_bytes);
    return {};
  };
}

}  // namespace hwtv::transform
