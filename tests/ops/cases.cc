#include "tests/ops/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/ops/tolerance.h"

namespace hwtv::test {
namespace {

using Cases = std::vector<NamedCase>;

// The types that a weight can have.
std::vector<DType> weight_dtypes() {
  size_t n;
  const DTypeInfo* table = dtype_table(&n);
  std::vector<DType> dtypes;
  for (size_t i = 0; i < n; ++i)
    if (table[i].dtype != DType::I32) dtypes.push_back(table[i].dtype);
  return dtypes;
}

// One quant_block, a few, and a width of a real model; plain types also get odd ones.
std::vector<int64_t> widths_of(DType dtype) {
  switch (dtype_info(dtype).block_elements) {
    case 1:
      return {1, 33, 576};
    case 32:
      return {32, 96, 576};
    default:
      return {256, 768};
  }
}

std::vector<CaseStep> one_sequence(int64_t n_tokens) { return {{{0, n_tokens}}}; }

OpCase mat_mul(DType dtype, int64_t n_in, int64_t n_out, int64_t rows, bool bias) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(n_in * 1000 + n_out * 10 + rows));
  const ops::ValueId x = b.input(n_in);
  const ops::WeightId w = b.weight(dtype, n_out, n_in, ops::WeightRole::matrix);
  const ops::WeightId bias_id =
      bias ? b.weight(DType::F32, 1, n_out, ops::WeightRole::bias) : ops::kNoWeight;
  const ops::ValueId out = b.value(n_out);
  b.op(ops::MatMul{x, w, bias_id, out});
  return b.finish(out, tolerance(dtype, n_in));
}

// The last matrix of a model: over the rows whose output is asked for, its weight tied to Embed.
OpCase tied_output(DType dtype) {
  CaseBuilder b(one_sequence(17), 7);
  const ops::WeightId w = b.weight(dtype, b.n_tokens() + 30, 256, ops::WeightRole::tied_embedding);
  const ops::ValueId x = b.value(256);
  b.op(ops::Embed{w, x});
  const ops::ValueId selected = b.select(x);
  const ops::ValueId logits = b.value(b.n_tokens() + 30, ops::Rows::n_outputs);
  b.op(ops::MatMul{selected, w, ops::kNoWeight, logits});
  b.output(logits);
  OpCase made = b.finish(tolerance(dtype, 256));
  made.output_stride = 4;
  return made;
}

void add_mat_mul(Cases& cases) {
  for (const DType dtype : weight_dtypes()) {
    for (const int64_t width : widths_of(dtype))
      for (const int64_t rows : {1, 2, 3, 5, 16, 17, 64})
        cases.push_back({fmt::format("MatMul/{}/width_{}/rows_{}", dtype_name(dtype), width, rows),
                         [=] { return mat_mul(dtype, width, 37, rows, rows % 2 == 1); }});
    for (const int64_t n_out : {1, 8, 64, 300})
      cases.push_back({fmt::format("MatMul/{}/n_out_{}", dtype_name(dtype), n_out),
                       [=] { return mat_mul(dtype, 256, n_out, 3, n_out == 8); }});
    cases.push_back({fmt::format("MatMul/{}/tied_output", dtype_name(dtype)),
                     [=] { return tied_output(dtype); }});
  }
}

OpCase embed(DType dtype, int64_t width) {
  CaseBuilder b(one_sequence(19), 11);
  const ops::WeightId w = b.weight(dtype, b.n_tokens(), width, ops::WeightRole::embedding);
  const ops::ValueId out = b.value(width);
  b.op(ops::Embed{w, out});
  return b.finish(out, 0);
}

void add_embed(Cases& cases) {
  for (const DType dtype : weight_dtypes())
    for (const int64_t width : widths_of(dtype))
      cases.push_back({fmt::format("Embed/{}/width_{}", dtype_name(dtype), width),
                       [=] { return embed(dtype, width); }});
}

OpCase rms_norm(int64_t width, int64_t group, int64_t rows, float spread, float eps) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(width + rows));
  const ops::ValueId x = b.input(width, spread);
  const ops::WeightId w = b.weight(DType::F32, 1, group, ops::WeightRole::norm);
  const ops::ValueId out = b.value(width);
  b.op(ops::RmsNorm{x, w, eps, out});
  return b.finish(out, tolerance(DType::F32, group));
}

OpCase scaled_embed() {
  CaseBuilder b(one_sequence(19), 12);
  const ops::WeightId w = b.weight(DType::Q8_0, b.n_tokens(), 96, ops::WeightRole::embedding);
  const ops::ValueId out = b.value(96);
  b.op(ops::Embed{w, out, 9.797959f});
  return b.finish(out, tolerance(DType::F32, 1));
}

OpCase layer_norm(int64_t width, int64_t rows, float spread, float eps) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(width + rows));
  const ops::ValueId x = b.input(width, spread);
  const ops::WeightId w = b.weight(DType::F32, 1, width, ops::WeightRole::norm);
  const ops::WeightId bias = b.weight(DType::F32, 1, width, ops::WeightRole::bias);
  const ops::ValueId out = b.value(width);
  b.op(ops::LayerNorm{x, w, bias, eps, out});
  return b.finish(out, tolerance(DType::F32, width));
}

void add_layer_norm(Cases& cases) {
  for (const int64_t rows : {1, 5, 33})
    for (const int64_t width : {7, 33, 96, 768})
      cases.push_back({fmt::format("LayerNorm/width_{}/rows_{}", width, rows),
                       [=] { return layer_norm(width, rows, 1, 1e-5f); }});
  cases.push_back({"LayerNorm/tiny", [] { return layer_norm(64, 3, 1e-3f, 1e-5f); }});
  cases.push_back({"LayerNorm/large_eps", [] { return layer_norm(64, 3, 1, 0.5f); }});
}

void add_rms_norm(Cases& cases) {
  for (const int64_t rows : {1, 5, 33}) {
    for (const int64_t width : {1, 33, 576, 2048})
      cases.push_back({fmt::format("RmsNorm/row/width_{}/rows_{}", width, rows),
                       [=] { return rms_norm(width, width, rows, 1, 1e-5f); }});
    cases.push_back({fmt::format("RmsNorm/per_head/rows_{}", rows),
                     [=] { return rms_norm(9 * 64, 64, rows, 3, 1e-6f); }});
  }
  cases.push_back({"RmsNorm/eps_rules", [] { return rms_norm(576, 576, 4, 1e-4f, 1e-5f); }});
  cases.push_back({"RmsNorm/zeros", [] { return rms_norm(64, 64, 2, 0, 1e-5f); }});
  cases.push_back({"RmsNorm/large", [] { return rms_norm(576, 576, 4, 1e6f, 1e-5f); }});
}

// Three sequences, the second and third at positions above 0 in the second step.
std::vector<CaseStep> uneven_steps() {
  return {{{0, 5}, {1, 33}, {2, 200}}, {{2, 1}, {0, 3}, {1, 40}}};
}

OpCase embed_by(ops::EmbedBy by) {
  CaseBuilder b(uneven_steps(), 13);
  const ops::WeightId w =
      b.weight(DType::F16, b.limits().context_tokens_max, 33, ops::WeightRole::embedding);
  const ops::ValueId out = b.value(33);
  b.op(ops::Embed{w, out, 1, by});
  return b.finish(out, 0);
}

OpCase rope(const ops::RopeConfig& config, int64_t head_dim, bool factors) {
  CaseBuilder b(uneven_steps(), static_cast<uint64_t>(config.n_rotated));
  std::vector<float> divisors(static_cast<size_t>(config.n_rotated / 2));
  for (float& d : divisors) d = static_cast<float>(random_between(b.random(), 1, 8));
  const ops::WeightId factors_id =
      factors ? b.weight(divisors, 1, ops::WeightRole::rope_factors) : ops::kNoWeight;
  const ops::ValueId x = b.input(3 * head_dim);
  const ops::ValueId out = b.value(3 * head_dim);
  b.op(ops::Rope{x, factors_id, head_dim, config, out});
  return b.finish(out, tolerance(DType::F32, 2));
}

void add_rope(Cases& cases) {
  using Pairs = ops::RopeConfig::Pairs;
  for (const Pairs pairs : {Pairs::adjacent, Pairs::halves}) {
    const auto add = [&](const char* name, ops::RopeConfig config, int64_t head_dim, bool factors) {
      config.pairs = pairs;
      cases.push_back(
          {fmt::format("Rope/{}/{}", pairs == Pairs::adjacent ? "adjacent" : "halves", name),
           [=] { return rope(config, head_dim, factors); }});
    };
    ops::RopeConfig yarn{.n_rotated = 64,
                         .theta = 1e6,
                         .frequency_scale = 0.25,
                         .yarn_mix = 1,
                         .yarn_original_context_tokens = 4096,
                         .magnitude = 1.1386};
    add("head_32", {.n_rotated = 32}, 32, false);
    add("head_64", {.n_rotated = 64, .theta = 1e5}, 64, false);
    add("head_128", {.n_rotated = 128, .theta = 5e5}, 128, false);
    add("head_6", {.n_rotated = 6}, 6, false);
    add("partial", {.n_rotated = 24}, 96, false);
    add("linear", {.n_rotated = 64, .frequency_scale = 0.125}, 64, false);
    add("factors", {.n_rotated = 64, .theta = 5e5}, 64, true);
    add("yarn", yarn, 64, false);
    yarn.yarn_mix = 0.5;
    yarn.yarn_beta_fast = 16;
    yarn.yarn_beta_slow = 2;
    add("yarn_half", yarn, 64, false);
    add("growth", {.n_rotated = 64, .magnitude = 0.9, .growth = 0.1, .growth_tokens = 16}, 64,
        false);
  }
}

struct AttentionShape {
  int64_t n_heads = 4;
  int64_t n_kv_heads = 2;
  int64_t head_dim = 64;
  int64_t value_dim = 64;
  DType k_dtype = DType::F32;
  DType v_dtype = DType::F32;
  int64_t kv_block_tokens = 32;
  int64_t window_tokens = 0;
  float scale = 0;  // 0: 1 / sqrt(head_dim)
  float softcap = 0;
  bool sinks = false;
  bool causal = true;
};

// Writes and attends in layer 1 of 2, while layer 0 is filled with other keys.
OpCase attention(std::vector<CaseStep> steps, const AttentionShape& shape) {
  CaseBuilder b(std::move(steps), static_cast<uint64_t>(shape.head_dim + shape.n_heads));
  b.limits().k_dtype = shape.k_dtype;
  b.limits().v_dtype = shape.v_dtype;
  b.limits().kv_block_tokens = shape.kv_block_tokens;
  b.program().kv_groups.push_back({.n_layers = 2,
                                   .n_kv_heads = shape.n_kv_heads,
                                   .head_dim = shape.head_dim,
                                   .value_dim = shape.value_dim,
                                   .window_tokens = shape.window_tokens});
  const ops::ValueId other_k = b.input(shape.n_kv_heads * shape.head_dim);
  const ops::ValueId other_v = b.input(shape.n_kv_heads * shape.value_dim);
  const ops::ValueId k = b.input(shape.n_kv_heads * shape.head_dim);
  const ops::ValueId v = b.input(shape.n_kv_heads * shape.value_dim);
  const ops::ValueId q = b.input(shape.n_heads * shape.head_dim);
  const ops::ValueId out = b.value(shape.n_heads * shape.value_dim);
  b.op(ops::KvWrite{other_k, other_v, 0, 0});
  b.op(ops::KvWrite{k, v, 0, 1});
  const float scale =
      shape.scale > 0 ? shape.scale : 1 / std::sqrt(static_cast<float>(shape.head_dim));
  // Far below the scores, among them and far above.
  std::vector<float> sinks(static_cast<size_t>(shape.n_heads), 1);
  sinks.front() = -40;
  sinks.back() = 6;
  const ops::WeightId sinks_id =
      shape.sinks ? b.weight(sinks, 1, ops::WeightRole::sinks) : ops::kNoWeight;
  b.op(ops::Attention{q, 0, 1, shape.n_heads, scale, out, shape.softcap, sinks_id, shape.causal});
  const int64_t n_terms = shape.head_dim + std::max<int64_t>(256, b.limits().context_tokens_max);
  const double limit =
      std::max(tolerance(shape.k_dtype, n_terms), tolerance(shape.v_dtype, n_terms));
  return b.finish(out, limit);
}

// Blocks filled to their edge and one past it, tokens one by one and in chunks, one sequence long.
std::vector<CaseStep> block_edge_steps() {
  return {{{0, 31}, {1, 32}, {2, 33}, {3, 1}},
          {{1, 1}, {0, 1}, {3, 63}},
          {{2, 31}, {0, 1}},
          {{2, 1}, {0, 70}, {1, 7}, {3, 1}}};
}

void add_attention(Cases& cases) {
  for (const int64_t n_kv_heads : {1, 2, 3})
    for (const int64_t shared : {1, 3, 4, 8})
      cases.push_back({fmt::format("Attention/kv_heads_{}/shared_by_{}", n_kv_heads, shared), [=] {
                         return attention(uneven_steps(), {.n_heads = n_kv_heads * shared,
                                                           .n_kv_heads = n_kv_heads,
                                                           .head_dim = 32,
                                                           .value_dim = 32});
                       }});
  for (const int64_t head_dim : {32, 64, 96, 128})
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0})
      cases.push_back(
          {fmt::format("Attention/head_dim_{}/{}", head_dim, dtype_name(dtype)), [=] {
             return attention(
                 block_edge_steps(),
                 {.head_dim = head_dim, .value_dim = head_dim, .k_dtype = dtype, .v_dtype = dtype});
           }});
  cases.push_back({"Attention/k_Q8_0_v_F16", [] {
                     return attention(block_edge_steps(),
                                      {.k_dtype = DType::Q8_0, .v_dtype = DType::F16});
                   }});
  cases.push_back({"Attention/block_64",
                   [] { return attention(block_edge_steps(), {.kv_block_tokens = 64}); }});
  cases.push_back({"Attention/narrow_values",
                   [] { return attention(uneven_steps(), {.head_dim = 64, .value_dim = 32}); }});
  cases.push_back({"Attention/head_dim_20",
                   [] { return attention(uneven_steps(), {.head_dim = 20, .value_dim = 20}); }});
  // Windows within a kv_block, across one, and as long as most of the sequence.
  for (const int64_t window_tokens : {1, 7, 32, 100})
    for (const DType dtype : {DType::F32, DType::Q8_0})
      cases.push_back(
          {fmt::format("Attention/window_{}/{}", window_tokens, dtype_name(dtype)), [=] {
             return attention(uneven_steps(),
                              {.k_dtype = dtype, .v_dtype = dtype, .window_tokens = window_tokens});
           }});
  // Scores of a standard deviation of 8, most of them well above the cap.
  for (const DType dtype : {DType::F32, DType::F16})
    cases.push_back({fmt::format("Attention/softcap/{}", dtype_name(dtype)), [=] {
                       return attention(
                           uneven_steps(),
                           {.k_dtype = dtype, .v_dtype = dtype, .scale = 1, .softcap = 3});
                     }});
  cases.push_back({"Attention/softcap/window",
                   [] { return attention(uneven_steps(), {.window_tokens = 40, .softcap = 2}); }});
  cases.push_back({"Attention/sinks", [] { return attention(uneven_steps(), {.sinks = true}); }});
  cases.push_back({"Attention/sinks/long", [] {
                     return attention({{{0, 600}}, {{0, 1}}, {{0, 2}}}, {.sinks = true});
                   }});
  cases.push_back({"Attention/sinks/window", [] {
                     return attention(block_edge_steps(), {.window_tokens = 40, .sinks = true});
                   }});
  // An encoder's: a sequence is one step; longer than a split, and more than one in a step.  Flat
  // scores, as all rows see all positions: a peak would stand far above the root mean square.
  for (const int64_t n_tokens : {1, 9, 40, 300})
    cases.push_back({fmt::format("Attention/not_causal/{}", n_tokens), [=] {
                       return attention({{{0, n_tokens}}, {{1, 3}, {2, n_tokens}}},
                                        {.scale = 0.03f, .causal = false});
                     }});
  cases.push_back({"Attention/one_token", [] { return attention({{{0, 1}}}, AttentionShape{}); }});
}

// Two kv_groups of different shape, so that a backend cannot mix up their tables or sizes.
OpCase two_groups() {
  CaseBuilder b(uneven_steps(), 5);
  b.limits().k_dtype = b.limits().v_dtype = DType::F16;
  b.program().kv_groups = {{.n_layers = 1, .n_kv_heads = 1, .head_dim = 32, .value_dim = 32},
                           {.n_layers = 3, .n_kv_heads = 2, .head_dim = 64, .value_dim = 64}};
  const ops::ValueId k0 = b.input(32), v0 = b.input(32), q0 = b.input(128);
  const ops::ValueId k1 = b.input(128), v1 = b.input(128), q1 = b.input(128);
  const ops::ValueId out0 = b.value(128), out1 = b.value(128), sum = b.value(128);
  b.op(ops::KvWrite{k0, v0, 0, 0});
  b.op(ops::KvWrite{k1, v1, 1, 2});
  b.op(ops::Attention{q0, 0, 0, 4, 0.2f, out0});
  b.op(ops::Attention{q1, 1, 2, 2, 0.1f, out1});
  b.op(ops::Add{out0, out1, sum});
  return b.finish(sum, tolerance(DType::F16, 320));
}

OpCase glu(ops::Activation activation, int64_t width, int64_t rows) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(width));
  const ops::ValueId gate = b.input(width, 2);
  const ops::ValueId up = b.input(width);
  const ops::ValueId out = b.value(width);
  b.op(ops::Glu{gate, up, activation, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

// Gates where exp overflows, underflows or is 1: every one on a row of its own scale.
OpCase glu_extremes(ops::Activation activation) {
  const std::vector<float> gates = {-1e4f, -200,  -100, -88, -20, -1,  -1e-6f, -0.0f,
                                    0,     1e-6f, 1,    20,  88,  100, 200,    1e4f};
  CaseBuilder b(one_sequence(1), 1);
  std::vector<float> ups;
  for (const float gate : gates) ups.push_back(1 / std::max(1.0f, std::fabs(gate)));
  const ops::ValueId gate = b.input(gates);
  const ops::ValueId up = b.input(ups);
  const ops::ValueId out = b.value(static_cast<int64_t>(gates.size()));
  b.op(ops::Glu{gate, up, activation, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

OpCase activate(ops::Activation activation, int64_t width, int64_t rows) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(width));
  const ops::ValueId x = b.input(width, 2), out = b.value(width);
  b.op(ops::Activate{x, activation, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

OpCase add(int64_t width, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 3);
  const ops::ValueId x = b.input(width), y = b.input(width), out = b.value(width);
  b.op(ops::Add{x, y, out});
  return b.finish(out, 0);
}

OpCase softcap(float cap, float spread, int64_t width, int64_t rows) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(width));
  const ops::ValueId x = b.input(width, spread);
  const ops::ValueId out = b.value(width);
  b.op(ops::Softcap{x, cap, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

OpCase sigmoid_gate(int64_t n_gates, int64_t n_neighbours, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 9);
  const ops::ValueId x = b.input(n_gates * n_neighbours), gate = b.input(n_gates, 3);
  const ops::ValueId out = b.value(n_gates * n_neighbours);
  b.op(ops::SigmoidGate{x, gate, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

OpCase pick(int64_t first, int64_t n, int64_t stride, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 2);
  const ops::ValueId x = b.input(3 * stride), out = b.value(3 * n);
  b.op(ops::Pick{x, first, n, stride, out});
  return b.finish(out, 0);
}

OpCase l2_norm(int64_t head_dim, float spread, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 3);
  const ops::ValueId x = b.input(5 * head_dim, spread), out = b.value(5 * head_dim);
  b.op(ops::L2Norm{x, head_dim, 1e-6f, out});
  return b.finish(out, tolerance(DType::F32, head_dim));
}

// In layer 1 of 2, while layer 0 takes other inputs.
OpCase causal_conv(int64_t channels, int64_t kernel, std::vector<CaseStep> steps) {
  CaseBuilder b(std::move(steps), static_cast<uint64_t>(channels));
  b.program().kv_groups.push_back(
      {.kind = ops::KvGroup::Kind::state, .n_layers = 2, .state_floats = (kernel - 1) * channels});
  ops::ValueId out = -1;
  for (const int32_t layer : {0, 1}) {
    const ops::WeightId weight =
        b.weight(DType::F32, channels, kernel, ops::WeightRole::convolution);
    const ops::ValueId x = b.input(channels);
    out = b.value(channels);
    b.op(ops::CausalConv{x, weight, 0, layer, out});
    if (layer == 0) b.output(b.select(out));
  }
  return b.finish(out, tolerance(DType::F32, kernel + 8));
}

OpCase delta_gates(int64_t n_heads, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 5);
  std::vector<float> decays(static_cast<size_t>(n_heads));
  for (size_t i = 0; i < decays.size(); ++i) decays[i] = -0.02f - 0.3f * static_cast<float>(i);
  const ops::WeightId a = b.weight(decays, 1, ops::WeightRole::bias);
  const ops::WeightId dt_bias = b.weight(DType::F32, 1, n_heads, ops::WeightRole::bias);
  const ops::ValueId alpha = b.input(n_heads, 4), beta = b.input(n_heads, 3);
  const ops::ValueId out = b.value(2 * n_heads);
  b.op(ops::DeltaGates{alpha, beta, a, dt_bias, out});
  return b.finish(out, tolerance(DType::F32, 16));
}

struct DeltaShape {
  int64_t n_heads = 4;
  int64_t n_key_heads = 2;
  int64_t key_dim = 16;
  int64_t value_dim = 16;
  bool interleaved = false;
};

// Gates and keys as a model makes them: states neither fade at once nor grow.
OpCase delta_net(const DeltaShape& shape, std::vector<CaseStep> steps) {
  CaseBuilder b(std::move(steps), static_cast<uint64_t>(shape.key_dim + shape.value_dim));
  const int64_t n_heads = shape.n_heads, qk_width = 2 * shape.n_key_heads * shape.key_dim;
  b.program().kv_groups.push_back({.kind = ops::KvGroup::Kind::state,
                                   .n_layers = 2,
                                   .state_floats = n_heads * shape.key_dim * shape.value_dim});
  const ops::WeightId a =
      b.weight(std::vector<float>(static_cast<size_t>(n_heads), -0.1f), 1, ops::WeightRole::bias);
  const ops::WeightId dt_bias =
      b.weight(std::vector<float>(static_cast<size_t>(n_heads), 0.5f), 1, ops::WeightRole::bias);
  ops::ValueId out = -1;
  for (const int32_t layer : {0, 1}) {
    const ops::ValueId x = b.input(qk_width), qk = b.value(qk_width);
    b.op(ops::L2Norm{x, shape.key_dim, 1e-6f, qk});
    const ops::ValueId alpha = b.input(n_heads), beta = b.input(n_heads);
    const ops::ValueId gates = b.value(2 * n_heads);
    b.op(ops::DeltaGates{alpha, beta, a, dt_bias, gates});
    const ops::ValueId v = b.input(n_heads * shape.value_dim);
    out = b.value(n_heads * shape.value_dim);
    b.op(ops::DeltaNet{qk, v, gates, 0, layer, n_heads, shape.n_key_heads, shape.interleaved, 0.25f,
                       out});
    if (layer == 0) b.output(b.select(out));
  }
  // A token's state is what all before it left, each rounded once.
  return b.finish(out, tolerance(DType::F32, shape.key_dim + 256));
}

void add_recurrent(Cases& cases) {
  for (const int64_t rows : {1, 7}) {
    cases.push_back({fmt::format("Pick/first/rows_{}", rows), [=] { return pick(0, 5, 8, rows); }});
    cases.push_back({fmt::format("Pick/last/rows_{}", rows), [=] { return pick(5, 3, 8, rows); }});
    cases.push_back({fmt::format("L2Norm/rows_{}", rows), [=] { return l2_norm(24, 1, rows); }});
    cases.push_back(
        {fmt::format("L2Norm/small/rows_{}", rows), [=] { return l2_norm(8, 1e-3f, rows); }});
    cases.push_back(
        {fmt::format("DeltaGates/rows_{}", rows), [=] { return delta_gates(11, rows); }});
  }
  // Sequences that begin, go on by one token, by fewer than the kernel, by more, and side by side.
  const std::vector<CaseStep> steps = {
      {{0, 1}}, {{0, 2}, {1, 9}}, {{1, 1}, {0, 1}, {2, 40}}, {{2, 1}, {0, 7}}};
  for (const int64_t kernel : {2, 4})
    for (const int64_t channels : {3, 80})
      cases.push_back({fmt::format("CausalConv/kernel_{}/channels_{}", kernel, channels),
                       [=] { return causal_conv(channels, kernel, steps); }});
  const auto add = [&](const char* name, const DeltaShape& shape) {
    cases.push_back({fmt::format("DeltaNet/{}", name), [=] { return delta_net(shape, steps); }});
  };
  add("shared_keys", {});
  add("interleaved_keys", {.interleaved = true});
  add("one_head", {.n_heads = 1, .n_key_heads = 1});
  add("uneven", {.n_heads = 6, .n_key_heads = 3, .key_dim = 13, .value_dim = 21});
  add("narrow", {.n_heads = 3, .n_key_heads = 1, .key_dim = 2, .value_dim = 5});
  add("wide", {.n_heads = 2, .n_key_heads = 2, .key_dim = 64, .value_dim = 64});
}

struct RouterShape {
  int64_t n_experts = 16;
  int64_t n_used = 4;
  ops::Routing routing = ops::Routing::softmax;
  bool normalized = true;
  float scale = 1;
};

ops::ValueId routed(CaseBuilder& b, const RouterShape& shape) {
  const ops::ValueId logits = b.input(shape.n_experts, 2);
  const ops::ValueId shares = b.value(shape.n_experts);
  b.op(ops::Route{logits, shape.n_used, shape.routing, shape.normalized, shape.scale, shares});
  return shares;
}

OpCase route(const RouterShape& shape, int64_t rows) {
  CaseBuilder b(one_sequence(rows), static_cast<uint64_t>(shape.n_experts));
  const ops::ValueId shares = routed(b, shape);
  return b.finish(shares, tolerance(DType::F32, shape.n_experts));
}

// Equal logits: the earlier experts are chosen.
OpCase route_equals() {
  CaseBuilder b(one_sequence(1), 1);
  const ops::ValueId logits = b.input({1, 3, 3, 2, 3, 2, -1, 3});
  const ops::ValueId shares = b.value(8);
  b.op(ops::Route{logits, 3, ops::Routing::softmax, true, 1, shares});
  return b.finish(shares, tolerance(DType::F32, 8));
}

struct ExpertShape {
  DType dtype = DType::F32;
  int64_t n_in = 96;
  int64_t n_out = 40;
  bool slots = false;  // x has a row for each of a token's experts
  bool bias = false;
  RouterShape router = {};
};

// Two products of one input, as gate and up are.
OpCase expert_mat_mul(const ExpertShape& shape, const std::vector<CaseStep>& steps) {
  CaseBuilder b(steps, static_cast<uint64_t>(shape.n_in + shape.n_out));
  const int64_t n_experts = shape.router.n_experts, n_used = shape.router.n_used;
  const ops::ValueId shares = routed(b, shape.router);
  const ops::ValueId x = b.input(shape.slots ? n_used * shape.n_in : shape.n_in);
  const auto product = [&] {
    const ops::WeightId w = b.experts(shape.dtype, n_experts, shape.n_out, shape.n_in);
    const ops::WeightId bias =
        shape.bias ? b.weight(DType::F32, n_experts, shape.n_out, ops::WeightRole::bias)
                   : ops::kNoWeight;
    const ops::ValueId out = b.value(n_used * shape.n_out);
    b.op(ops::ExpertMatMul{x, shares, w, bias, n_used, out});
    return out;
  };
  const ops::ValueId first = product(), second = product();
  b.output(b.select(first));
  return b.finish(second, tolerance(shape.dtype, shape.n_in));
}

OpCase expert_sum(int64_t width, int64_t rows) {
  CaseBuilder b(one_sequence(rows), 4);
  const ops::ValueId shares = routed(b, {});
  const ops::ValueId x = b.input(4 * width), out = b.value(width);
  b.op(ops::ExpertSum{x, shares, 4, out});
  return b.finish(out, tolerance(DType::F32, 4));
}

void add_experts(Cases& cases) {
  using ops::Routing;
  for (const int64_t rows : {1, 7}) {
    const auto add = [&](const char* name, const RouterShape& shape) {
      cases.push_back(
          {fmt::format("Route/{}/rows_{}", name, rows), [=] { return route(shape, rows); }});
    };
    add("softmax", {.normalized = false});
    add("softmax/normalized", {});
    add("softmax/scaled", {.scale = 2.5f});
    add("sigmoid", {.routing = Routing::sigmoid, .normalized = false});
    add("sigmoid/normalized", {.routing = Routing::sigmoid, .scale = 1.5f});
    add("one_of_many", {.n_experts = 128, .n_used = 1});
    add("all", {.n_experts = 3, .n_used = 3});
    cases.push_back({fmt::format("ExpertSum/rows_{}", rows), [=] { return expert_sum(40, rows); }});
  }
  cases.push_back({"Route/equals", route_equals});
  for (const DType dtype : weight_dtypes()) {
    const int64_t n_in = widths_of(dtype)[1];
    // Experts of no, one, a few and many rows; more than a group holds; single rows.
    for (const int64_t rows : {1, 2, 9, 70})
      cases.push_back({fmt::format("ExpertMatMul/{}/rows_{}", dtype_name(dtype), rows), [=] {
                         return expert_mat_mul({.dtype = dtype, .n_in = n_in, .bias = rows == 9},
                                               one_sequence(rows));
                       }});
    cases.push_back({fmt::format("ExpertMatMul/{}/slots", dtype_name(dtype)), [=] {
                       return expert_mat_mul(
                           {.dtype = dtype, .n_in = n_in, .slots = true, .bias = true},
                           {{{0, 33}}, {{0, 1}}, {{0, 3}}});
                     }});
  }
  for (const DType dtype : {DType::F32, DType::Q8_0})
    cases.push_back({fmt::format("ExpertMatMul/{}/two_groups_of_rows", dtype_name(dtype)), [=] {
                       return expert_mat_mul(
                           {.dtype = dtype, .n_in = 64, .router = {.n_experts = 2, .n_used = 2}},
                           one_sequence(300));
                     }});
}

// Outputs asked for every third row, and a second output value from the same rows.
OpCase select_outputs() {
  CaseBuilder b({{{0, 10}, {1, 7}}, {{1, 1}}}, 3);
  const ops::ValueId x = b.input(33);
  const ops::ValueId y = b.input(5);
  b.output(b.select(y));
  OpCase made = b.finish(x, 0);
  made.output_stride = 3;
  return made;
}

void add_elementwise(Cases& cases) {
  for (const auto& [activation, name] :
       {std::pair{ops::Activation::silu, "silu"},
        std::pair{ops::Activation::gelu_tanh, "gelu_tanh"},
        std::pair{ops::Activation::gelu, "gelu"},
        std::pair{ops::Activation::clamped_swish, "clamped_swish"}}) {
    const ops::Activation chosen = activation;
    for (const int64_t width : {1, 33, 1536})
      for (const int64_t rows : {1, 7, 40})
        cases.push_back({fmt::format("Glu/{}/width_{}/rows_{}", name, width, rows),
                         [=] { return glu(chosen, width, rows); }});
    cases.push_back({fmt::format("Glu/{}/extremes", name), [=] { return glu_extremes(chosen); }});
    if (chosen == ops::Activation::clamped_swish) continue;
    for (const int64_t width : {1, 33, 1536})
      cases.push_back({fmt::format("Activate/{}/width_{}", name, width),
                       [=] { return activate(chosen, width, 7); }});
  }
  for (const int64_t width : {1, 33, 576})
    for (const int64_t rows : {1, 7, 64})
      cases.push_back(
          {fmt::format("Add/width_{}/rows_{}", width, rows), [=] { return add(width, rows); }});
  for (const int64_t width : {1, 33, 576})
    cases.push_back(
        {fmt::format("Softcap/width_{}", width), [=] { return softcap(30, 20, width, 7); }});
  cases.push_back({"Softcap/far_below", [] { return softcap(1e4f, 1, 96, 5); }});
  cases.push_back({"Softcap/far_above", [] { return softcap(0.5f, 1e5f, 96, 5); }});
  cases.push_back({"SelectOutputs/every_third", select_outputs});
  for (const int64_t n_neighbours : {1, 5, 64})
    for (const int64_t n_gates : {1, 19})
      cases.push_back({fmt::format("SigmoidGate/gates_{}/neighbours_{}", n_gates, n_neighbours),
                       [=] { return sigmoid_gate(n_gates, n_neighbours, 7); }});
}

struct LoraShape {
  DType dtype = DType::F32;
  int64_t n_in = 64, n_out = 37;
  std::vector<int64_t> ranks = {4, 16, 20};  // of the adapters
  bool of_outputs = false;                   // the rows are those of SelectOutputs
};

// Sequences with no adapter, one, or two in either order, side by side and step after step.
OpCase lora(const LoraShape& shape, std::vector<CaseStep> steps) {
  CaseBuilder b(std::move(steps), static_cast<uint64_t>(shape.n_in * 100 + shape.n_out));
  ops::ValueId x = b.input(shape.n_in), base = b.input(shape.n_out);
  if (shape.of_outputs) x = b.select(x), base = b.select(base);
  const auto weight = [&](int64_t n_rows, int64_t width) {
    const bool is_whole = width % dtype_info(shape.dtype).block_elements == 0;
    return b.weight(is_whole ? shape.dtype : DType::F16, n_rows, width, ops::WeightRole::adapter);
  };
  std::vector<ops::LoraPair> pairs;
  for (const int64_t rank : shape.ranks) {
    const auto adapter = static_cast<int32_t>(pairs.size());
    pairs.push_back({adapter, weight(rank, shape.n_in), weight(shape.n_out, rank),
                     0.5f - 0.75f * static_cast<float>(adapter)});
  }
  b.program().n_adapters = static_cast<int32_t>(pairs.size()) + 1;  // the last one has no pair here
  const ops::ValueId out =
      b.value(shape.n_out, shape.of_outputs ? ops::Rows::n_outputs : ops::Rows::n_tokens);
  b.op(ops::Lora{x, base, std::move(pairs), out});
  const double allowed = tolerance(DType::F32, shape.n_in) + tolerance(DType::F32, 64);
  if (!shape.of_outputs) b.output(b.select(out));
  if (shape.of_outputs) b.output(out);
  OpCase made = b.finish(allowed);
  made.adapters = {{0}, {}, {2, 0}, {1}, {3}, {0, 3, 1}};
  if (shape.of_outputs) made.output_stride = 3;
  return made;
}

void add_lora(Cases& cases) {
  const std::vector<CaseStep> mixed = {{{0, 5}, {1, 1}, {2, 70}, {3, 2}, {4, 3}},
                                       {{3, 1}, {5, 1}, {1, 1}, {0, 1}, {2, 1}}};
  const auto add = [&](const std::string& name, const LoraShape& shape,
                       const std::vector<CaseStep>& steps) {
    cases.push_back({"Lora/" + name, [=] { return lora(shape, steps); }});
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
    add(fmt::format("{}/mixed", dtype_name(dtype)), {.dtype = dtype, .n_in = 96, .n_out = 300},
        mixed);
    add(fmt::format("{}/one", dtype_name(dtype)), {.dtype = dtype, .ranks = {32}}, one_sequence(1));
  }
  for (const int64_t n_out : {1, 16, 37})
    add(fmt::format("odd/n_out_{}", n_out), {.n_in = 33, .n_out = n_out, .ranks = {1, 3, 65}},
        mixed);
  add("outputs", {.of_outputs = true}, mixed);
  add("nobody", {}, {{{1, 40}}});
}

}  // namespace

std::vector<NamedCase> op_cases() {
  Cases cases;
  add_mat_mul(cases);
  add_embed(cases);
  cases.push_back({"Embed/scaled", scaled_embed});
  cases.push_back({"Embed/position", [] { return embed_by(ops::EmbedBy::position); }});
  cases.push_back({"Embed/nothing", [] { return embed_by(ops::EmbedBy::nothing); }});
  add_rms_norm(cases);
  add_layer_norm(cases);
  add_rope(cases);
  add_attention(cases);
  cases.push_back({"Attention/two_groups", two_groups});
  add_elementwise(cases);
  add_experts(cases);
  add_lora(cases);
  add_recurrent(cases);
  return cases;
}

}  // namespace hwtv::test
