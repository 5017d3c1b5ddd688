#include "backends/ref/ref_backend.h"

#include <gtest/gtest.h>

#include <vector>

namespace hwtv::ref {
namespace {

// One matrix of 10 x 64 (9 rows would also take two panels), one norm, one kv_group.
struct SmallProgram {
  ops::Program program;
  ops::Limits limits{
      .n_tokens_max = 4, .n_outputs_max = 4, .context_tokens_max = 40, .n_kv_blocks = {3}};
  std::vector<std::vector<std::byte>> weights;

  SmallProgram() {
    program.kv_groups.push_back({.n_layers = 2, .n_kv_heads = 1, .head_dim = 64, .value_dim = 64});
    const auto embedding = add_weight(DType::F32, 10, ops::WeightRole::tied_embedding);
    const auto norm = add_weight(DType::F32, 1, ops::WeightRole::norm);
    const auto x = program.add_value("x", ops::Rows::n_tokens, 64);
    const auto k = program.add_value("k", ops::Rows::n_tokens, 64);
    const auto y = program.add_value("y", ops::Rows::n_tokens, 64);
    const auto z = program.add_value("z", ops::Rows::n_outputs, 64);
    program.add_op("embed", ops::Embed{embedding, x});
    program.add_op("norm", ops::RmsNorm{x, norm, 1e-5f, k});
    program.add_op("kv", ops::KvWrite{k, x, 0, 1});
    program.add_op("attention", ops::Attention{k, 0, 1, 1, 0.125f, y});
    program.add_op("select", ops::SelectOutputs{y, z});
    program.outputs.push_back({ops::OutputKind::embedding, z});
  }
  ops::WeightId add_weight(DType dtype, int64_t n_rows, ops::WeightRole role) {
    const ops::WeightDecl decl{role == ops::WeightRole::norm ? "norm" : "embedding", dtype, n_rows,
                               64, role};
    weights.emplace_back(static_cast<size_t>(decl.n_bytes()));
    return program.add_weight(decl);
  }
  Result<std::unique_ptr<ops::Executable>> prepare(ops::Backend& backend) {
    std::vector<ops::WeightHandle> handles;
    for (size_t i = 0; i < weights.size(); ++i) {
      HWTV_TRY(ops::WeightHandle handle, backend.import(program.weights[i], weights[i], {}));
      handles.push_back(handle);
    }
    return backend.prepare(program, limits, handles);
  }
};

class RefBackendTest : public testing::Test {
 protected:
  ThreadTeam team_{2};
  hw::Ledger ledger_{"cpu:0", 1 << 20};
  SmallProgram small_;
};

TEST_F(RefBackendTest, MemoryByHandIsWhatTheLedgerHolds) {
  RefBackend backend(team_, ledger_);
  const auto executable = small_.prepare(backend);
  ASSERT_TRUE(executable) << executable.error().what;
  const ops::BytesByUse bytes = backend.spec().memory(small_.program, small_.limits);
  EXPECT_EQ(bytes.weights, 0);
  EXPECT_EQ(bytes.packed_weights, (16 * 64 + 64) * 4);
  EXPECT_EQ(bytes.kv, 2 * 3 * 32 * (64 + 64) * 2);
  EXPECT_EQ(bytes.activations, 2 * 4 * 64 * 4);      // two values live at a time
  EXPECT_EQ(bytes.staging, 40 * (64 + 64 + 2) * 4);  // two threads' scores
  EXPECT_EQ(ledger_.reserved_bytes(hw::Use::packed_weights), bytes.packed_weights);
  EXPECT_EQ(ledger_.reserved_bytes(hw::Use::kv), bytes.kv);
  EXPECT_EQ(ledger_.reserved_bytes(hw::Use::activations), bytes.activations);
  EXPECT_EQ(ledger_.reserved_bytes(hw::Use::staging), bytes.staging);
  EXPECT_EQ(ledger_.reserved_bytes(), bytes.total());
}

TEST_F(RefBackendTest, GivesEverythingBack) {
  {
    RefBackend backend(team_, ledger_);
    ASSERT_TRUE(small_.prepare(backend));
  }
  EXPECT_EQ(ledger_.reserved_bytes(), 0);
}

TEST_F(RefBackendTest, RefusesWhatDoesNotFit) {
  const int64_t needed = RefSpec(2).memory(small_.program, small_.limits).total();
  for (const int64_t budget_bytes : {int64_t{100}, needed - 1}) {
    hw::Ledger tight("cpu:0", budget_bytes);
    RefBackend backend(team_, tight);
    const auto executable = small_.prepare(backend);
    ASSERT_FALSE(executable);
    EXPECT_EQ(executable.error().code, ErrorCode::out_of_memory);
  }
  hw::Ledger enough("cpu:0", needed);
  RefBackend backend(team_, enough);
  EXPECT_TRUE(small_.prepare(backend));
}

TEST_F(RefBackendTest, RefusesByName) {
  const auto refusal = [&](auto change) {
    SmallProgram other;
    change(other);
    const auto supported = RefSpec(2).supports(other.program, other.limits);
    if (supported) return std::string("supported");
    EXPECT_EQ(supported.error().code, ErrorCode::unsupported);
    EXPECT_FALSE(supported.error().advice.empty());
    return supported.error().what;
  };
  EXPECT_EQ(refusal([](SmallProgram&) {}), "supported");
  EXPECT_NE(refusal([](SmallProgram& p) {
              p.program.weights[0].dtype = DType::I32;
            }).find("embedding is I32"),
            std::string::npos);
  EXPECT_NE(refusal([](SmallProgram& p) { p.limits.k_dtype = DType::Q4_K; }).find("keys as Q4_K"),
            std::string::npos);
  EXPECT_NE(refusal([](SmallProgram& p) {
              p.limits.v_dtype = DType::Q8_0;
              p.program.kv_groups[0].value_dim = 48;
            }).find("values of 48 elements cannot be kept as Q8_0"),
            std::string::npos);
}

TEST_F(RefBackendTest, RefusesPartsOfAWeight) {
  RefBackend backend(team_, ledger_);
  const auto handle =
      backend.import(small_.program.weights[0], small_.weights[0], {.rank = 1, .n = 2});
  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().code, ErrorCode::unsupported);
}

using RefBackendDeathTest = RefBackendTest;

TEST_F(RefBackendDeathTest, InputOutsideTheLimitsIsABug) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  RefBackend backend(team_, ledger_);
  const auto executable = small_.prepare(backend);
  ASSERT_TRUE(executable);
  const std::vector<int32_t> table = {2, 0};
  std::vector<int32_t> tokens = {1, 2};
  std::vector<ops::SliceInput> slices = {{0, 2, 0, {table}}};
  const std::vector<int32_t> output_rows = {1};
  const auto submit = [&] {
    backend.submit(**executable, {.tokens = tokens, .slices = slices, .output_rows = output_rows});
  };
  submit();  // good as it is
  slices[0].first_position = 39;
  EXPECT_DEATH(submit(), "context_tokens_max");
  slices[0].first_position = 0;
  slices[0].block_tables.clear();
  EXPECT_DEATH(submit(), "block_tables");
  slices[0].block_tables = {std::span<const int32_t>(table).first(0)};
  EXPECT_DEATH(submit(), "block_table.size");
  slices[0].block_tables = {table};
  tokens[1] = 10;
  EXPECT_DEATH(submit(), "token");
  tokens = {1, 2, 3};
  EXPECT_DEATH(submit(), "tokens.size");
}

}  // namespace
}  // namespace hwtv::ref
