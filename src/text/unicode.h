// UTF-8 and the classes of code points, as tokenizers see them.  For the text/ folder.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hwtv::text {

inline constexpr uint32_t kCodePoints = 0x110000;
inline constexpr uint32_t kReplacement = 0xFFFD;

// Unicode 15.1's general categories by their first letter, and White_Space before them.
enum class CodePointClass : uint8_t { other, letter, number, mark, punctuation, symbol, space };

struct CodePointRange {
  uint32_t first;  // to the next range's first
  CodePointClass cls;
};
// All code points, ascending; about 2,300 ranges.
std::span<const uint32_t> packed_class_ranges();  // first << 4 | class
inline CodePointRange unpack_class_range(uint32_t packed) {
  return {packed >> 4, static_cast<CodePointClass>(packed & 15)};
}

void append_utf8(uint32_t code_point, std::string& out);

// One step of the forgiving decoder: overlong forms and surrogates pass, as they do in the
// tokenizers this agrees with; anything else that is no character is one byte long and U+FFFD.
struct Decoded {
  uint32_t code_point;
  uint32_t n_bytes;
  bool valid;  // false: U+FFFD stands for the byte
};
Decoded decode_long_utf8(std::string_view text, size_t at);  // where the byte is none of ASCII
// Requires: at < text.size().
inline Decoded decode_utf8(std::string_view text, size_t at) {
  const uint8_t first = static_cast<uint8_t>(text[at]);
  return first < 0x80 ? Decoded{first, 1, true} : decode_long_utf8(text, at);
}

// Length of the character that `text` begins with, by the strict rules of Unicode: 1 to 4; 0: it
// may be one once more bytes follow; -n: the first n bytes can be no character (replace them by one
// U+FFFD).
// Requires: !text.empty().
int strict_utf8_length(std::string_view text);

}  // namespace hwtv::text
