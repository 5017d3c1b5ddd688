#include "text/unicode.h"

#include "base/check.h"

namespace hwtv::text {

namespace {
constexpr uint32_t kPackedRanges[] = {
#include "text/unicode_ranges.inc"
};

bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }
}  // namespace

std::span<const uint32_t> packed_class_ranges() { return kPackedRanges; }

void append_utf8(uint32_t code_point, std::string& out) {
  CHECK(code_point < kCodePoints);
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3F)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

Decoded decode_long_utf8(std::string_view text, size_t at) {
  const uint8_t first = static_cast<uint8_t>(text[at]);
  const Decoded invalid{kReplacement, 1, false};
  const uint32_t n = first >= 0xF8   ? 0
                     : first >= 0xF0 ? 4
                     : first >= 0xE0 ? 3
                     : first >= 0xC0 ? 2
                                     : 0;
  if (n == 0 || at + n > text.size()) return invalid;
  uint32_t code_point = first & (0x7Fu >> n);
  for (uint32_t i = 1; i < n; ++i) {
    if (!is_continuation(text[at + i])) return invalid;
    code_point = code_point << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3F);
  }
  if (code_point >= kCodePoints) return invalid;
  return {code_point, n, true};
}

int strict_utf8_length(std::string_view text) {
  const uint8_t first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return -1;
  const int n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  for (int i = 1; i < n; ++i) {
    if (static_cast<size_t>(i) == text.size()) return 0;
    const uint8_t c = static_cast<uint8_t>(text[i]);
    uint8_t low = 0x80, high = 0xBF;
    if (i == 1) {  // Unicode 15, table 3-7: the second byte is where overlong forms are refused
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    }
    if (c < low || c > high) return -i;
  }
  return n;
}

}  // namespace hwtv::text
