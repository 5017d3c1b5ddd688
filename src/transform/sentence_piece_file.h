// tokenizer.model, the file of the SentencePiece library: its pieces.  A protocol buffer
// (sentencepiece_model.proto), of which only field 1 is read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace hwtv::transform {

enum class PieceType : int32_t { normal = 1, unknown, control, user_defined, unused, byte };

struct SentencePiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::normal;
};

inline constexpr size_t kPiecesMax = 1 << 22;

// Errors: corrupt_file, with the byte; unsupported (more than kPiecesMax pieces).
Result<std::vector<SentencePiece>> parse_sentence_pieces(const std::string& path,
                                                         std::span<const std::byte> bytes);

}  // namespace hwtv::transform
