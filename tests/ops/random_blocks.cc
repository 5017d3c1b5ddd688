#include "tests/ops/random_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/check.h"
#include "base/half.h"
#include "ops/quant_blocks.h"

namespace hwtv::test {
namespace {

// A half of size about `size`, either sign.
uint16_t scale_near(Random& random, double size) {
  const double sign = random() & 1 ? 1 : -1;
  return float_to_half(static_cast<float>(sign * size * random_between(random, 0.5, 1.5)));
}

// The min that centres a block whose quants have the mean `middle`.
uint16_t centering_min(uint16_t scale, float middle) {
  return float_to_half(middle * half_to_float(scale));
}

// Each function gives a block of random bits its scales.
void set_scales(ops::BlockQ4_0& b, Random& random) { b.scale = scale_near(random, 0.2); }
void set_scales(ops::BlockQ4_1& b, Random& random) {
  b.scale = scale_near(random, 0.2);
  b.min = centering_min(b.scale, -7.5f);
}
void set_scales(ops::BlockQ5_0& b, Random& random) { b.scale = scale_near(random, 0.1); }
void set_scales(ops::BlockQ5_1& b, Random& random) {
  b.scale = scale_near(random, 0.1);
  b.min = centering_min(b.scale, -15.5f);
}
void set_scales(ops::BlockQ8_0& b, Random& random) { b.scale = scale_near(random, 0.013); }
void set_scales(ops::BlockQ2_K& b, Random& random) {
  b.scale = scale_near(random, 0.1);
  b.min = centering_min(b.scale, 1.5f);
}
void set_scales(ops::BlockQ3_K& b, Random& random) { b.scale = scale_near(random, 0.02); }
void set_scales(ops::BlockQ4_K& b, Random& random) {
  b.scale = scale_near(random, 0.005);
  b.min = centering_min(b.scale, 7.5f);
}
void set_scales(ops::BlockQ5_K& b, Random& random) {
  b.scale = scale_near(random, 0.0025);
  b.min = centering_min(b.scale, 15.5f);
}
void set_scales(ops::BlockQ6_K& b, Random& random) { b.scale = scale_near(random, 0.0008); }
void set_scales(ops::BlockIQ4_NL& b, Random& random) { b.scale = scale_near(random, 0.015); }
void set_scales(ops::BlockIQ4_XS& b, Random& random) { b.scale = scale_near(random, 0.0008); }
void set_scales(ops::BlockMXFP4& b, Random& random) {
  b.exponent = static_cast<uint8_t>(125 + random() % 4);
}

template <typename Block>
void fill(std::vector<std::byte>& bytes, Random& random) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(Block)) {
    Block block;
    auto* raw = reinterpret_cast<unsigned char*>(&block);
    for (size_t i = 0; i < sizeof(Block); ++i) raw[i] = static_cast<unsigned char>(random());
    set_scales(block, random);
    std::memcpy(bytes.data() + at, &block, sizeof(Block));
  }
}

template <typename Element>
void fill_plain(std::vector<std::byte>& bytes, Random& random, Element (*convert)(float)) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(Element)) {
    const Element element = convert(random_normal(random));
    std::memcpy(bytes.data() + at, &element, sizeof(Element));
  }
}

}  // namespace

double random_between(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

float random_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(random_between(random, 0x1p-53, 1)));
  return static_cast<float>(radius * std::cos(random_between(random, 0, 2 * std::numbers::pi)));
}

std::vector<std::byte> random_weight(DType dtype, int64_t n_rows, int64_t width, Random& random) {
  std::vector<std::byte> bytes(static_cast<size_t>(n_rows * dtype_bytes(dtype, width)));
  switch (dtype) {
    case DType::F32:
      fill_plain<float>(bytes, random, [](float x) { return x; });
      break;
    case DType::F16:
      fill_plain<uint16_t>(bytes, random, float_to_half);
      break;
    case DType::BF16:
      fill_plain<uint16_t>(bytes, random, float_to_bfloat16);
      break;
    case DType::Q4_0:
      fill<ops::BlockQ4_0>(bytes, random);
      break;
    case DType::Q4_1:
      fill<ops::BlockQ4_1>(bytes, random);
      break;
    case DType::Q5_0:
      fill<ops::BlockQ5_0>(bytes, random);
      break;
    case DType::Q5_1:
      fill<ops::BlockQ5_1>(bytes, random);
      break;
    case DType::Q8_0:
      fill<ops::BlockQ8_0>(bytes, random);
      break;
    case DType::Q2_K:
      fill<ops::BlockQ2_K>(bytes, random);
      break;
    case DType::Q3_K:
      fill<ops::BlockQ3_K>(bytes, random);
      break;
    case DType::Q4_K:
      fill<ops::BlockQ4_K>(bytes, random);
      break;
    case DType::Q5_K:
      fill<ops::BlockQ5_K>(bytes, random);
      break;
    case DType::Q6_K:
      fill<ops::BlockQ6_K>(bytes, random);
      break;
    case DType::IQ4_NL:
      fill<ops::BlockIQ4_NL>(bytes, random);
      break;
    case DType::IQ4_XS:
      fill<ops::BlockIQ4_XS>(bytes, random);
      break;
    case DType::MXFP4:
      fill<ops::BlockMXFP4>(bytes, random);
      break;
    case DType::I32:
      CHECK(false);
  }
  return bytes;
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  return {first, first + values.size() * sizeof(float)};
}

}  // namespace hwtv::test
