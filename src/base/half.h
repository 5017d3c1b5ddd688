// IEEE half and bfloat16 <-> float, in plain integer arithmetic: the same bits on every machine.
#pragma once
#include <bit>
#include <cstdint>

namespace hwtv {

constexpr float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  uint32_t shift = 0;  // subnormal half: a normal float
  while (!(mantissa & 0x400u)) mantissa <<= 1, ++shift;
  return std::bit_cast<float>(sign | ((113 - shift) << 23) | ((mantissa & 0x3ffu) << 13));
}

// Rounds to nearest even; overflow gives infinity; NaN stays NaN.
constexpr uint16_t float_to_half(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x33000000u) return sign;  // below half of the smallest subnormal
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 112;
  uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t shift = exponent <= 0 ? static_cast<uint32_t>(14 - exponent) : 13u;
  const uint32_t half_way = 1u << (shift - 1);
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  mantissa >>= shift;
  if (rest > half_way || (rest == half_way && (mantissa & 1u))) ++mantissa;
  const uint32_t value =
      exponent <= 0 ? mantissa : (static_cast<uint32_t>(exponent - 1) << 10) + mantissa;
  return static_cast<uint16_t>(sign | value);
}

constexpr float bfloat16_to_float(uint16_t b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b) << 16);
}

// Rounds to nearest even; NaN stays NaN.
constexpr uint16_t float_to_bfloat16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 64u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace hwtv
