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

#include "base/units.h"

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
  if (number == ENOSPC || number == EDQUOT)
    advice = "free some space on that disk, or choose another folder";
  return fail(ErrorCode::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(number)),
              advice);
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
                  fmt::format("{} is larger than {} bytes", path, max_bytes),
                  "give a smaller file");
  }
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return fail(ErrorCode::io, fmt::format("{} is not a regular file and cannot be replaced", path),
                "give the path of a file");
  AtomicFile file;
  file.path_ = path;
  file.beside_ = fmt::format("{}.{}.part", path, ::getpid());
  file.fd_ = ::open(file.beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file.fd_ < 0) return io_error("create", file.beside_);
  return file;
}

Result<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("write", path_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (::fsync(fd_) != 0) return io_error("flush", path_);
  if (::rename(beside_.c_str(), path_.c_str()) != 0) return io_error("rename to", path_);
  beside_.clear();
  return {};
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(beside_, other.beside_);
  std::swap(fd_, other.fd_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  HWTV_TRY(AtomicFile file, AtomicFile::create(path));
  HWTV_TRY_VOID(file.write(bytes));
  return file.commit();
}

Result<void> check_disk_space(const std::string& path, int64_t needed_bytes) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, code);
  if (code || space.available >= static_cast<uintmax_t>(needed_bytes)) return {};
  return fail(ErrorCode::io,
              fmt::format("{} needs {}, its disk has {} free", path,
                          format_bytes(static_cast<double>(needed_bytes)),
                          format_bytes(static_cast<double>(space.available))),
              "free some space on that disk, or choose another folder");
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
  // O_NONBLOCK: a FIFO without a writer is refused below instead of waited for.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return io_error("open", path);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return io_error("examine", path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::io, fmt::format("{} is not a regular file", path), "give a file's path");
  MappedFile mapped;
  mapped.path_ = path;
  mapped.size_bytes_ = static_cast<size_t>(info.st_size);
  if (mapped.size_bytes_ == 0) return mapped;
  void* at = ::mmap(nullptr, mapped.size_bytes_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED && errno == ENOMEM)
    return fail(ErrorCode::out_of_memory,
                fmt::format("{} needs {} bytes of address space", path, mapped.size_bytes_),
                "raise the limit (ulimit -v), or use a smaller model");
  if (at == MAP_FAILED) return io_error("map", path);
  mapped.data_ = static_cast<const std::byte*>(at);
  return mapped;
}

void MappedFile::release_pages(int64_t offset, int64_t n) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t begin = (offset + page - 1) / page * page, end = (offset + n) / page * page;
  if (end <= begin) return;
  std::byte* const at = const_cast<std::byte*>(data_) + begin;
  // Or Linux, which likes to map what it has in the page cache by 2 MiB, would bring them back.
  ::madvise(at, static_cast<size_t>(end - begin), MADV_NOHUGEPAGE);
  ::madvise(at, static_cast<size_t>(end - begin), MADV_DONTNEED);
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
