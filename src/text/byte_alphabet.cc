#include "text/byte_alphabet.h"

#include <array>

#include "text/unicode.h"

namespace hwtv::text {

namespace {

// Bytes that print in Latin-1 spell themselves; the others are numbered from U+0100 on.
struct Alphabet {
  std::array<uint16_t, 256> code_point{};
  std::array<int16_t, 0x180> byte;  // -1: stands for none

  constexpr Alphabet() {
    byte.fill(-1);
    uint16_t next = 0x100;
    for (uint16_t b = 0; b < 256; ++b) {
      const bool prints = (0x21 <= b && b <= 0x7E) || (0xA1 <= b && b != 0xAD);
      code_point[b] = prints ? b : next++;
      byte[code_point[b]] = static_cast<int16_t>(b);
    }
  }
};
constexpr Alphabet kAlphabet;

int hex_digit(char c) {
  if ('0' <= c && c <= '9') return c - '0';
  if ('A' <= c && c <= 'F') return c - 'A' + 10;
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void append_byte_spelling(uint8_t byte, std::string& out) {
  append_utf8(kAlphabet.code_point[byte], out);
}

std::string spell_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_byte_spelling(static_cast<uint8_t>(c), out);
  return out;
}

void append_spelled_bytes(std::string_view spelling, std::string& out) {
  for (size_t at = 0; at < spelling.size();) {
    const Decoded c = decode_utf8(spelling, at);
    if (c.code_point < kAlphabet.byte.size() && kAlphabet.byte[c.code_point] >= 0) {
      out.push_back(static_cast<char>(kAlphabet.byte[c.code_point]));
    } else {
      out += spelling.substr(at, c.n_bytes);
    }
    at += c.n_bytes;
  }
}

int parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace hwtv::text
