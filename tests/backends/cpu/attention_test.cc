// Attention by one table's kernels: against the formula in double, and against itself cut
// otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "backends/cpu/isa.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/types.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kTokens = 600;  // three splits, the last one part full
constexpr int64_t kHeads = 6, kKvHeads = 2, kHeadDim = 64, kValueDim = 96;
constexpr float kScale = 0.125f;

std::vector<float> normals(int64_t n, unsigned seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

// One sequence of kTokens, its keys and values in a pool whose blocks are in reverse order.
class Sequence {
 public:
  Sequence(const Kernels& kernels, DType k_dtype, DType v_dtype, int64_t block_tokens,
           int64_t window_tokens)
      : kernels_(kernels) {
    ops::Limits limits;
    limits.kv_block_tokens = block_tokens;
    limits.n_kv_blocks = {(kTokens + block_tokens - 1) / block_tokens};
    limits.k_dtype = k_dtype;
    limits.v_dtype = v_dtype;
    const KvLayout layout = kv_layout(
        {.n_layers = 2, .n_kv_heads = kKvHeads, .head_dim = kHeadDim, .value_dim = kValueDim}, 0,
        limits);
    pool_.assign(static_cast<size_t>(layout.pool_bytes()), 0xff);  // NaN where nothing is written
    table_.resize(static_cast<size_t>(layout.n_blocks));
    std::iota(table_.rbegin(), table_.rend(), 0);
    out_.resize(static_cast<size_t>(kTokens * kHeads * kValueDim));
    args_ = {.place = layout.place(pool_.data(), 1),
             .n_heads = kHeads,
             .n_kv_heads = kKvHeads,
             .head_dim = kHeadDim,
             .value_dim = kValueDim,
             .k_type = *kv_type(k_dtype),
             .v_type = *kv_type(v_dtype),
             .scale = kScale,
             .softcap = 0,
             .sinks = nullptr,
             .window_tokens = window_tokens,
             .causal = true,
             .q = q_.data(),
             .out = out_.data()};
    const KvWriteArgs write = {args_.place, kKvHeads, kHeadDim, kValueDim, k_.data(), v_.data()};
    for (int64_t position = 0; position < kTokens; ++position) {
      kernels.write_key[static_cast<size_t>(args_.k_type)](write, table_.data(), position,
                                                           position);
      kernels.write_value[static_cast<size_t>(args_.v_type)](write, table_.data(), position,
                                                             position);
    }
  }

  // The last n tokens as one slice, in parts of `part_rows` query rows.
  std::vector<float> attend(int64_t n, int64_t part_rows) {
    std::fill(out_.begin(), out_.end(), NAN);
    for_each_part(n, part_rows,
                  [&](const AttentionPart& part) { kernels_.attention(args_, part); });
    return last_rows(n);
  }
  // The same with the splits apart.
  std::vector<float> attend_by_splits(int64_t n) {
    constexpr int64_t kSplits = (kTokens + kSplitTokens - 1) / kSplitTokens;
    std::fill(out_.begin(), out_.end(), NAN);
    std::vector<SplitState> states(static_cast<size_t>(kTokens * kHeads * kSplits));
    std::vector<float> values(states.size() * kValueDim, NAN);
    for (int64_t split = 0; split < kSplits; ++split)
      for_each_part(n, kQueryRows, [&](const AttentionPart& part) {
        kernels_.attention_split(args_, part, split, kSplits, states.data(), values.data());
      });
    for (int64_t slot = (kTokens - n) * kHeads; slot < kTokens * kHeads; ++slot)
      kernels_.merge_splits(states.data() + slot * kSplits,
                            values.data() + slot * kSplits * kValueDim, kSplits, kValueDim, nullptr,
                            out_.data() + slot * kValueDim);
    return last_rows(n);
  }

  // The formula, in double, on the keys and values before they were stored.
  std::vector<double> exact(int64_t n) const {
    std::vector<double> out;
    for (int64_t token = kTokens - n; token < kTokens; ++token)
      for (int64_t head = 0; head < kHeads; ++head) {
        const std::vector<double> row = exact_row(token, head);
        out.insert(out.end(), row.begin(), row.end());
      }
    return out;
  }

 private:
  template <typename Work>
  void for_each_part(int64_t n, int64_t part_rows, const Work& work) const {
    const int64_t n_queries = n * (kHeads / kKvHeads);
    for (int64_t kv_head = 0; kv_head < kKvHeads; ++kv_head)
      for (int64_t begin = 0; begin < n_queries; begin += part_rows)
        work({.block_table = table_.data(),
              .first_row = kTokens - n,
              .first_position = kTokens - n,
              .n_positions = kTokens,
              .kv_head = kv_head,
              .query_begin = begin,
              .query_end = std::min(begin + part_rows, n_queries)});
  }
  std::vector<float> last_rows(int64_t n) const {
    return {out_.end() - n * kHeads * kValueDim, out_.end()};
  }
  std::vector<double> exact_row(int64_t token, int64_t head) const {
    const int64_t kv_head = head / (kHeads / kKvHeads);
    const int64_t window = args_.window_tokens;
    const int64_t begin = window > 0 ? std::max<int64_t>(0, token + 1 - window) : 0;
    std::vector<double> sum(kValueDim);
    double total = 0;
    for (int64_t p = begin; p <= token; ++p) {
      double score = 0;
      for (int64_t d = 0; d < kHeadDim; ++d)
        score += double{q_[static_cast<size_t>((token * kHeads + head) * kHeadDim + d)]} *
                 double{k_[static_cast<size_t>((p * kKvHeads + kv_head) * kHeadDim + d)]};
      const double weight = std::exp(score * double{kScale});
      total += weight;
      for (int64_t d = 0; d < kValueDim; ++d)
        sum[static_cast<size_t>(d)] +=
            weight * double{v_[static_cast<size_t>((p * kKvHeads + kv_head) * kValueDim + d)]};
    }
    for (double& value : sum) value /= total;
    return sum;
  }

  const Kernels& kernels_;
  static inline const std::vector<float> q_ = normals(kTokens * kHeads * kHeadDim, 1);
  static inline const std::vector<float> k_ = normals(kTokens * kKvHeads * kHeadDim, 2);
  static inline const std::vector<float> v_ = normals(kTokens * kKvHeads * kValueDim, 3);
  std::vector<uint8_t> pool_;
  std::vector<int32_t> table_;
  std::vector<float> out_;
  AttentionArgs args_;
};

template <typename Test>
void for_each_table(const Test& test) {
  for (const Isa& isa : isas()) {
    if (!isa.can_run()) continue;
    SCOPED_TRACE(isa.name());
    test(*isa.kernels);
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double worst_difference(const std::vector<float>& a, const std::vector<double>& exact) {
  double worst = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - exact[i]);
    if (difference > worst || std::isnan(difference)) worst = difference;
  }
  return worst;
}

// F32 leaves rounding only; the other types what they round keys and values to (of about 4 at
// most).
TEST(Attention, AgreesWithTheFormulaOverSeveralSplits) {
  const struct {
    DType dtype;
    double tolerance;
  } cases[] = {{DType::F32, 2e-6},
               {DType::F16, 2e-3},
               {DType::BF16, 1.5e-2},
               {DType::Q8_0, 2e-2},
               {DType::Q4_0, 0.3}};
  for_each_table([&](const Kernels& kernels) {
    for (const auto& c : cases) {
      Sequence sequence(kernels, c.dtype, c.dtype, 32, 0);
      EXPECT_LE(worst_difference(sequence.attend(5, kQueryRows), sequence.exact(5)), c.tolerance)
          << dtype_name(c.dtype);
    }
  });
}

TEST(Attention, SeesOnlyItsWindow) {
  for_each_table([](const Kernels& kernels) {
    for (const int64_t window : {1, 30, 300, 1000}) {
      Sequence sequence(kernels, DType::F32, DType::F32, 64, window);
      EXPECT_LE(worst_difference(sequence.attend(40, kQueryRows), sequence.exact(40)), 2e-6)
          << "window of " << window;
    }
  });
}

TEST(Attention, HowTheRowsAndSplitsAreCutLeavesTheBits) {
  for_each_table([](const Kernels& kernels) {
    for (const DType dtype : {DType::F32, DType::F16, DType::Q8_0, DType::Q4_0})
      for (const int64_t window : {0, 100}) {
        Sequence sequence(kernels, dtype, dtype, 32, window);
        const std::vector<float> whole = sequence.attend(20, kQueryRows);
        EXPECT_TRUE(same_bits(whole, sequence.attend(20, 1))) << dtype_name(dtype);
        EXPECT_TRUE(same_bits(whole, sequence.attend(20, 7))) << dtype_name(dtype);
        EXPECT_TRUE(same_bits(whole, sequence.attend_by_splits(20))) << dtype_name(dtype);
      }
  });
}

TEST(Attention, TheSizeOfKvBlocksLeavesTheBits) {
  for_each_table([](const Kernels& kernels) {
    const std::vector<float> expected =
        Sequence(kernels, DType::F16, DType::F16, 32, 0).attend(9, kQueryRows);
    for (const int64_t block_tokens : {4, 16, 64, 256})
      EXPECT_TRUE(same_bits(
          expected,
          Sequence(kernels, DType::F16, DType::F16, block_tokens, 0).attend(9, kQueryRows)))
          << block_tokens;
  });
}

}  // namespace
}  // namespace hwtv::cpu
