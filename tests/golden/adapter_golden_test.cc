// A model with LoRA adapters against the same model with what they add merged into its weights.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/isa.h"
#include "backends/ref/ref_backend.h"
#include "gguf/writer.h"
#include "tests/gguf/temporary_folder.h"
#include "tests/golden/forward.h"
#include "tests/golden/golden_case.h"

namespace hwtv::golden {
namespace {

// Two programs of float sums over the same numbers, in other orders: as for the golden logits.
constexpr double kTolerance = 2e-5;  // of the range of the logits
constexpr int64_t kBudgetBytes = int64_t{1} << 30;

// splitmix64 [Steele 2014], as a number within +-1.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  float next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1;
  }
  std::vector<float> many(int64_t n) {
    std::vector<float> numbers(static_cast<size_t>(n));
    for (float& number : numbers) number = next();
    return numbers;
  }

 private:
  uint64_t state_;
};

bool is_product(const CaseTensor& tensor) {
  return tensor.shape.size() == 2 && tensor.name != "token_embd.weight";
}

// An adapter of all matrices that products are made with, and what it adds, with this factor, put
// into the tensors of `merged`.
void write_adapter(const std::string& path, int64_t rank, float alpha, double factor,
                   GoldenCase& merged) {
  Numbers numbers(static_cast<uint64_t>(rank));
  gguf::Writer writer;
  for (const MetadataEntry& entry : merged.metadata)
    if (entry.key == "general.architecture")
      writer.set(entry.key, std::string_view(std::get<std::string>(entry.value)));
  writer.set("general.type", "adapter");
  writer.set("adapter.type", "lora");
  writer.set("adapter.lora.alpha", alpha);
  std::vector<std::vector<float>> held;
  held.reserve(2 * merged.tensors.size());
  for (CaseTensor& tensor : merged.tensors) {
    if (!is_product(tensor)) continue;
    const int64_t n_in = tensor.shape[0], n_out = tensor.shape[1];
    const std::vector<float>& a = held.emplace_back(numbers.many(n_in * rank));
    const std::vector<float>& b = held.emplace_back(numbers.many(rank * n_out));
    ASSERT_TRUE(writer.add_tensor(tensor.name + ".lora_a", DType::F32, {n_in, rank},
                                  std::as_bytes(std::span(a))));
    ASSERT_TRUE(writer.add_tensor(tensor.name + ".lora_b", DType::F32, {rank, n_out},
                                  std::as_bytes(std::span(b))));
    for (int64_t row = 0; row < n_out; ++row)
      for (int64_t k = 0; k < n_in; ++k) {
        double sum = 0;
        for (int64_t r = 0; r < rank; ++r)
          sum += static_cast<double>(b[static_cast<size_t>(row * rank + r)]) *
                 static_cast<double>(a[static_cast<size_t>(r * n_in + k)]);
        float& weight = tensor.values[static_cast<size_t>(row * n_in + k)];
        weight = static_cast<float>(static_cast<double>(weight) + factor * sum);
      }
  }
  ASSERT_TRUE(writer.write(path));
}

// As a share of the range of `expected`.
double difference(const Logits& logits, const Logits& expected) {
  float low = INFINITY, high = -INFINITY, worst = 0;
  for (size_t row = 0; row < expected.size(); ++row)
    for (size_t i = 0; i < expected[row].size(); ++i) {
      low = std::min(low, expected[row][i]);
      high = std::max(high, expected[row][i]);
      worst = std::max(worst, std::abs(logits[row][i] - expected[row][i]));
    }
  return static_cast<double>(worst / (high - low));
}

class AdapterGolden : public testing::TestWithParam<const char*> {
 protected:
  AdapterGolden()
      : base_(GoldenCase::read(fmt::format("tests/golden/cases/{}.json", GetParam()))),
        merged_(base_) {
    write_adapter(folder_ / "first.gguf", 4, 2, 0.5 * 2 / 4 * kShare, merged_);
    write_adapter(folder_ / "second.gguf", 3, 0, -2 * kShare, merged_);
    base_.write_gguf(folder_ / "base.gguf");
    merged_.write_gguf(folder_ / "merged.gguf");
  }

  // Small, so that what a weight is stays what makes the logits.
  static constexpr float kShare = 0.02f;

  Result<model::Model> adapted() const {
    std::vector<model::Adapter> adapters;
    HWTV_TRY(model::Adapter first, model::Adapter::open(folder_ / "first.gguf", 0.5f * kShare));
    HWTV_TRY(model::Adapter second, model::Adapter::open(folder_ / "second.gguf", -2 * kShare));
    adapters.push_back(std::move(first));
    adapters.push_back(std::move(second));
    HWTV_TRY(gguf::File file, gguf::File::open(folder_ / "base.gguf"));
    const auto n_prompt = static_cast<int64_t>(base_.prompt.size());
    return model::Model::from_file(std::move(file), {.context_tokens = n_prompt},
                                   std::move(adapters));
  }
  Logits run(ops::Backend& backend, const model::Model& model, ForwardOptions options) const {
    const Result<Logits> logits = forward(backend, model, base_.prompt, base_.logit_rows, options);
    EXPECT_TRUE(logits) << logits.error().what;
    return logits.value_or(Logits());
  }

  GoldenCase base_, merged_;
  gguf::TemporaryFolder folder_;
  ThreadTeam team_{2};
  hw::Ledger ledger_{"test", kBudgetBytes};
};

TEST_P(AdapterGolden, GivesTheLogitsOfMergedWeights) {
  const Result<model::Model> model = adapted();
  ASSERT_TRUE(model) << model.error().what;
  const auto n_prompt = static_cast<int64_t>(base_.prompt.size());
  const auto merged = model::Model::open(folder_ / "merged.gguf", {.context_tokens = n_prompt});
  const auto base = model::Model::open(folder_ / "base.gguf", {.context_tokens = n_prompt});
  ASSERT_TRUE(merged && base);
  ref::RefBackend ref(team_, ledger_);
  const Logits expected = run(ref, *merged, {});
  const Logits plain = run(ref, *base, {});
  EXPECT_LE(difference(run(ref, *model, {.adapters = {0, 1}}), expected), kTolerance);
  EXPECT_EQ(run(ref, *model, {}), plain) << "a sequence that names no adapter";
  EXPECT_GT(difference(run(ref, *model, {.adapters = {0}}), expected), 50 * kTolerance);
  EXPECT_GT(difference(plain, expected), 50 * kTolerance);
  for (const cpu::Isa& isa : cpu::isas()) {
    if (!isa.can_run()) continue;
    cpu::CpuBackend backend(team_, ledger_, *isa.kernels);
    const Logits whole = run(backend, *model, {.adapters = {0, 1}});
    EXPECT_LE(difference(whole, expected), kTolerance) << isa.name();
    EXPECT_EQ(run(backend, *model, {.chunk_tokens = 7, .adapters = {0, 1}}), whole) << isa.name();
  }
}

// Queries, keys and values apart and in one tensor; tied and not; norms after the products.
INSTANTIATE_TEST_SUITE_P(Cases, AdapterGolden,
                         testing::Values("mha_untied", "phi3_window", "gemma2", "qwen3_tied_bias"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace hwtv::golden
