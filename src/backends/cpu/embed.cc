#include "backends/cpu/step.h"
#include "base/check.h"

namespace hwtv::cpu {

void run(const ops::Embed& op, const Step& step) {
  const Weight& weight = step.executable.weight(op.weight);
  const int64_t width = weight.decl.width;
  float* const out = step.value(op.out);
  step.share(step.n_tokens(), width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int32_t token = step.input.tokens[static_cast<size_t>(row)];
      CHECK(token >= 0 && token < weight.decl.n_rows);
      read_row(weight, token, out + row * width);
    }
  });
}

}  // namespace hwtv::cpu
