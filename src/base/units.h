// Numbers with their units, as every command prints them.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

namespace hwtv {

std::string format_bytes(double bytes);  // "93.1 MiB"; binary units, 3-4 significant digits
template <std::integral Integer>
std::string format_bytes(Integer bytes) {
  return format_bytes(static_cast<double>(bytes));
}
std::string format_bandwidth(double bytes_per_s);  // "10.3 GB/s"; decimal, as the field prints it
std::string format_seconds(double seconds);        // "1.21 s", "14.2 ms", "310 us"
std::string format_rate(double per_s);             // "612", "71.9": three significant digits
std::string format_count(int64_t n);               // "92,299"
std::string format_tokens(int64_t n);              // "1 token", "92299 tokens"
std::string format_shape(std::span<const int64_t> shape);  // "2048 x 64"; empty: of one element

}  // namespace hwtv
