#include "backends/cpu/types.h"

namespace hwtv::cpu {

std::optional<WeightType> weight_type(DType dtype) {
  switch (dtype) {
    case DType::F32: return WeightType::f32;
    case DType::F16: return WeightType::f16;
    case DType::BF16: return WeightType::bf16;
    case DType::Q4_0: return WeightType::q4_0;
    case DType::Q4_1: return WeightType::q4_1;
    case DType::Q5_0: return WeightType::q5_0;
    case DType::Q5_1: return WeightType::q5_1;
    case DType::Q8_0: return WeightType::q8_0;
    case DType::Q2_K: return WeightType::q2_k;
    case DType::Q3_K: return WeightType::q3_k;
    case DType::Q4_K: return WeightType::q4_k;
    case DType::Q5_K: return WeightType::q5_k;
    case DType::Q6_K: return WeightType::q6_k;
    case DType::IQ4_NL: return WeightType::iq4_nl;
    case DType::IQ4_XS: return WeightType::iq4_xs;
    case DType::MXFP4: return WeightType::mxfp4;
    case DType::I32: break;
  }
  return std::nullopt;
}

std::optional<KvType> kv_type(DType dtype) {
  switch (dtype) {
    case DType::F32: return KvType::f32;
    case DType::F16: return KvType::f16;
    case DType::BF16: return KvType::bf16;
    case DType::Q8_0: return KvType::q8_0;
    case DType::Q4_0: return KvType::q4_0;
    default: return std::nullopt;
  }
}

}  // namespace hwtv::cpu
