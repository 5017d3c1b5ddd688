// Characters and letter case as Python's `str` sees them: what isspace(), upper() and title() say
// of UTF-8 text.  For the Jinja interpreter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hwtv::text::jinja {

bool is_space(uint32_t code_point);
bool is_alpha(uint32_t code_point);
bool is_decimal(uint32_t code_point);
bool is_digit(uint32_t code_point);
bool is_numeric(uint32_t code_point);
bool is_lower(uint32_t code_point);
bool is_upper(uint32_t code_point);
bool is_title(uint32_t code_point);
bool is_printable(uint32_t code_point);  // false: repr() escapes it
bool starts_identifier(uint32_t code_point);
bool continues_identifier(uint32_t code_point);

// str.upper() and so on.  Requires: valid UTF-8.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string title(std::string_view text);
std::string capitalize(std::string_view text);
std::string swapcase(std::string_view text);
std::string casefold(std::string_view text);

size_t count_characters(std::string_view text);
// The byte at which character `n` begins; text.size() when there are fewer.
size_t byte_of_character(std::string_view text, size_t n);

std::string_view strip_left(std::string_view text);   // str.lstrip()
std::string_view strip_right(std::string_view text);  // str.rstrip()

}  // namespace hwtv::text::jinja
