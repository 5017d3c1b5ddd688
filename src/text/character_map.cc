#include "text/character_map.h"

#include <fmt/format.h>

namespace hwtv::text {

namespace {

constexpr std::string_view kKey = "tokenizer.ggml.precompiled_charsmap";

uint32_t little_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[3]} << 24;
}

tl::unexpected<Error> corrupt(std::string what) {
  return fail(ErrorCode::corrupt_file, fmt::format("{}: {}", kKey, what),
              "convert the model again, or take another file of it");
}

uint32_t base_of(uint32_t entry) { return (entry >> 10) << ((entry & (1u << 9)) >> 6); }

}  // namespace

Result<CharacterMap> CharacterMap::from_gguf(const gguf::File& file) {
  CharacterMap map;
  HWTV_TRY(const auto values, file.get<std::vector<int64_t>>(kKey));
  if (!values || values->empty()) return map;
  std::vector<uint8_t> bytes;
  bytes.reserve(values->size());
  for (const int64_t value : *values) bytes.push_back(static_cast<uint8_t>(value));
  if (bytes.size() < 4) return corrupt(fmt::format("{} bytes are too few", bytes.size()));
  const size_t table_bytes = little_endian(bytes.data());
  if (table_bytes % 4 != 0 || table_bytes == 0 || table_bytes >= bytes.size() - 4) {
    return corrupt(fmt::format("a table of {} bytes in {} bytes", table_bytes, bytes.size()));
  }
  for (size_t at = 4; at < 4 + table_bytes; at += 4) {
    map.entries_.push_back(little_endian(bytes.data() + at));
  }
  map.replacements_.assign(bytes.begin() + 4 + static_cast<ptrdiff_t>(table_bytes), bytes.end());
  if (map.replacements_.back() != '\0') return corrupt("the last replacement has no end");
  return map;
}

std::optional<CharacterMap::Match> CharacterMap::find(std::string_view text) const {
  std::optional<Match> longest;
  if (entries_.empty()) return longest;
  // Real maps know no sequence that is longer; one that was made up may go round in circles.
  text = text.substr(0, 64);
  size_t state = base_of(entries_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(text[i]);
    state ^= byte;
    if (byte == 0 || state >= entries_.size()) break;
    const uint32_t entry = entries_[state];
    if ((entry & 0x800000FF) != byte) break;
    state ^= base_of(entry);
    if (!(entry & 1u << 8)) continue;
    const size_t place = state < entries_.size() ? entries_[state] & 0x7FFFFFFF : SIZE_MAX;
    if (place >= replacements_.size()) break;
    longest = Match{i + 1, std::string_view(replacements_.data() + place)};
  }
  return longest;
}

}  // namespace hwtv::text
