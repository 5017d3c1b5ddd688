// Whole files and mapped files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hwtv {

// The whole file as bytes.  Errors: io; invalid_request when larger than max_bytes.
Result<std::string> read_file(const std::string& path, int64_t max_bytes = int64_t{1} << 32);

// A file that is written piece by piece beside its path and appears there whole, or not at all.
class AtomicFile {
 public:
  // Errors of all three: io.
  static Result<AtomicFile> create(const std::string& path);
  Result<void> write(std::string_view bytes);
  Result<void> commit();  // flushes to the disk and renames; once
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();  // without commit(): removes what was written

 private:
  AtomicFile() = default;
  std::string path_;
  std::string beside_;
  int fd_ = -1;
};

// Writes beside `path`, flushes to the disk and renames: a reader sees the old file or the new one,
// and a failure (a full disk) leaves no trace.  Errors: io.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

// What is to be written must fit the disk of `path`.  Errors: io, with both numbers; none where the
// free space is not told.
Result<void> check_disk_space(const std::string& path, int64_t needed_bytes);

// Creates the folder and its parents.  Errors: io.
Result<void> make_folders(const std::string& path);

// A read-only private mapping of a whole file; unmapped on destruction.
class MappedFile {
 public:
  // Errors: io (missing, not a regular file, refused).
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  const std::string& path() const { return path_; }

  // Lets whole pages of [offset, offset + n) leave this process's resident memory; reading them
  // again brings them back from the file.
  void release_pages(int64_t offset, int64_t n) const;

 private:
  MappedFile() = default;
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace hwtv
