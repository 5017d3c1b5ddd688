// A Program made ready for the CPU: kernels chosen; arena, staging and caches laid out and held.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernel_choice.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout.h"
#include "hw/buffer.h"
#include "ops/arena.h"
#include "ops/backend.h"
#include "ops/program.h"

namespace hwtv::cpu {

class CpuExecutable final : public ops::Executable {
 public:
  // Requires: CpuSpec::supports().  Errors: out_of_memory.
  static Result<std::unique_ptr<CpuExecutable>> make(const ops::Program& program,
                                                     const ops::Limits& limits,
                                                     std::vector<const Weight*> weights,
                                                     const Kernels& kernels, Packing packing,
                                                     hw::Ledger& ledger);

  ops::BytesByUse reserved() const override;
  // A product's tables for one row and for many, where they differ: "q4_0_packed_avx512vnni/amx".
  std::vector<std::string> kernels() const override;

  // Fixes the table of each product: the one of `choices`, else table().  Not while a step runs.
  void choose_kernels(const KernelChoices& choices);

  const ops::Program& program() const { return *program_; }
  const ops::Limits& limits() const { return limits_; }
  // The rule's: of every op but the products, and of those without a choice.
  const Kernels& table() const { return kernels_; }
  const Kernels& product_table(ops::WeightId id, RowsClass rows) const {
    return *product_tables_[static_cast<size_t>(id)][static_cast<size_t>(rows)];
  }
  const Weight& weight(ops::WeightId id) const { return *weights_[static_cast<size_t>(id)]; }
  // Of a weight that is F32.
  const float* vector(ops::WeightId id) const {
    return reinterpret_cast<const float*>(weight(id).data());
  }
  float* value(ops::ValueId id) {
    return activations_.floats() + arena_.offsets[static_cast<size_t>(id)] / 4;
  }
  // One past the last op of the stage that `op` is in (row_chain.h).
  size_t stage_end(size_t op) const {
    size_t end = op + 1;
    while (end < stages_.size() && stages_[end] == stages_[op]) ++end;
    return end;
  }
  const char* kernel_name(size_t op, RowsClass rows) const {
    return kernel_names_[static_cast<size_t>(rows)][op].c_str();
  }

  KvPlace kv_place(int32_t group, int32_t layer) {
    const auto i = static_cast<size_t>(group);
    return kv_layouts_[i].place(reinterpret_cast<uint8_t*>(pools_[i].data()), layer);
  }
  // The state of a sequence: (state_floats).  Requires: a group of states.
  float* state(int32_t group, int32_t layer, std::span<const int32_t> block_table) {
    const auto i = static_cast<size_t>(group);
    const KvLayout& layout = kv_layouts_[i];
    return reinterpret_cast<float*>(pools_[i].data() + block_table[0] * layout.block_bytes +
                                    layer * layout.layer_bytes);
  }
  void copy_block(int32_t group, int32_t from, int32_t to);

  const StagingLayout& staging_layout() const { return staging_layout_; }
  template <typename Element>
  Element* staging(int64_t offset) {
    return reinterpret_cast<Element*>(staging_.data() + offset);
  }
  // For the products of n_rows rows.
  QuantizedRows quantized(int64_t n_rows) {
    return {staging<int8_t>(staging_layout_.quants), staging<float>(staging_layout_.scales),
            staging<int16_t>(staging_layout_.sums),
            packing_ == Packing::tiles && n_rows > 1 ? kBlockRows : 1};
  }
  // (n_rotated / 2) radians per position
  const std::vector<float>& frequencies(int32_t rope_table) const {
    return frequencies_[static_cast<size_t>(rope_table)];
  }

  ops::StepResult result;          // of the last submit()
  std::vector<ops::OpSpan> spans;  // room for all ops
  uint64_t n_steps = 0;

 private:
  CpuExecutable(const ops::Program& program, const ops::Limits& limits,
                std::vector<const Weight*> weights, const Kernels& kernels, Packing packing);
  std::string kernel_name_of(const ops::Op& op, RowsClass rows) const;
  void fill_frequencies();

  const ops::Program* program_;
  ops::Limits limits_;
  std::vector<const Weight*> weights_;  // by WeightId
  const Kernels& kernels_;
  std::vector<std::array<const Kernels*, 2>> product_tables_;  // by WeightId, by RowsClass
  const Packing packing_;
  const std::vector<int32_t> stages_;  // by op
  ops::ArenaPlan arena_;
  StagingLayout staging_layout_;
  std::vector<KvLayout> kv_layouts_;                      // by kv_group
  std::vector<std::vector<float>> frequencies_;           // by rope table
  std::array<std::vector<std::string>, 2> kernel_names_;  // by RowsClass, by op
  hw::Buffer activations_;
  hw::Buffer staging_;
  std::vector<hw::Buffer> pools_;  // by kv_group
};

}  // namespace hwtv::cpu
