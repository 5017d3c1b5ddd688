#include "gguf/cursor.h"

#include <fmt/format.h>

#include "base/quoted.h"
#include "base/units.h"

namespace hwtv::gguf {

void Cursor::enter(std::string_view kind, int64_t index, std::string_view name) {
  kind_ = kind;
  index_ = index;
  name_ = name;
}

Result<std::span<const std::byte>> Cursor::read_bytes(uint64_t n, std::string_view what) {
  HWTV_TRY_VOID(need(n, what));
  const auto bytes = bytes_.subspan(static_cast<size_t>(offset_), static_cast<size_t>(n));
  offset_ += static_cast<int64_t>(n);
  return bytes;
}

Result<std::string_view> Cursor::read_string(std::string_view what) {
  HWTV_TRY(const uint64_t n_bytes, read<uint64_t>(what));
  HWTV_TRY(const std::span<const std::byte> bytes, read_bytes(n_bytes, what));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<void> Cursor::need(uint64_t n, std::string_view what) {
  if (n > static_cast<uint64_t>(left_bytes()))
    return truncated(offset_, fmt::format("{} bytes for {}", n, what),
                     fmt::format("{} until the end of the file", left_bytes()));
  const int64_t end = offset_ + static_cast<int64_t>(n);
  if (end > kHeaderBytesMax)
    return unsupported(
        offset_, fmt::format("a header of at most {}", format_bytes(kHeaderBytesMax)),
        fmt::format("one of at least {} bytes", end), "use a file with less metadata");
  // A hostile header of hundreds of MB may pass through memory, but not stay there.
  constexpr int64_t kWindowBytes = int64_t{8} << 20;
  if (mapping_ && offset_ - released_ > kWindowBytes) {
    mapping_->release_pages(released_, offset_ - released_);
    released_ = offset_;
  }
  return {};
}

tl::unexpected<Error> Cursor::corrupt(int64_t offset, std::string_view expected,
                                      std::string_view found) const {
  return fail(ErrorCode::corrupt_file, message(offset, expected, found),
              "the file is damaged: download or convert it again");
}

tl::unexpected<Error> Cursor::truncated(int64_t offset, std::string_view expected,
                                        std::string_view found) const {
  return fail(ErrorCode::corrupt_file, message(offset, expected, found),
              fmt::format("the file ({}) is cut short or damaged: download or copy it again",
                          format_bytes(static_cast<double>(size_bytes()))));
}

tl::unexpected<Error> Cursor::unsupported(int64_t offset, std::string_view expected,
                                          std::string_view found, std::string advice) const {
  return fail(ErrorCode::unsupported, message(offset, expected, found), std::move(advice));
}

std::string Cursor::message(int64_t offset, std::string_view expected,
                            std::string_view found) const {
  std::string text =
      fmt::format("{} at byte {}: expected {}, found {}", path_, offset, expected, found);
  if (!kind_.empty()) text += fmt::format(" ({} {}", kind_, index_);
  if (!kind_.empty()) text += name_.empty() ? ")" : fmt::format(", {})", quoted(name_));
  return text;
}

}  // namespace hwtv::gguf
