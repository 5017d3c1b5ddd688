// The smallest Program with a product: tokens -> Embed -> MatMul -> SelectOutputs.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/executable.h"

namespace hwtv::cpu {

struct OneProduct {
  static constexpr int64_t kOutputs = 40, kInputs = 64;

  OneProduct() {
    using ops::Rows;
    const auto embedding =
        program.add_weight({"e", DType::F32, 8, kInputs, ops::WeightRole::embedding});
    const auto matrix =
        program.add_weight({"m", DType::Q8_0, kOutputs, kInputs, ops::WeightRole::matrix});
    const auto x = program.add_value("x", Rows::n_tokens, kInputs);
    const auto y = program.add_value("y", Rows::n_tokens, kOutputs);
    const auto out = program.add_value("out", Rows::n_outputs, kOutputs);
    program.add_op("embed", ops::Embed{embedding, x});
    program.add_op("product", ops::MatMul{x, matrix, ops::kNoWeight, y});
    program.add_op("select", ops::SelectOutputs{y, out});
    program.outputs.push_back({ops::OutputKind::embedding, out});
    for (const ops::WeightDecl& weight : program.weights)
      bytes.emplace_back(static_cast<size_t>(weight.n_bytes()), std::byte{1});
  }

  Result<std::unique_ptr<ops::Executable>> prepare(ops::Backend& backend) const {
    std::vector<ops::WeightHandle> handles;
    for (size_t i = 0; i < bytes.size(); ++i) {
      HWTV_TRY(const ops::WeightHandle handle, backend.import(program.weights[i], bytes[i], {}));
      handles.push_back(handle);
    }
    return backend.prepare(program, {.n_tokens_max = 8}, handles);
  }

  ops::Program program;
  std::vector<std::vector<std::byte>> bytes;  // by WeightId
};

inline ProductKey one_product_key(RowsClass rows) {
  return {DType::Q8_0, true, OneProduct::kOutputs, OneProduct::kInputs, rows};
}

}  // namespace hwtv::cpu
