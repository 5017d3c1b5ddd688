#include "backends/ref/executable.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "ops/rope.h"

namespace hwtv::ref {

int64_t attention_scratch_floats(const ops::Program& program, const ops::Limits& limits,
                                 int n_threads) {
  int64_t most = 0;
  for (const ops::NamedOp& named : program.ops) {
    const auto* op = std::get_if<ops::Attention>(&named.op);
    if (!op) continue;
    const ops::KvGroup& kv = program.kv_groups[static_cast<size_t>(op->kv_group)];
    most = std::max(most, kv.n_kv_heads * (kv.head_dim + kv.value_dim) + n_threads);
  }
  return most * limits.context_tokens_max;
}

int64_t lora_scratch_floats(const ops::Program& program) {
  int64_t most = 0;
  for (const ops::NamedOp& named : program.ops)
    if (const auto* op = std::get_if<ops::Lora>(&named.op))
      for (const ops::LoraPair& pair : op->pairs)
        most = std::max(most, program.weight(pair.a).n_rows + program.weight(pair.b).n_rows);
  return most;
}

int64_t scratch_floats(const ops::Program& program, const ops::Limits& limits, int n_threads) {
  return rope_scratch_floats(program) +
         std::max(attention_scratch_floats(program, limits, n_threads),
                  n_threads * lora_scratch_floats(program));
}

int64_t rope_scratch_floats(const ops::Program& program) {
  int64_t floats = 0;
  for (const ops::NamedOp& named : program.ops)
    if (const auto* op = std::get_if<ops::Rope>(&named.op)) floats += op->rope.n_rotated / 2;
  return floats;
}

RefExecutable::RefExecutable(const ops::Program& program, const ops::Limits& limits,
                             std::vector<const Weight*> weights)
    : program_(&program),
      limits_(limits),
      weights_(std::move(weights)),
      arena_(ops::plan_arena(program, limits)),
      frequency_offsets_(program.values.size(), -1),
      rope_scratch_floats_(rope_scratch_floats(program)) {
  spans.reserve(program.ops.size());
  result.outputs.reserve(program.outputs.size());
}

Result<std::unique_ptr<RefExecutable>> RefExecutable::make(const ops::Program& program,
                                                           const ops::Limits& limits,
                                                           std::vector<const Weight*> weights,
                                                           int n_threads, hw::Ledger& ledger) {
  std::unique_ptr<RefExecutable> made(new RefExecutable(program, limits, std::move(weights)));
  HWTV_TRY(made->activations_,
           hw::Buffer::allocate(ledger, hw::Use::activations, "arena", made->arena_.n_bytes));
  for (size_t group = 0; group < program.kv_groups.size(); ++group) {
    HWTV_TRY(Cache cache, Cache::make(program.kv_groups[group], group, limits, ledger));
    made->caches_.push_back(std::move(cache));
  }
  const int64_t n_bytes = 4 * scratch_floats(program, limits, n_threads);
  HWTV_TRY(made->staging_, hw::Buffer::allocate(ledger, hw::Use::staging, "scratch", n_bytes));
  made->fill_rope_frequencies();
  return made;
}

void RefExecutable::fill_rope_frequencies() {
  int64_t offset = 0;
  for (const ops::NamedOp& named : program_->ops) {
    const auto* op = std::get_if<ops::Rope>(&named.op);
    if (!op) continue;
    const int64_t n_pairs = op->rope.n_rotated / 2;
    std::span<const float> factors;
    if (op->factors != ops::kNoWeight)
      factors = {weight(op->factors).vector(), static_cast<size_t>(n_pairs)};
    const std::vector<float> frequencies = ops::rope_frequencies(op->rope, factors);
    std::copy(frequencies.begin(), frequencies.end(), staging_.floats() + offset);
    frequency_offsets_[static_cast<size_t>(op->out)] = offset;
    offset += n_pairs;
  }
}

ops::BytesByUse RefExecutable::reserved() const {
  ops::BytesByUse bytes;
  for (const Weight* weight : weights_) bytes.packed_weights += weight->buffer.size_bytes();
  for (const Cache& cache : caches_) bytes.kv += cache.size_bytes();
  bytes.activations = activations_.size_bytes();
  bytes.staging = staging_.size_bytes();
  return bytes;
}

std::vector<std::string> RefExecutable::kernels() const {
  return std::vector<std::string>(program_->ops.size(), "ref");
}

}  // namespace hwtv::ref
