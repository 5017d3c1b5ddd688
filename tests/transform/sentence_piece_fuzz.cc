// Any bytes as a SentencePiece model: read or refused with one full error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/check.h"
#include "transform/sentence_piece_file.h"

namespace hwtv {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = "tokenizer.model";
  const auto pieces = transform::parse_sentence_pieces(path, std::as_bytes(std::span(data, size)));
  if (pieces) {
    CHECK(!pieces->empty());
    for (const transform::SentencePiece& piece : *pieces) {
      CHECK(piece.text.size() <= size);
      CHECK(static_cast<int32_t>(piece.type) >= 1 && static_cast<int32_t>(piece.type) <= 6);
    }
    return 0;
  }
  CHECK(pieces.error().code == ErrorCode::corrupt_file && !pieces.error().advice.empty());
  return 0;
}

}  // namespace hwtv
