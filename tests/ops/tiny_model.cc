#include "tests/ops/tiny_model.h"

namespace hwtv::test {
namespace {

constexpr int64_t kModelDim = 256;
constexpr int64_t kFfnDim = 256;
constexpr int64_t kHeads = 8;
constexpr int64_t kKvHeads = 2;
constexpr int64_t kHeadDim = 32;

struct LayerDtypes {
  DType q, k, v, o, gate, up, down;
};
constexpr LayerDtypes kLayers[] = {
    {DType::Q4_K, DType::Q4_0, DType::Q8_0, DType::Q6_K, DType::Q4_1, DType::Q5_0, DType::Q5_K},
    {DType::F16, DType::BF16, DType::IQ4_NL, DType::IQ4_XS, DType::Q2_K, DType::MXFP4, DType::Q3_K},
    {DType::F32, DType::Q5_1, DType::Q4_K, DType::F32, DType::Q8_0, DType::Q8_0, DType::Q6_K},
};

class Recorder {
 public:
  explicit Recorder(CaseBuilder& builder) : b_(builder) {}

  ops::ValueId norm(ops::ValueId x) {
    const ops::WeightId w = b_.weight(DType::F32, 1, kModelDim, ops::WeightRole::norm);
    const ops::ValueId out = b_.value(kModelDim, b_.program().value(x).rows);
    b_.op(ops::RmsNorm{x, w, 1e-5f, out});
    return out;
  }
  ops::ValueId mat_mul(ops::ValueId x, DType dtype, int64_t n_out, bool bias = false) {
    const ops::WeightId w =
        b_.weight(dtype, n_out, b_.program().value(x).width, ops::WeightRole::matrix);
    const ops::WeightId bias_id =
        bias ? b_.weight(DType::F32, 1, n_out, ops::WeightRole::bias) : ops::kNoWeight;
    const ops::ValueId out = b_.value(n_out);
    b_.op(ops::MatMul{x, w, bias_id, out});
    return out;
  }
  ops::ValueId rope(ops::ValueId x) {
    const ops::ValueId out = b_.value(b_.program().value(x).width);
    b_.op(ops::Rope{x, ops::kNoWeight, kHeadDim, {.n_rotated = kHeadDim}, out});
    return out;
  }
  ops::ValueId add(ops::ValueId x, ops::ValueId y) {
    const ops::ValueId out = b_.value(b_.program().value(x).width);
    b_.op(ops::Add{x, y, out});
    return out;
  }
  ops::ValueId attention(ops::ValueId x, const LayerDtypes& dtypes, int32_t layer) {
    const ops::ValueId q = rope(mat_mul(x, dtypes.q, kHeads * kHeadDim, layer == 0));
    const ops::ValueId k = rope(mat_mul(x, dtypes.k, kKvHeads * kHeadDim));
    const ops::ValueId v = mat_mul(x, dtypes.v, kKvHeads * kHeadDim);
    b_.op(ops::KvWrite{k, v, 0, layer});
    const ops::ValueId out = b_.value(kHeads * kHeadDim);
    // Elements of q and k are near 16, so this gives scores near 1.
    b_.op(ops::Attention{q, 0, layer, kHeads, 0.0007f, out});
    return mat_mul(out, dtypes.o, kModelDim);
  }
  ops::ValueId ffn(ops::ValueId x, const LayerDtypes& dtypes) {
    const ops::ValueId gate = mat_mul(x, dtypes.gate, kFfnDim);
    const ops::ValueId up = mat_mul(x, dtypes.up, kFfnDim);
    const ops::ValueId out = b_.value(kFfnDim);
    b_.op(ops::Glu{gate, up, ops::Activation::silu, out});
    return mat_mul(out, dtypes.down, kModelDim);
  }

 private:
  CaseBuilder& b_;
};

}  // namespace

OpCase tiny_model(DType k_dtype, DType v_dtype) {
  CaseBuilder b({}, 42);
  ops::Limits& limits = b.limits();
  limits.n_seqs_max = 4;
  limits.n_tokens_max = limits.n_outputs_max = 4 * kTinyContextTokens;
  limits.context_tokens_max = kTinyContextTokens;
  limits.k_dtype = k_dtype;
  limits.v_dtype = v_dtype;
  b.program().kv_groups.push_back({.n_layers = static_cast<int32_t>(std::size(kLayers)),
                                   .n_kv_heads = kKvHeads,
                                   .head_dim = kHeadDim,
                                   .value_dim = kHeadDim});
  Recorder record(b);
  const ops::WeightId embedding =
      b.weight(DType::Q8_0, kTinyVocabSize, kModelDim, ops::WeightRole::tied_embedding);
  ops::ValueId x = b.value(kModelDim);
  b.op(ops::Embed{embedding, x});
  int32_t layer = 0;
  for (const LayerDtypes& dtypes : kLayers) {
    x = record.add(x, record.attention(record.norm(x), dtypes, layer++));
    x = record.add(x, record.ffn(record.norm(x), dtypes));
  }
  const ops::ValueId last = record.norm(b.select(x));
  const ops::ValueId logits = b.value(kTinyVocabSize, ops::Rows::n_outputs);
  b.op(ops::MatMul{last, embedding, ops::kNoWeight, logits});
  b.output(logits);
  OpCase made = b.finish(0);
  made.limits.n_kv_blocks = {4 * kTinyContextTokens / limits.kv_block_tokens + 3};
  return made;
}

}  // namespace hwtv::test
