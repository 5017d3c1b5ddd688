// Walks the header of one GGUF file and never past its end; the one place that words what a bad
// file gives: the byte, what was expected there, and what was found.  For the parser only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace hwtv::gguf {

// Headers of real files stay below 20 MiB (262,144 tokens with their merges).
inline constexpr int64_t kHeaderBytesMax = int64_t{128} << 20;

class Cursor {
 public:
  // `mapping`: where `bytes` come from, nullptr for bytes in memory.  All outlive the cursor.
  Cursor(const std::string& path, std::span<const std::byte> bytes, const MappedFile* mapping)
      : path_(path), bytes_(bytes), mapping_(mapping) {}

  int64_t offset_bytes() const { return offset_; }
  int64_t size_bytes() const { return static_cast<int64_t>(bytes_.size()); }
  int64_t left_bytes() const { return size_bytes() - offset_; }

  // What is being read, for the messages that follow: "tensor", 3, its name once it is known.
  void enter(std::string_view kind, int64_t index, std::string_view name = {});

  // `what` names the thing in a message: "the length of a string".
  // Errors: corrupt_file at the end of the file; unsupported beyond kHeaderBytesMax.
  template <typename T>
  Result<T> read(std::string_view what) {
    HWTV_TRY_VOID(need(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof value);
    offset_ += static_cast<int64_t>(sizeof value);
    return value;
  }
  Result<std::span<const std::byte>> read_bytes(uint64_t n, std::string_view what);
  Result<std::string_view> read_string(std::string_view what);  // u64 length, then the bytes

  // Errors of the given place.  Both parts are noun phrases: "a power of two", "24".
  tl::unexpected<Error> corrupt(int64_t offset, std::string_view expected,
                                std::string_view found) const;
  tl::unexpected<Error> truncated(int64_t offset, std::string_view expected,
                                  std::string_view found) const;
  tl::unexpected<Error> unsupported(int64_t offset, std::string_view expected,
                                    std::string_view found, std::string advice) const;

 private:
  Result<void> need(uint64_t n, std::string_view what);
  std::string message(int64_t offset, std::string_view expected, std::string_view found) const;

  const std::string& path_;
  std::span<const std::byte> bytes_;
  const MappedFile* mapping_;
  int64_t offset_ = 0;
  int64_t released_ = 0;  // bytes before this one no longer count as resident
  std::string_view kind_;
  int64_t index_ = 0;
  std::string_view name_;
};

}  // namespace hwtv::gguf
