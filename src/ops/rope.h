// Rotary position embedding: from a model's settings to one frequency per rotated pair.  Everything
// that depends on a length is fixed at load, so a token's rotation depends on its position alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hwtv::ops {

struct RopeConfig {
  enum class Pairs {
    adjacent,  // (0,1), (2,3) ...: llama as GGUF stores it
    halves,    // (0,d/2), (1,d/2+1) ...: "neox"
  };
  Pairs pairs = Pairs::adjacent;
  int64_t n_rotated = 0;  // elements of a head that are rotated; even
  double theta = 10000.0;
  double frequency_scale = 1.0;  // 1 / factor of linear or YaRN scaling
  // YaRN [Peng et al. 2023]; 0 = not in use.
  double yarn_mix = 0.0;  // 1: between the two corrections, frequencies are interpolated
  double yarn_beta_fast = 32.0;
  double yarn_beta_slow = 1.0;
  int64_t yarn_original_context_tokens = 0;
  double magnitude = 1.0;  // multiplies the rotated elements (YaRN's attention factor, complete)
  // At position p the magnitude is multiplied by 1 + growth * log(1 + floor(p / growth_tokens)).
  double growth = 0.0;
  int64_t growth_tokens = 1;
};

// What multiplies the rotated elements at one position.
double rope_magnitude(const RopeConfig& rope, int64_t position);

// Radians per position for each pair.  Returns n_rotated / 2 values.
// factors: n_rotated / 2 divisors (`rope_freqs.weight`) or empty.
std::vector<float> rope_frequencies(const RopeConfig& rope, std::span<const float> factors);

}  // namespace hwtv::ops
