#include "backends/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include <atomic>
#include <span>

#include <string>
#include <vector>

#include "backends/cpu/isa.h"

namespace hwtv::cpu {
namespace {

constexpr int64_t kWidth = 64;

// tokens -> Embed -> RmsNorm -> MatMul q, k, v -> KvWrite, Attention -> SelectOutputs
struct SmallModel {
  explicit SmallModel(DType matrix = DType::F32, DType norm = DType::F32) {
    using ops::Rows;
    using ops::WeightRole;
    const auto weight = [&](const char* name, DType dtype, int64_t n_rows, WeightRole role) {
      bytes.emplace_back(static_cast<size_t>(n_rows * dtype_bytes(dtype, kWidth)));
      return program.add_weight({name, dtype, n_rows, kWidth, role});
    };
    const auto value = [&](Rows rows = Rows::n_tokens) {
      return program.add_value("", rows, kWidth);
    };
    const auto x = value(), h = value(), q = value(), k = value(), v = value(), out = value();
    const auto selected = value(Rows::n_outputs);
    program.kv_groups.push_back({.n_layers = 1, .n_kv_heads = 1, .head_dim = 64, .value_dim = 64});
    program.add_op("embed", ops::Embed{weight("e", DType::Q8_0, 100, WeightRole::embedding), x});
    program.add_op("norm", ops::RmsNorm{x, weight("n", norm, 1, WeightRole::norm), 1e-5f, h});
    for (const auto to : {q, k, v})
      program.add_op("matrix", ops::MatMul{h, weight("m", matrix, kWidth, WeightRole::matrix),
                                           ops::kNoWeight, to});
    program.add_op("kv", ops::KvWrite{k, v, 0, 0});
    program.add_op("attention", ops::Attention{q, 0, 0, 1, 0.125f, out});
    program.add_op("select", ops::SelectOutputs{out, selected});
    program.outputs.push_back({ops::OutputKind::embedding, selected});
    limits.n_kv_blocks = {16};
  }

  ops::Program program;
  ops::Limits limits;
  std::vector<std::vector<std::byte>> bytes;  // by WeightId
};

Result<std::unique_ptr<ops::Executable>> prepare(const SmallModel& model, CpuBackend& backend) {
  std::vector<ops::WeightHandle> handles;
  for (size_t i = 0; i < model.bytes.size(); ++i) {
    HWTV_TRY(const ops::WeightHandle handle,
             backend.import(model.program.weights[i], model.bytes[i], {}));
    handles.push_back(handle);
  }
  return backend.prepare(model.program, model.limits, handles);
}

TEST(CpuBackend, TheLedgerHoldsWhatTheSpecPredicts) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  const SmallModel model(DType::Q4_0);
  {
    CpuBackend backend(team, ledger, *isas().back().kernels);
    const ops::BytesByUse predicted = backend.spec().memory(model.program, model.limits);
    const auto executable = prepare(model, backend);
    ASSERT_TRUE(executable) << executable.error().what;
    EXPECT_EQ(ledger.reserved_bytes(hw::Use::weights), predicted.weights);
    EXPECT_EQ(ledger.reserved_bytes(hw::Use::packed_weights), predicted.packed_weights);
    EXPECT_EQ(ledger.reserved_bytes(hw::Use::kv), predicted.kv);
    EXPECT_EQ(ledger.reserved_bytes(hw::Use::activations), predicted.activations);
    EXPECT_EQ(ledger.reserved_bytes(hw::Use::staging), predicted.staging);
    EXPECT_EQ(ledger.reserved_bytes(), predicted.total());
    EXPECT_GT(predicted.packed_weights, 0);
    EXPECT_EQ(predicted.kv,
              16 * 32 * ops::kv_token_bytes(model.program.kv_groups[0], DType::F16, DType::F16));
  }
  EXPECT_EQ(ledger.reserved_bytes(), 0);
}

TEST(CpuBackend, RefusesWhatDoesNotFitBeforeItIsAllocated) {
  ThreadTeam team(1);
  const SmallModel model;
  const int64_t needed = CpuSpec().memory(model.program, model.limits).total();
  hw::Ledger enough("cpu:0", needed), short_of_one("cpu:0", needed - 1);
  CpuBackend fits(team, enough, *isas().back().kernels);
  EXPECT_TRUE(prepare(model, fits));
  CpuBackend does_not(team, short_of_one, *isas().back().kernels);
  const auto executable = prepare(model, does_not);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, ErrorCode::out_of_memory);
}

TEST(CpuBackend, WithoutPackingWeightsStayWhereTheyAre) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  const SmallModel model(DType::Q4_0);
  CpuBackend backend(team, ledger, *isas().back().kernels, Packing::none);
  const ops::BytesByUse predicted = backend.spec().memory(model.program, model.limits);
  const auto executable = prepare(model, backend);
  ASSERT_TRUE(executable) << executable.error().what;
  EXPECT_EQ(predicted.packed_weights, 0);
  EXPECT_EQ(ledger.reserved_bytes(), predicted.total());
  EXPECT_EQ((*executable)->kernels()[2], "q4_0_scalar");
}

// A source is let go of once, in pieces that are whole and inside it.
TEST(CpuBackend, PackingLetsGoOfTheSource) {
  ThreadTeam team(3);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  CpuBackend backend(team, ledger, *isas().back().kernels);
  const ops::WeightDecl decl = {"w", DType::Q8_0, 4096, 1024, ops::WeightRole::matrix};
  const std::vector<std::byte> bytes(static_cast<size_t>(decl.n_bytes()));
  std::atomic<int64_t> n_released{0};
  const ops::WeightSource source(bytes, [&](std::span<const std::byte> piece) {
    EXPECT_GE(piece.data(), bytes.data());
    EXPECT_LE(piece.data() + piece.size(), bytes.data() + bytes.size());
    n_released += static_cast<int64_t>(piece.size());
  });
  ASSERT_TRUE(backend.import(decl, source, {}));
  EXPECT_EQ(n_released, decl.n_bytes());
}

TEST(CpuBackend, NamesTheKernelOfEachOp) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  CpuBackend backend(team, ledger, *isas().back().kernels);
  const SmallModel model(DType::Q4_0);
  const auto executable = prepare(model, backend);
  ASSERT_TRUE(executable);
  const std::vector<std::string> expected = {
      "embed_scalar",       "rms_norm_scalar", "q4_0_packed_scalar",       "q4_0_packed_scalar",
      "q4_0_packed_scalar", "kv_write_scalar", "attention_f16_f16_scalar", "select_outputs_scalar"};
  EXPECT_EQ((*executable)->kernels(), expected);
}

// The message of the refusal; empty where the model is taken.
std::string refusal(const SmallModel& model) {
  const auto supported = CpuSpec().supports(model.program, model.limits);
  if (supported) return {};
  EXPECT_EQ(supported.error().code, ErrorCode::unsupported);
  EXPECT_FALSE(supported.error().advice.empty());
  return supported.error().what;
}

TEST(CpuSpec, RefusesByName) {
  EXPECT_EQ(refusal(SmallModel()), "");
  EXPECT_EQ(refusal(SmallModel(DType::I32)), "cpu cannot compute with weight m of type I32");
  EXPECT_EQ(refusal(SmallModel(DType::F32, DType::F16)),
            "cpu takes norm weights as F32 only, and n is F16");
  SmallModel model;
  model.limits.kv_block_tokens = 48;
  EXPECT_EQ(refusal(model), "cpu cannot keep kv_blocks of 48 tokens");
  model = SmallModel();
  model.limits.v_dtype = DType::Q6_K;
  EXPECT_EQ(refusal(model), "the cache cannot keep values as Q6_K");
  model = SmallModel();
  model.program.kv_groups[0].head_dim = 40;
  model.limits.k_dtype = DType::Q8_0;
  EXPECT_EQ(refusal(model), "keys of 40 elements cannot be kept as Q8_0: its blocks have 32");
}

TEST(CpuBackend, RefusesAShard) {
  ThreadTeam team(1);
  hw::Ledger ledger("cpu:0", int64_t{1} << 30);
  CpuBackend backend(team, ledger, *isas().back().kernels);
  const SmallModel model;
  const auto handle = backend.import(model.program.weights[0], model.bytes[0], {1, 2});
  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace hwtv::cpu
