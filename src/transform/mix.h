// What `hwtv quantize` can be asked for: one type, or a mix that gives some tensors more bits.  The
// choices for each tensor are those of llama.cpp's llama-quantize, so that a file of the same name
// has the same types.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::transform {

// general.quantization_version: of the layouts in ops/quant_blocks.h.
inline constexpr uint32_t kQuantizationVersion = 2;

enum class Mix {
  F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q2_K_S, Q3_K_S, Q3_K_M, Q3_K_L, Q4_K_S, Q4_K_M,
  Q5_K_S, Q5_K_M, Q6_K, IQ4_NL, IQ4_XS, MXFP4, MXFP4_MOE,
};

struct MixInfo {
  Mix mix;
  std::string_view name;   // "Q4_K_M"
  std::string_view alias;  // "Q4_K"; may be empty
  DType dtype;             // of most tensors
  uint32_t file_type;      // general.file_type
};

std::span<const MixInfo> mix_table();

// By name or alias, case-insensitive.  Errors: invalid_request, with all names.
Result<MixInfo> find_mix(std::string_view name);

// What becomes of one tensor.
struct TensorChoice {
  const gguf::TensorInfo* tensor;
  DType from;
  DType to;
  DType wanted;  // differs from `to` where rows do not fill its quant_blocks
};

struct MixOptions {
  bool pure = false;            // the mix's own type for every tensor that is quantized at all
  bool with_importance = false;  // importance data is there: a few choices depend on it
};

// One choice for each tensor, in file order.  Errors: unsupported (a tensor type that cannot be
// read); corrupt_file (metadata of another type).
Result<std::vector<TensorChoice>> choose_types(const gguf::File& file, const MixInfo& mix,
                                               const MixOptions& options);

}  // namespace hwtv::transform
