#include "base/units.h"

#include <fmt/format.h>

#include <cmath>

namespace hwtv {
namespace {

// Three significant digits without an exponent: 612, 71.9, 1.21, 0.0123.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  if (magnitude >= 0.9995 || magnitude == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

}  // namespace

std::string format_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (std::fabs(bytes) >= 1024 && unit < 4) bytes /= 1024, ++unit;
  if (unit == 0) return fmt::format("{:.0f} B", bytes);
  return fmt::format("{:.{}f} {}", bytes, unit >= 3 ? 2 : 1, units[unit]);
}

std::string format_bandwidth(double bytes_per_s) {
  return fmt::format("{:.1f} GB/s", bytes_per_s / 1e9);
}

std::string format_seconds(double seconds) {
  const double magnitude = std::fabs(seconds);
  if (magnitude >= 1 || magnitude == 0) return three_digits(seconds) + " s";
  if (magnitude >= 1e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " us";
}

std::string format_rate(double per_s) { return three_digits(per_s); }

std::string format_count(int64_t n) {
  std::string digits = fmt::format("{}", n < 0 ? -n : n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return n < 0 ? "-" + digits : digits;
}

std::string format_tokens(int64_t n) { return fmt::format("{} token{}", n, n == 1 ? "" : "s"); }

std::string format_shape(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t n : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", n);
  return text;
}

}  // namespace hwtv
