#include "text/jinja_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "text/unicode.h"

namespace hwtv::text::jinja {

namespace {
struct Range {
  uint32_t first, last;
};
struct Expansion {  // one character whose capital is several, as in "ß"
  uint32_t code_point;
  uint32_t upper[3], title[3];  // 0: no more
};
#include "text/case_tables.inc"

template <size_t n>
bool in_ranges(const Range (&ranges)[n], uint32_t code_point) {
  const Range* at =
      std::upper_bound(ranges, ranges + n, code_point,
                       [](uint32_t point, const Range& range) { return point < range.first; });
  return at != ranges && code_point <= at[-1].last;
}

utf8proc_category_t category(uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

const Expansion* find_expansion(uint32_t code_point) {
  const Expansion* at = std::lower_bound(
      std::begin(kExpansions), std::end(kExpansions), code_point,
      [](const Expansion& expansion, uint32_t point) { return expansion.code_point < point; });
  return at != std::end(kExpansions) && at->code_point == code_point ? at : nullptr;
}

void append_all(const uint32_t (&points)[3], std::string& out) {
  for (uint32_t point : points) {
    if (point != 0) append_utf8(point, out);
  }
}

void append_upper(uint32_t code_point, std::string& out) {
  if (const Expansion* expansion = find_expansion(code_point)) {
    append_all(expansion->upper, out);
  } else {
    append_utf8(static_cast<uint32_t>(utf8proc_toupper(static_cast<int>(code_point))), out);
  }
}

void append_title(uint32_t code_point, std::string& out) {
  if (const Expansion* expansion = find_expansion(code_point)) {
    append_all(expansion->title, out);
  } else {
    append_utf8(static_cast<uint32_t>(utf8proc_totitle(static_cast<int>(code_point))), out);
  }
}

bool is_cased(uint32_t code_point) {
  return is_lower(code_point) || is_upper(code_point) || is_title(code_point);
}

// Unicode's Case_Ignorable: what may stand between a letter and a final sigma.
bool is_case_ignorable(uint32_t code_point) {
  static constexpr uint32_t kPunctuation[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                              0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                              0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  if (std::binary_search(std::begin(kPunctuation), std::end(kPunctuation), code_point)) return true;
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return false;
  }
}

// Whether the sigma at byte `at` ends its word: a cased letter before it and none after.
bool is_final_sigma(std::string_view text, size_t at) {
  bool cased_before = false;
  for (size_t i = at; i > 0;) {
    do --i;
    while (i > 0 && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80);
    const uint32_t point = decode_utf8(text, i).code_point;
    if (is_case_ignorable(point)) continue;
    cased_before = is_cased(point);
    break;
  }
  if (!cased_before) return false;
  for (size_t i = at + decode_utf8(text, at).n_bytes; i < text.size();) {
    const Decoded next = decode_utf8(text, i);
    if (!is_case_ignorable(next.code_point)) return !is_cased(next.code_point);
    i += next.n_bytes;
  }
  return true;
}

void append_lower(std::string_view text, size_t at, uint32_t code_point, std::string& out) {
  constexpr uint32_t kSigma = 0x3A3, kFinalSigma = 0x3C2, kDottedI = 0x130;
  if (code_point == kSigma && is_final_sigma(text, at)) {
    append_utf8(kFinalSigma, out);
  } else if (code_point == kDottedI) {
    out += "i\xCC\x87";
  } else {
    append_utf8(static_cast<uint32_t>(utf8proc_tolower(static_cast<int>(code_point))), out);
  }
}

// Calls each(byte, code point) for every character.
template <typename Each>
void for_each_character(std::string_view text, Each&& each) {
  for (size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(text, at);
    each(at, decoded.code_point);
    at += decoded.n_bytes;
  }
}
}  // namespace

bool is_space(uint32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_alpha(uint32_t code_point) {
  const utf8proc_category_t c = category(code_point);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(uint32_t code_point) { return category(code_point) == UTF8PROC_CATEGORY_ND; }

bool is_digit(uint32_t code_point) {
  return is_decimal(code_point) || in_ranges(kOtherDigits, code_point);
}

bool is_numeric(uint32_t code_point) {
  const utf8proc_category_t c = category(code_point);
  return (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO) ||
         in_ranges(kOtherNumerics, code_point);
}

bool is_lower(uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_LL || in_ranges(kOtherLowercase, code_point);
}

bool is_upper(uint32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_LU || in_ranges(kOtherUppercase, code_point);
}

bool is_title(uint32_t code_point) { return category(code_point) == UTF8PROC_CATEGORY_LT; }

bool is_printable(uint32_t code_point) {
  if (code_point < 0x7F) return code_point >= 0x20;
  const utf8proc_category_t c = category(code_point);
  return c != UTF8PROC_CATEGORY_CN && c < UTF8PROC_CATEGORY_ZS;
}

bool starts_identifier(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return is_alpha(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool continues_identifier(uint32_t c) {
  if (c < 0x80) return starts_identifier(c) || (c >= '0' && c <= '9');
  const utf8proc_category_t k = category(c);
  return starts_identifier(c) || k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC ||
         k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_PC;
}

std::string upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](size_t, uint32_t c) { append_upper(c, out); });
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](size_t at, uint32_t c) { append_lower(text, at, c, out); });
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  bool in_word = false;
  for_each_character(text, [&](size_t at, uint32_t c) {
    if (in_word) {
      append_lower(text, at, c, out);
    } else {
      append_title(c, out);
    }
    in_word = is_cased(c);
  });
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  for_each_character(text, [&](size_t at, uint32_t c) {
    if (at == 0) {
      append_title(c, out);
    } else {
      append_lower(text, at, c, out);
    }
  });
  return out;
}

std::string swapcase(std::string_view text) {
  std::string out;
  for_each_character(text, [&](size_t at, uint32_t c) {
    if (is_upper(c)) {
      append_lower(text, at, c, out);
    } else if (is_lower(c)) {
      append_upper(c, out);
    } else {
      append_utf8(c, out);
    }
  });
  return out;
}

std::string casefold(std::string_view text) {
  std::string out;
  for_each_character(text, [&](size_t, uint32_t c) {
    utf8proc_int32_t folded[4];
    int boundary = 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded, 4,
                                                       UTF8PROC_CASEFOLD, &boundary);
    for (utf8proc_ssize_t i = 0; i < n; ++i) append_utf8(static_cast<uint32_t>(folded[i]), out);
  });
  return out;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

size_t byte_of_character(std::string_view text, size_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n) {
    ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    const Decoded first = decode_utf8(text, 0);
    if (!is_space(first.code_point)) break;
    text.remove_prefix(first.n_bytes);
  }
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_space(decode_utf8(text, at).code_point)) break;
    text = text.substr(0, at);
  }
  return text;
}

}  // namespace hwtv::text::jinja
