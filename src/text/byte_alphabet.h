// The printable stand-ins by which byte-level BPE files spell bytes: a space is U+0120, "Ġ".  For
// the text/ folder.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hwtv::text {

void append_byte_spelling(uint8_t byte, std::string& out);

// "Ġthe" for " the".
std::string spell_bytes(std::string_view bytes);

// The bytes that `spelling` stands for; characters that stand for none are taken as they are.
void append_spelled_bytes(std::string_view spelling, std::string& out);

// The value of "<0x0A>", or -1 for any other text.
int parse_byte_token(std::string_view text);

}  // namespace hwtv::text
