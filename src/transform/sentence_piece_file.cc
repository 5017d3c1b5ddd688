#include "transform/sentence_piece_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace hwtv::transform {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint64_t number;
  uint64_t value;                    // of kVarint, kFixed32
  std::span<const std::byte> bytes;  // of kBytes
};

// Walks the fields of one message and never past its end.
class Message {
 public:
  // `offset`: of the message in its file, for errors.
  Message(const std::string& path, std::span<const std::byte> bytes, size_t offset)
      : path_(path), bytes_(bytes), offset_(offset) {}

  bool is_at_end() const { return at_ == bytes_.size(); }
  size_t offset() const { return offset_ + at_; }

  Result<Field> next() {
    HWTV_TRY(const uint64_t tag, varint());
    Field field{.number = tag >> 3, .value = 0, .bytes = {}};
    switch (tag & 7) {
      case kVarint: {
        HWTV_TRY(field.value, varint());
        return field;
      }
      case kFixed32: {
        HWTV_TRY(const auto bytes, take(4));
        uint32_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        field.value = value;
        return field;
      }
      case kFixed64: {
        HWTV_TRY(field.bytes, take(8));
        return field;
      }
      case kBytes: {
        HWTV_TRY(const uint64_t length, varint());
        HWTV_TRY(field.bytes, take(length));
        return field;
      }
      default:
        return corrupt(fmt::format("a field of type {}", tag & 7));
    }
  }

 private:
  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      HWTV_TRY(const auto byte, take(1));
      const auto bits = static_cast<uint64_t>(byte[0]);
      value |= (bits & 0x7f) << shift;
      if (bits < 0x80) return value;
    }
    return corrupt("a number of more than 64 bits");
  }

  Result<std::span<const std::byte>> take(uint64_t n) {
    if (n > bytes_.size() - at_)
      return corrupt(fmt::format("{} bytes announced, {} left", n, bytes_.size() - at_));
    const auto taken = bytes_.subspan(at_, static_cast<size_t>(n));
    at_ += static_cast<size_t>(n);
    return taken;
  }

  tl::unexpected<Error> corrupt(std::string_view what) const {
    return fail(ErrorCode::corrupt_file, fmt::format("{}: {} at byte {}", path_, what, offset()),
                "the file is damaged or no SentencePiece model: fetch it again");
  }

  const std::string& path_;
  std::span<const std::byte> bytes_;
  size_t offset_;
  size_t at_ = 0;
};

Result<SentencePiece> parse_piece(Message message) {
  SentencePiece piece;
  while (!message.is_at_end()) {
    HWTV_TRY(const Field field, message.next());
    if (field.number == 1)
      piece.text.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
    else if (field.number == 2)
      piece.score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
    else if (field.number == 3 && field.value >= 1 && field.value <= 6)
      piece.type = static_cast<PieceType>(field.value);
  }
  return piece;
}

}  // namespace

Result<std::vector<SentencePiece>> parse_sentence_pieces(const std::string& path,
                                                         std::span<const std::byte> bytes) {
  std::vector<SentencePiece> pieces;
  Message model(path, bytes, 0);
  while (!model.is_at_end()) {
    HWTV_TRY(const Field field, model.next());
    if (field.number != 1) continue;
    if (pieces.size() == kPiecesMax)
      return fail(ErrorCode::unsupported,
                  fmt::format("{} has more than {} pieces", path, kPiecesMax),
                  "real vocabularies have 262,144");
    HWTV_TRY(SentencePiece piece,
             parse_piece(Message(path, field.bytes, model.offset() - field.bytes.size())));
    pieces.push_back(std::move(piece));
  }
  if (!pieces.empty()) return pieces;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has no pieces in {} bytes", path, bytes.size()),
              "it is no SentencePiece model: fetch it again");
}

}  // namespace hwtv::transform
