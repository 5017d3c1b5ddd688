// Steps and op spans as a trace that ui.perfetto.dev and chrome://tracing open.  Called by app.
#pragma once
#include <string>
#include <vector>

#include "observe/step_record.h"

namespace hwtv::observe {

// A JSON document in the Trace Event format: steps on one track, ops on the track below, each with
// its bytes, operations and rates.  `process` names the whole: "hwtv run SmolLM2".
std::string trace_document(const std::string& process, const std::vector<StepRecord>& steps,
                           const std::vector<OpSpan>& spans);

}  // namespace hwtv::observe
