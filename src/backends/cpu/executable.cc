#include "backends/cpu/executable.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <span>
#include <utility>

#include "backends/cpu/row_chain.h"
#include "base/check.h"
#include "ops/rope.h"

namespace hwtv::cpu {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// "RmsNorm" -> "rms_norm"
std::string snake_case(std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) && !snake.empty()) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return snake;
}

}  // namespace

CpuExecutable::CpuExecutable(const ops::Program& program, const ops::Limits& limits,
                             std::vector<const Weight*> weights, const Kernels& kernels,
                             Packing packing)
    : program_(&program),
      limits_(limits),
      weights_(std::move(weights)),
      kernels_(kernels),
      packing_(packing),
      stages_(plan_stages(program)),
      arena_(ops::plan_arena(program, limits, stages_)),
      staging_layout_(plan_staging(program, limits)) {
  for (const ops::NamedOp& named : program.ops) {
    const ops::WeightId id = product_weight(named.op);
    // One layout of quantized rows for all products.
    CHECK(id == ops::kNoWeight || !is_quantized(program.weight(id).dtype) ||
          weight(id).is_packed == (packing == Packing::tiles));
  }
  choose_kernels({});
  for (size_t group = 0; group < program.kv_groups.size(); ++group)
    kv_layouts_.push_back(kv_layout(program.kv_groups[group], group, limits));
  spans.reserve(program.ops.size());
  result.outputs.reserve(program.outputs.size());
}

Result<std::unique_ptr<CpuExecutable>> CpuExecutable::make(const ops::Program& program,
                                                           const ops::Limits& limits,
                                                           std::vector<const Weight*> weights,
                                                           const Kernels& kernels, Packing packing,
                                                           hw::Ledger& ledger) {
  std::unique_ptr<CpuExecutable> made(
      new CpuExecutable(program, limits, std::move(weights), kernels, packing));
  HWTV_TRY(made->activations_,
           hw::Buffer::allocate(ledger, hw::Use::activations, "arena", made->arena_.n_bytes));
  HWTV_TRY(made->staging_, hw::Buffer::allocate(ledger, hw::Use::staging, "scratch",
                                                made->staging_layout_.n_bytes));
  for (size_t group = 0; group < made->kv_layouts_.size(); ++group) {
    HWTV_TRY(hw::Buffer pool,
             hw::Buffer::allocate(ledger, hw::Use::kv, fmt::format("kv group {}", group),
                                  made->kv_layouts_[group].pool_bytes()));
    made->pools_.push_back(std::move(pool));
  }
  made->fill_frequencies();
  return made;
}

void CpuExecutable::choose_kernels(const KernelChoices& choices) {
  product_tables_.clear();
  for (const Weight* weight : weights_) {
    auto& tables = product_tables_.emplace_back();
    for (const RowsClass rows : {RowsClass::one, RowsClass::many}) {
      const auto choice = choices.find(product_key(*weight, rows));
      tables[static_cast<size_t>(rows)] = choice == choices.end() ? &kernels_ : choice->second;
    }
  }
  for (const RowsClass rows : {RowsClass::one, RowsClass::many}) {
    auto& names = kernel_names_[static_cast<size_t>(rows)];
    names.clear();
    for (const ops::NamedOp& named : program_->ops) names.push_back(kernel_name_of(named.op, rows));
  }
}

std::vector<std::string> CpuExecutable::kernels() const {
  std::vector<std::string> names = kernel_names_[static_cast<size_t>(RowsClass::one)];
  for (size_t i = 0; i < names.size(); ++i) {
    const ops::WeightId product = product_weight(program_->ops[i].op);
    if (product == ops::kNoWeight) continue;
    const Kernels& many = product_table(product, RowsClass::many);
    if (&many != &product_table(product, RowsClass::one)) names[i] += fmt::format("/{}", many.name);
  }
  return names;
}

std::string CpuExecutable::kernel_name_of(const ops::Op& op, RowsClass rows) const {
  if (const ops::WeightId product = product_weight(op); product != ops::kNoWeight)
    return fmt::format("{}{}_{}", lower_case(dtype_name(program_->weight(product).dtype)),
                       weight(product).is_packed ? "_packed" : "",
                       product_table(product, rows).name);
  std::string name = snake_case(ops::op_name(op));
  if (std::holds_alternative<ops::Attention>(op))
    name += fmt::format("_{}_{}", lower_case(dtype_name(limits_.k_dtype)),
                        lower_case(dtype_name(limits_.v_dtype)));
  return fmt::format("{}_{}", name, kernels_.name);
}

void CpuExecutable::fill_frequencies() {
  for (const RopeTable& table : staging_layout_.rope_tables) {
    std::span<const float> factors;
    if (table.factors != ops::kNoWeight)
      factors = {vector(table.factors), static_cast<size_t>(table.rope.n_rotated / 2)};
    frequencies_.push_back(ops::rope_frequencies(table.rope, factors));
  }
}

ops::BytesByUse CpuExecutable::reserved() const {
  ops::BytesByUse bytes;
  for (const Weight* weight : weights_)
    (weight->is_packed ? bytes.packed_weights : bytes.weights) += weight->size_bytes();
  for (const hw::Buffer& pool : pools_) bytes.kv += pool.size_bytes();
  bytes.activations = activations_.size_bytes();
  bytes.staging = staging_.size_bytes();
  return bytes;
}

void CpuExecutable::copy_block(int32_t group, int32_t from, int32_t to) {
  const auto i = static_cast<size_t>(group);
  const KvLayout& layout = kv_layouts_[i];
  CHECK(from >= 0 && from < layout.n_blocks && to >= 0 && to < layout.n_blocks);
  std::memmove(pools_[i].data() + to * layout.block_bytes,
               pools_[i].data() + from * layout.block_bytes,
               static_cast<size_t>(layout.block_bytes));
}

}  // namespace hwtv::cpu
