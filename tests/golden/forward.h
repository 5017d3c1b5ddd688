// Runs a prompt through a model on a backend and gives the logits of chosen rows, or an encoder's
// embeddings.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "model/model.h"
#include "ops/backend.h"

namespace hwtv::golden {

struct ForwardOptions {
  int64_t chunk_tokens = 1 << 20;  // tokens of one step
  DType kv_dtype = DType::F32;
};

using Logits = std::vector<std::vector<float>>;  // one for each row: (vocab_size) or (model_dim)

inline Result<Logits> forward(ops::Backend& backend, const model::Model& model,
                              std::span<const int32_t> prompt, std::span<const int32_t> rows,
                              const ForwardOptions& options = {}) {
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  const int64_t chunk = std::min(options.chunk_tokens, n_prompt);
  ops::Limits limits;
  limits.n_tokens_max = chunk;
  limits.n_outputs_max = chunk;
  limits.context_tokens_max = n_prompt;
  limits.k_dtype = limits.v_dtype = options.kv_dtype;
  const int64_t n_blocks = (n_prompt + limits.kv_block_tokens - 1) / limits.kv_block_tokens;
  const size_t n_groups = model.program().kv_groups.size();
  limits.n_kv_blocks.assign(n_groups, n_blocks);
  HWTV_TRY_VOID(backend.spec().supports(model.program(), limits));

  std::vector<ops::WeightHandle> weights;
  for (size_t i = 0; i < model.program().weights.size(); ++i) {
    const auto bytes = model.weight_bytes(static_cast<ops::WeightId>(i));
    HWTV_TRY(const auto weight, backend.import(model.program().weights[i], bytes, {}));
    weights.push_back(weight);
  }
  HWTV_TRY(const auto executable, backend.prepare(model.program(), limits, weights));

  // Blocks in reverse: a backend that took positions for places would show.
  std::vector<int32_t> table;
  for (int64_t block = n_blocks; block-- > 0;) table.push_back(static_cast<int32_t>(block));
  const std::vector<std::span<const int32_t>> tables(n_groups, table);

  Logits logits;
  for (int64_t first = 0; first < n_prompt; first += chunk) {
    const int64_t n = std::min(chunk, n_prompt - first);
    const ops::SliceInput slice{.n_tokens = n, .first_position = first, .block_tables = tables};
    std::vector<int32_t> output_rows;
    for (const int32_t row : rows)
      if (row >= first && row < first + n) output_rows.push_back(row - static_cast<int32_t>(first));
    const ops::StepInput input{
        .tokens = prompt.subspan(static_cast<size_t>(first), static_cast<size_t>(n)),
        .slices = {&slice, 1},
        .output_rows = output_rows};
    const ops::Ticket ticket = backend.submit(*executable, input);
    HWTV_TRY(const ops::StepResult result, backend.wait(*executable, ticket));
    const ops::Program& program = model.program();
    const auto width = static_cast<size_t>(program.value(program.outputs[0].value).width);
    CHECK(result.outputs.at(0).size() == output_rows.size() * width);
    for (size_t row = 0; row < output_rows.size(); ++row) {
      const auto values = result.outputs[0].subspan(row * width, width);
      logits.emplace_back(values.begin(), values.end());
    }
  }
  return logits;
}

}  // namespace hwtv::golden
