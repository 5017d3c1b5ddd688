// A Program is WHAT a model computes in one step: a flat list of ops over values whose row counts
// are symbolic.  A model records it once; `plan` prices it, a backend prepares it and runs it many
// times.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "ops/kv_group.h"
#include "ops/rope.h"

namespace hwtv::ops {

using ValueId = int32_t;
using WeightId = int32_t;
inline constexpr WeightId kNoWeight = -1;

// The rows of a value, known only in the step.
enum class Rows {
  n_tokens,   // one row for each token of the step
  n_outputs,  // one row for each token whose output is asked for
};

// An activation: (rows, width), F32, written by exactly one op.
struct Value {
  std::string name;
  Rows rows;
  int64_t width;
};

enum class WeightRole {
  embedding,
  output,
  tied_embedding,
  matrix,
  norm,
  bias,
  sinks,
  rope_factors,
  convolution,  // (channels, kernel)
  adapter,      // a matrix of a LoRA pair
};
std::string_view weight_role_name(WeightRole role);

// A weight as it lies in the file: (n_rows, width), rows contiguous.  Vectors have n_rows = 1.  One
// declaration used by two ops is stored once: that is how a tied embedding is written.  The experts
// of a layer are one weight: their matrices lie one after the other.
struct WeightDecl {
  std::string name;  // the tensor's name in the file
  DType dtype;
  int64_t n_rows;
  int64_t width;
  WeightRole role;
  int64_t first_row = 0;  // of the tensor, which may have more rows: queries, keys, values in one
  int64_t n_experts = 1;  // matrices of n_rows rows each
  int32_t adapter = -1;   // whose file has the tensor, of Program::n_adapters; -1: the model's

  int64_t matrix_bytes() const { return n_rows * dtype_bytes(dtype, width); }
  int64_t n_bytes() const { return n_experts * matrix_bytes(); }
};

// Which row of the table a token takes.
enum class EmbedBy {
  token,     // that of its id
  position,  // that of its place in the sequence
  nothing,   // the first, whichever token it is
};

// out = weight[row] * scale.                              out (n_tokens, weight.width)
struct Embed {
  WeightId weight;
  ValueId out;
  float scale = 1;
  EmbedBy by = EmbedBy::token;
};

// out = x / sqrt(mean(x^2) + eps) * weight, over each group of `weight.width` elements of a row.
// x, out (rows, k * weight.width)                         [Zhang & Sennrich 2019]
struct RmsNorm {
  ValueId x;
  WeightId weight;
  float eps;
  ValueId out;
};

// out = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias, over each row.
// x, out (rows, width), weight, bias (width)               [Ba et al. 2016]
struct LayerNorm {
  ValueId x;
  WeightId weight;
  WeightId bias;
  float eps;
  ValueId out;
};

// out = x . weight^T + bias.   x (rows, n_in), weight (n_out, n_in), bias (n_out), out (rows,
// n_out)
struct MatMul {
  ValueId x;
  WeightId weight;
  WeightId bias;  // or kNoWeight
  ValueId out;
};

// Rotates the first `rope.n_rotated` elements of each head by the token's position.
// x, out (n_tokens, n_heads * head_dim)                   [Su et al. 2021; Peng et al. 2023]
struct Rope {
  ValueId x;
  WeightId factors;  // (n_rotated / 2) divisors of the frequencies, or kNoWeight
  int64_t head_dim;
  RopeConfig rope;
  ValueId out;
};

// Stores keys and values of this step's tokens in the paged cache, as the cache's dtype.
// k (n_tokens, n_kv_heads * head_dim), v (n_tokens, n_kv_heads * value_dim)
struct KvWrite {
  ValueId k;
  ValueId v;
  int32_t kv_group;
  int32_t layer;  // index within the group
};

// Causal attention of this step's tokens over their own sequence's cache, this step's keys
// included; over the last `window_tokens` of it where the group has a window.  Not causal: over all
// of it, the tokens that come after in this step too; an encoder's sequence is one step.
// q (n_tokens, n_heads * head_dim), out (n_tokens, n_heads * value_dim)
struct Attention {
  ValueId q;
  int32_t kv_group;
  int32_t layer;
  int64_t n_heads;  // a multiple of the group's n_kv_heads
  float scale;      // of q . k before the softmax
  ValueId out;
  float softcap = 0;           // scores s become softcap * tanh(s / softcap); 0: they stay
  WeightId sinks = kNoWeight;  // (n_heads): a score of no position's that each softmax counts too
  bool causal = true;
};

enum class Activation {
  silu,
  gelu_tanh,
  gelu,           // x / 2 * (1 + erf(x / sqrt 2))
  clamped_swish,  // with g = min(gate, 7), u = up within +-7: g * sigmoid(1.702 g) * (u + 1)
};

// out = activation(gate) * up.                            all (rows, ffn_dim)
struct Glu {
  ValueId gate;
  ValueId up;
  Activation activation;
  ValueId out;
};

// out = activation(x); not clamped_swish, which is of gates.   x, out (rows, width)
struct Activate {
  ValueId x;
  Activation activation;
  ValueId out;
};

// out = a + b.                                            all (rows, width)
struct Add {
  ValueId a;
  ValueId b;
  ValueId out;
};

// out = cap * tanh(x / cap).                              x, out (rows, width); cap > 0
struct Softcap {
  ValueId x;
  float cap;
  ValueId out;
};

// out = x * sigmoid(gate), each element of gate for as many neighbours as x is wider.
// x, out (rows, width), gate (rows, width / k)
struct SigmoidGate {
  ValueId x;
  ValueId gate;
  ValueId out;
};

// Of each `stride` elements of a row those from `first` to first + n.
// x (rows, k * stride), out (rows, k * n)
struct Pick {
  ValueId x;
  int64_t first;
  int64_t n;
  int64_t stride;
  ValueId out;
};

// Each head_dim elements divided by the root of (the sum of their squares + eps).
// x, out (rows, k * head_dim)
struct L2Norm {
  ValueId x;
  int64_t head_dim;
  float eps;
  ValueId out;
};

// out[t] = silu(sum over j of weight[:, j] * x[t - kernel + 1 + j]), by channel.  The kv_group's
// state keeps the rows of x before the step: (kernel - 1, channels).
// x, out (n_tokens, channels), weight (channels, kernel)
struct CausalConv {
  ValueId x;
  WeightId weight;
  int32_t kv_group;
  int32_t layer;
  ValueId out;
};

// For each head how much of its state stays, exp(a * softplus(alpha + dt_bias)), and how much of
// the token is written, sigmoid(beta): first all of the ones, then all of the others.
// alpha, beta (rows, n_heads), a, dt_bias (n_heads), out (rows, 2 * n_heads)
struct DeltaGates {
  ValueId alpha;
  ValueId beta;
  WeightId a;
  WeightId dt_bias;
  ValueId out;
};

// The gated delta rule [Yang et al. 2024], token by token.  With S (key_dim, value_dim) a head's
// state, kept in the kv_group: S *= stay; S += k (write * (v - k^T S))^T; out = scale * q^T S.
// Head h reads the queries and keys of head h / (n_heads / n_key_heads), or of h % n_key_heads
// where `interleaved`.
// qk (n_tokens, 2 * n_key_heads * key_dim): queries, then keys; gates (n_tokens, 2 * n_heads) of
// DeltaGates; v, out (n_tokens, n_heads * value_dim)
struct DeltaNet {
  ValueId qk;
  ValueId v;
  ValueId gates;
  int32_t kv_group;
  int32_t layer;
  int64_t n_heads;
  int64_t n_key_heads;
  bool interleaved;
  float scale;
  ValueId out;
};

// What makes shares of a router's logits.
enum class Routing { softmax, sigmoid };

// Chooses for each row the n_used experts with the largest logits, the earlier one among equals,
// and gives them their shares: softmax over all experts or sigmoid; divided by their sum where
// `normalized`; times `scale`.  The others' are 0.         logits, out (rows, n_experts)
struct Route {
  ValueId logits;
  int64_t n_used;
  Routing routing;
  bool normalized;
  float scale;
  ValueId out;
};

// Each row times the matrices of its own experts, those whose share is not 0, in their order: out
// has a slot for each, and x one too, or one row for all.  out = x . weight[expert]^T +
// bias[expert] x (rows, n_in) or (rows, n_used * n_in), shares (rows, n_experts), weight
// (n_experts, n_out, n_in), bias (n_experts, n_out), out (rows, n_used * n_out)
struct ExpertMatMul {
  ValueId x;
  ValueId shares;
  WeightId weight;
  WeightId bias;  // or kNoWeight
  int64_t n_used;
  ValueId out;
};

// out = sum over a row's experts, in their order, of share * slot.
// x (rows, n_used * width), shares (rows, n_experts), out (rows, width)
struct ExpertSum {
  ValueId x;
  ValueId shares;
  int64_t n_used;
  ValueId out;
};

// What one adapter adds to one product.
struct LoraPair {
  int32_t adapter;  // of Program::n_adapters
  WeightId a;       // (rank, n_in)
  WeightId b;       // (n_out, rank)
  float scale;
};

// out = base + the sum of scale * (x . a^T) . b^T over the pairs of the adapters that the row's
// sequence names, added in the order in which it names them.
// x (rows, n_in), base, out (rows, n_out)                 [Hu et al. 2021]
struct Lora {
  ValueId x;
  ValueId base;
  std::vector<LoraPair> pairs;  // at most one of each adapter
  ValueId out;
};

// Keeps the rows whose output is asked for.  x (n_tokens, width), out (n_outputs, width)
struct SelectOutputs {
  ValueId x;
  ValueId out;
};

using Op = std::variant<Embed, RmsNorm, LayerNorm, MatMul, Rope, KvWrite, Attention, Glu, Activate,
                        Add, Softcap, SigmoidGate, Pick, L2Norm, CausalConv, DeltaGates, DeltaNet,
                        Route, ExpertMatMul, ExpertSum, Lora, SelectOutputs>;
std::string_view op_name(const Op& op);  // "MatMul"

// What the op reads and writes among the values (not weights, not the cache).
std::vector<ValueId> op_inputs(const Op& op);
ValueId op_output(const Op& op);  // -1 for KvWrite
// The matrix of a product, be it one of experts; kNoWeight for all other ops.
WeightId product_weight(const Op& op);

struct NamedOp {
  std::string name;  // "layer 3 ffn_down"
  Op op;
};

enum class OutputKind {
  logits,
  embedding,  // of a token: the last norm's output
  classes,    // what a reranker's head makes of that
};

// What a step can be asked for: the rows of `value`, which is (n_outputs, width).
struct Output {
  OutputKind kind;
  ValueId value;
};

struct Program {
  std::vector<WeightDecl> weights;
  std::vector<Value> values;
  std::vector<KvGroup> kv_groups;
  std::vector<NamedOp> ops;
  std::vector<Output> outputs;
  int32_t n_adapters = 0;  // LoRA adapters, each for the sequences that name it

  WeightId add_weight(WeightDecl weight);
  ValueId add_value(std::string name, Rows rows, int64_t width);
  void add_op(std::string name, Op op);

  const WeightDecl& weight(WeightId id) const { return weights[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
};

// Aborts on a malformed program: ids out of range, shapes that do not agree, a value written twice
// or read before it is written.  Called by models' tests and by every prepare().
void check_program(const Program& program);

}  // namespace hwtv::ops
