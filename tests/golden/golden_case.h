// One golden case: a tiny model as the peer's converter wrote it, and the logits that transformers
// computed in float64.  Read from tests/golden/cases/*.json, which make_golden.py writes.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ops/quant_blocks.h"

namespace hwtv::golden {

struct StringArray {
  size_t n_elements;
};
struct FloatArray {
  size_t n_elements;
};
struct IntArray {
  size_t n_elements;
};

struct MetadataEntry {
  std::string key;
  // Arrays without values are the tokenizer's: their contents are made up.
  std::variant<uint32_t, float, bool, std::string, StringArray, FloatArray, IntArray,
               std::vector<int32_t>, std::vector<bool>>
      value;
};

struct CaseTensor {
  std::string name;
  std::vector<int64_t> shape;  // GGUF order
  std::vector<float> values;   // empty where the tensor is in blocks
  std::vector<ops::BlockMXFP4> blocks;

  void grow();  // its values become others
};

struct GoldenCase {
  std::string name;
  std::vector<MetadataEntry> metadata;
  std::vector<CaseTensor> tensors;
  std::vector<int32_t> prompt;
  std::vector<int32_t> logit_rows;          // positions of the prompt, ascending
  std::vector<std::vector<double>> logits;  // one for each of logit_rows: (vocab_size);
                                            // of an encoder: (model_dim)

  static GoldenCase read(const std::string& path);
  static std::vector<std::string> list(const std::string& folder);  // paths, sorted

  bool is_quantized() const;
  void write_gguf(const std::string& path) const;
};

}  // namespace hwtv::golden
