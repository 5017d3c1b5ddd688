#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hwtv {
namespace {

// An open file descriptor that closes itself.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

tl::unexpected<Error> io_error(const std::string& action, const std::string& path) {
  const int number = errno;
  std::string advice = "check the path and its permissions";
  if (number == ENOSPC || number == EDQUOT) advice = "free some space on that disk, or choose another folder";
  return fail(ErrorCode::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(number)),
              advice);
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("write", path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, int64_t max_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return io_error("open", path);
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", path);
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
    if (static_cast<int64_t>(bytes.size()) > max_bytes)
      return fail(ErrorCode::invalid_request,
                  fmt::format("{} is larger than {} bytes", path, max_bytes), "give a smaller file");
  }
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string beside = fmt::format("{}.{}.part", path, ::getpid());
  Result<void> written;
  {
    Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.fd < 0) return io_error("create", beside);
    written = write_all(file.fd, bytes, path);
    if (written && ::fsync(file.fd) != 0) written = io_error("flush", path);
  }
  if (written && ::rename(beside.c_str(), path.c_str()) != 0) written = io_error("rename to", path);
  if (!written) ::unlink(beside.c_str());
  return written;
}

Result<void> make_folders(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code)
    return fail(ErrorCode::io, fmt::format("cannot create folder {}: {}", path, code.message()),
                "check its parent's permissions, or set XDG_CACHE_HOME / XDG_STATE_HOME");
  return {};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return io_error("open", path);
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) return io_error("examine", path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::io, fmt::format("{} is not a regular file", path), "give a file's path");
  MappedFile mapped;
  mapped.path_ = path;
  mapped.size_bytes_ = static_cast<size_t>(info.st_size);
  if (mapped.size_bytes_ == 0) return mapped;
  void* at = ::mmap(nullptr, mapped.size_bytes_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED) return io_error("map", path);
  mapped.data_ = static_cast<const std::byte*>(at);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_bytes_);
}

}  // namespace hwtv
