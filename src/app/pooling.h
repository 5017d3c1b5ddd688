// One embedding of a text from those of its tokens.  For the commands that embed.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/config.h"

namespace hwtv::app {

std::string_view pooling_name(model::Pooling pooling);

// --pooling's choice (mean, last or cls); empty: the file's, else the last token's of a decoder,
// which alone has seen the whole text, and the mean of an encoder's. Errors: invalid_request (no
// such choice).
Result<model::Pooling> choose_pooling(std::string_view flag, const model::ModelConfig& config);

class Pool {
 public:
  explicit Pool(model::Pooling pooling) : pooling_(pooling) {}

  // The row (width) of the token at `position`; in order.
  void add(int64_t position, std::span<const float> row);
  // (width); of length 1 where `normalized`, unless it is all zeros.  Requires: a row was added.
  std::vector<float> embedding(bool normalized) const;

 private:
  model::Pooling pooling_;
  std::vector<double> sum_;
  int64_t n_rows_ = 0;
};

// The cosine of the angle between two embeddings; 0 where one is all zeros.
double cosine(std::span<const float> a, std::span<const float> b);

}  // namespace hwtv::app
