// What runs each op, one file per op.  Called by RefBackend::submit, in the order of the Program.
#pragma once
#include <cstdint>

#include "backends/ref/executable.h"
#include "base/thread_team.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::ref {

// What a kernel is given: the step's input, and where values, weights and caches are.
struct Step {
  ThreadTeam& team;
  RefExecutable& executable;
  const ops::StepInput& input;

  float* value(ops::ValueId id) const { return executable.value(id); }
  const Weight& weight(ops::WeightId id) const { return executable.weight(id); }
  int64_t width(ops::ValueId id) const { return executable.program().value(id).width; }
  int64_t n_rows(ops::ValueId id) const {
    return static_cast<int64_t>(executable.program().value(id).rows == ops::Rows::n_tokens
                                    ? input.tokens.size()
                                    : input.output_rows.size());
  }
};

void run(const ops::Embed& op, const Step& step);
void run(const ops::RmsNorm& op, const Step& step);
void run(const ops::LayerNorm& op, const Step& step);
void run(const ops::MatMul& op, const Step& step);
void run(const ops::Rope& op, const Step& step);
void run(const ops::KvWrite& op, const Step& step);
void run(const ops::Attention& op, const Step& step);
void run(const ops::Glu& op, const Step& step);
void run(const ops::Activate& op, const Step& step);
void run(const ops::Add& op, const Step& step);
void run(const ops::Softcap& op, const Step& step);
void run(const ops::SigmoidGate& op, const Step& step);
void run(const ops::Pick& op, const Step& step);
void run(const ops::L2Norm& op, const Step& step);
void run(const ops::CausalConv& op, const Step& step);
void run(const ops::DeltaGates& op, const Step& step);
void run(const ops::DeltaNet& op, const Step& step);
void run(const ops::Route& op, const Step& step);
void run(const ops::ExpertMatMul& op, const Step& step);
void run(const ops::ExpertSum& op, const Step& step);
void run(const ops::Lora& op, const Step& step);
void run(const ops::SelectOutputs& op, const Step& step);

}  // namespace hwtv::ref
