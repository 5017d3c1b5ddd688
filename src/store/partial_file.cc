#include "store/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/units.h"
#include "store/headers.h"
#include "store/sha256.h"

namespace hwtv::store {
namespace {

constexpr std::string_view kMagic = "hwtv partial file 1\n";
constexpr int64_t kStateBytesMax = 4096;
constexpr double kLookEvery_s = 0.1;

tl::unexpected<Error> io_error(const std::string& action, const std::string& path) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return fail(
      ErrorCode::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(number)),
      full ? "free some space there, or set HWTV_CACHE to a folder on another disk; what was "
             "fetched stays, and the same command goes on from there"
           : "check the folder's permissions, or set HWTV_CACHE to another folder");
}

// Whether the path still names what the descriptor holds: it may have been renamed or removed.
bool is_same_file(int fd, const std::string& path) {
  struct stat held {
  }, named{};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Result<void> lock(int fd, const std::string& path, Waiter& waiter) {
  bool told = false;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return io_error("lock", path);
    if (!told) waiter.note(fmt::format("another process fetches {}: waiting for it", path));
    told = true;
    HWTV_TRY_VOID(waiter.wait(kLookEvery_s));
  }
  return {};
}

void sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

std::string state_text(const FileIdentity& identity) {
  return fmt::format("{}validator {}\nbytes {}\nsha256 {}\n", kMagic, identity.validator,
                     identity.total_bytes, identity.sha256);
}

FileIdentity parse_state(std::string_view text) {
  if (!text.starts_with(kMagic)) return {};
  text.remove_prefix(kMagic.size());
  const auto line = [&](std::string_view key) -> std::optional<std::string> {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos || !text.starts_with(key)) return std::nullopt;
    const std::string value(text.substr(key.size(), end - std::min(end, key.size())));
    text.remove_prefix(end + 1);
    return value;
  };
  const auto validator = line("validator "), bytes = line("bytes "), sha256 = line("sha256 ");
  if (!validator || !bytes || !sha256) return {};
  return {*validator, parse_count(*bytes).value_or(-1), sha256_text(*sha256)};
}

PartialFile::PartialFile(std::string path, int fd)
    : path_(std::move(path)),
      part_path_(path_ + ".part"),
      state_path_(part_path_ + ".state"),
      fd_(fd) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_path_(std::move(other.part_path_)),
      state_path_(std::move(other.state_path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_bytes_(other.size_bytes_),
      identity_(std::move(other.identity_)) {}

PartialFile::~PartialFile() {
  if (fd_ < 0) return;
  if (size_bytes_ == 0) {
    ::unlink(state_path_.c_str());
    ::unlink(part_path_.c_str());
  }
  ::close(fd_);
}

Result<std::optional<PartialFile>> PartialFile::open(const std::string& path, Waiter& waiter) {
  const std::string part = path + ".part";
  for (;;) {
    std::error_code code;
    if (std::filesystem::exists(path, code)) return std::optional<PartialFile>();
    const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return io_error("create", part);
    PartialFile file(path, fd);
    file.size_bytes_ = -1;  // not to be removed until it is locked
    HWTV_TRY_VOID(lock(fd, part, waiter));
    if (!is_same_file(fd, part)) continue;  // who had it has finished it or removed it
    struct stat info {};
    if (::fstat(fd, &info) != 0) return io_error("examine", part);
    file.size_bytes_ = info.st_size;
    if (std::filesystem::exists(path, code)) return std::optional<PartialFile>();
    if (const auto state = read_file(file.state_path_, kStateBytesMax))
      file.identity_ = parse_state(*state);
    return std::optional<PartialFile>(std::move(file));
  }
}

Result<void> PartialFile::set_identity(FileIdentity identity) {
  HWTV_TRY_VOID(write_file_atomically(state_path_, state_text(identity)));
  identity_ = std::move(identity);
  return {};
}

Result<size_t> PartialFile::n_equal(int64_t at, std::string_view bytes) const {
  char there[1 << 16];
  size_t n = 0;
  while (n < bytes.size()) {
    const size_t wanted = std::min(sizeof there, bytes.size() - n);
    const ssize_t got = ::pread(fd_, there, wanted, at + static_cast<int64_t>(n));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", part_path_);
    if (got == 0) return n;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(n);
    const auto differs = std::mismatch(begin, begin + got, there).first;
    n += static_cast<size_t>(differs - begin);
    if (differs != begin + got) return n;
  }
  return n;
}

Result<void> PartialFile::put(int64_t at, std::string_view bytes) {
  if (at < size_bytes_) {
    const auto n_there = static_cast<size_t>(
        std::min<int64_t>(size_bytes_ - at, static_cast<int64_t>(bytes.size())));
    HWTV_TRY(const size_t n, n_equal(at, bytes.substr(0, n_there)));
    if (n < n_there) HWTV_TRY_VOID(shorten(at + static_cast<int64_t>(n)));
    bytes.remove_prefix(n);
  }
  return append(bytes);
}

Result<void> PartialFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), size_bytes_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      Error error = io_error("write", part_path_).value();
      error.what += fmt::format(" at {}", format_bytes(size_bytes_));
      return fail(std::move(error));
    }
    size_bytes_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<void> PartialFile::shorten(int64_t size_bytes) {
  if (size_bytes >= size_bytes_) return {};
  if (::ftruncate(fd_, size_bytes) != 0) return io_error("cut off", part_path_);
  size_bytes_ = size_bytes;
  return {};
}

Result<void> PartialFile::clear() {
  // The bytes go first, and surely: a state must never speak of bytes of another file.
  if (::ftruncate(fd_, 0) != 0 || ::fsync(fd_) != 0) return io_error("empty", part_path_);
  size_bytes_ = 0;
  ::unlink(state_path_.c_str());
  identity_ = {};
  return {};
}

Result<void> PartialFile::finish() {
  if (::fsync(fd_) != 0) return io_error("flush", part_path_);
  if (::rename(part_path_.c_str(), path_.c_str()) != 0) return io_error("rename to", path_);
  ::unlink(state_path_.c_str());
  sync_folder(path_);
  ::close(std::exchange(fd_, -1));
  return {};
}

}  // namespace hwtv::store
