#include "tests/ops/backend_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "tests/ops/allocations.h"
#include "tests/ops/tiny_model.h"

namespace hwtv::test {
namespace {

constexpr int64_t kTokens = 75;  // more than two kv_blocks

struct TinySequence {
  std::vector<int32_t> tokens;
  std::vector<int32_t> block_table;
  int64_t n_done = 0;  // tokens that have been fed

  int64_t n_left() const { return static_cast<int64_t>(tokens.size()) - n_done; }
};

// Sequence i of four: its own random tokens, its own scattered kv_blocks.
TinySequence tiny_sequence(size_t i, const ops::Limits& limits) {
  TinySequence sequence;
  Random random(i);
  for (int64_t t = 0; t < kTokens; ++t)
    sequence.tokens.push_back(static_cast<int32_t>(random() % kTinyVocabSize));
  std::vector<int32_t> pool(static_cast<size_t>(limits.n_kv_blocks[0]));
  std::iota(pool.begin(), pool.end(), 0);
  std::shuffle(pool.begin(), pool.end(), Random(99));
  const auto n_blocks = kTinyContextTokens / limits.kv_block_tokens;
  const auto first = pool.begin() + static_cast<int64_t>(i) * n_blocks;
  sequence.block_table.assign(first, first + n_blocks);
  return sequence;
}

// One step under construction.
struct StepBuilder {
  std::vector<int32_t> tokens;
  std::vector<int32_t> output_rows;
  std::vector<ops::SliceInput> slices;

  // The next n_tokens of the sequence, or as many as are left; outputs for all of them or none.
  void add(TinySequence& sequence, int64_t n_tokens, bool outputs) {
    const int64_t n = std::min(n_tokens, sequence.n_left());
    if (n == 0) return;
    const auto row = static_cast<int64_t>(tokens.size());
    slices.push_back({row, n, sequence.n_done, {sequence.block_table}});
    for (int64_t i = 0; i < n; ++i) {
      tokens.push_back(sequence.tokens[static_cast<size_t>(sequence.n_done + i)]);
      if (outputs) output_rows.push_back(static_cast<int32_t>(row + i));
    }
    sequence.n_done += n;
  }
  ops::StepInput input(bool profile = false) const {
    return {tokens, slices, output_rows, profile};
  }
};

// The logits of sequence 0 in all its positions; its mates come before and after it in each step.
std::vector<float> logits_of(ops::Backend& backend, ops::Executable& executable,
                             const ops::Limits& limits, int64_t chunk_tokens, bool mates,
                             bool profile = false) {
  std::vector<TinySequence> sequences;
  for (size_t i = 0; i < 4; ++i) sequences.push_back(tiny_sequence(i, limits));
  std::vector<float> logits;
  while (sequences[0].n_left() > 0) {
    StepBuilder step;
    if (mates) step.add(sequences[1], 1, false);
    if (mates) step.add(sequences[2], 40, false);
    step.add(sequences[0], chunk_tokens, true);
    if (mates) step.add(sequences[3], 6, false);
    const auto result = backend.wait(executable, backend.submit(executable, step.input(profile)));
    if (!result) return {};
    logits.insert(logits.end(), result->outputs[0].begin(), result->outputs[0].end());
  }
  return logits;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class ContractTest : public testing::Test {
 public:
  explicit ContractTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  const std::function<void()> body_;
};

}  // namespace

void expect_batch_invariant(const MakeBackend& make, DType k_dtype, DType v_dtype) {
  const OpCase model = tiny_model(k_dtype, v_dtype);
  std::vector<float> first;
  for (const int n_threads : {1, 2, 3}) {
    const auto backend = make(n_threads);
    const auto executable = prepare_case(model, *backend);
    ASSERT_TRUE(executable);
    for (const int64_t chunk_tokens : {kTokens, int64_t{64}, int64_t{7}, int64_t{1}})
      for (const bool mates : {false, true}) {
        const auto logits = logits_of(*backend, *executable, model.limits, chunk_tokens, mates);
        if (first.empty()) first = logits;
        ASSERT_EQ(logits.size(), static_cast<size_t>(kTokens * kTinyVocabSize));
        EXPECT_TRUE(same_bits(first, logits))
            << n_threads << " threads, chunks of " << chunk_tokens << (mates ? ", mates" : "");
      }
  }
  // Logits that do not vary would be invariant for nothing.
  const auto [low, high] = std::minmax_element(first.begin(), first.end());
  EXPECT_GT(*high - *low, 1);
}

void expect_copied_blocks_serve(const MakeBackend& make) {
  const OpCase model = tiny_model(DType::F16, DType::F16);
  const auto backend = make(2);
  const auto executable = prepare_case(model, *backend);
  ASSERT_TRUE(executable);
  constexpr int64_t kPrefix = 45;  // a whole kv_block and a part of the second
  TinySequence original = tiny_sequence(0, model.limits);
  StepBuilder prefix;
  prefix.add(original, kPrefix, false);
  ASSERT_TRUE(backend->wait(*executable, backend->submit(*executable, prefix.input())));
  TinySequence copy = original;
  copy.block_table = tiny_sequence(1, model.limits).block_table;
  for (size_t i = 0; i < 2; ++i)
    backend->copy_block(*executable, 0, original.block_table[i], copy.block_table[i]);

  std::vector<float> logits[2];
  TinySequence* const sequences[2] = {&original, &copy};
  for (int i = 0; i < 2; ++i) {
    StepBuilder rest;
    rest.add(*sequences[i], kTokens, true);
    const auto result = backend->wait(*executable, backend->submit(*executable, rest.input()));
    ASSERT_TRUE(result);
    logits[i].assign(result->outputs[0].begin(), result->outputs[0].end());
  }
  ASSERT_EQ(logits[0].size(), static_cast<size_t>((kTokens - kPrefix) * kTinyVocabSize));
  EXPECT_TRUE(same_bits(logits[0], logits[1]));
}

void expect_no_allocations(const MakeBackend& make) {
  const OpCase model = tiny_model(DType::Q8_0, DType::F16);
  const auto backend = make(2);
  const auto executable = prepare_case(model, *backend);
  ASSERT_TRUE(executable);
  TinySequence sequence = tiny_sequence(0, model.limits);
  for (const int64_t n_tokens : {5, 1, 40, 1, 20}) {
    StepBuilder step;
    step.add(sequence, n_tokens, true);
    const ops::StepInput input = step.input(n_tokens == 40);
    const int64_t before = n_allocations();
    const auto ticket = backend->submit(*executable, input);
    const int64_t after_submit = n_allocations();
    ASSERT_TRUE(backend->wait(*executable, ticket));
    if (n_tokens == 5) continue;  // the warm-up
    EXPECT_EQ(after_submit - before, 0) << "in submit() of " << n_tokens << " tokens";
  }
  EXPECT_EQ(sequence.n_done, 67);
}

void expect_spans(const MakeBackend& make) {
  const OpCase model = tiny_model(DType::F16, DType::F16);
  const auto backend = make(2);
  const auto executable = prepare_case(model, *backend);
  ASSERT_TRUE(executable);
  TinySequence sequence = tiny_sequence(0, model.limits);
  for (const bool profile : {true, false}) {
    StepBuilder step;
    step.add(sequence, 3, true);
    const ops::StepInput input = step.input(profile);
    const auto result = backend->wait(*executable, backend->submit(*executable, input));
    ASSERT_TRUE(result);
    ASSERT_EQ(result->spans.size(), profile ? model.program.ops.size() : 0);
    const std::vector<std::string> kernels = executable->kernels();
    for (size_t i = 0; i < result->spans.size(); ++i) {
      EXPECT_EQ(result->spans[i].op, static_cast<int32_t>(i));
      EXPECT_EQ(result->spans[i].kernel, kernels[i]);
      EXPECT_GE(result->spans[i].seconds, 0);
    }
  }
}

void expect_profile_changes_nothing(const MakeBackend& make) {
  const OpCase model = tiny_model(DType::F16, DType::F16);
  const auto backend = make(2);
  const auto executable = prepare_case(model, *backend);
  ASSERT_TRUE(executable);
  const auto logits = [&](bool profile) {
    return logits_of(*backend, *executable, model.limits, 64, true, profile);
  };
  EXPECT_TRUE(same_bits(logits(false), logits(true)));
}

bool register_backend_contract(const std::string& name, const MakeBackend& make) {
  const auto add = [&](const std::string& test, std::function<void()> body) {
    testing::RegisterTest((name + ".contract").c_str(), test.c_str(), nullptr, nullptr, __FILE__,
                          __LINE__, [=]() -> testing::Test* { return new ContractTest(body); });
  };
  add("batch_invariance_kv_F16", [=] { expect_batch_invariant(make, DType::F16, DType::F16); });
  add("batch_invariance_kv_Q8_0_F32",
      [=] { expect_batch_invariant(make, DType::Q8_0, DType::F32); });
  add("copied_blocks_serve", [=] { expect_copied_blocks_serve(make); });
  add("no_allocations", [=] { expect_no_allocations(make); });
  add("profile_changes_nothing", [=] { expect_profile_changes_nothing(make); });
  add("spans", [=] { expect_spans(make); });
  return true;
}

}  // namespace hwtv::test
