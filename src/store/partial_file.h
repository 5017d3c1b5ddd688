// A file on its way: "NAME.part" holds the bytes, from the first on without a gap, and
// "NAME.part.state" says whose they are.  It bears its own name only when it is whole.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/waiter.h"

namespace hwtv::store {

// What tells this file from another one of the same name.
struct FileIdentity {
  std::string validator;     // headers.h: an ETag or a date; empty: none
  int64_t total_bytes = -1;  // -1: not known
  std::string sha256;        // empty: not known
};

// The text of a state file and back; what cannot be read is an identity without anything.
std::string state_text(const FileIdentity& identity);
FileIdentity parse_state(std::string_view text);

class PartialFile {
 public:
  // Opens or creates NAME.part and locks it: one process fetches, others wait here until it ends.
  // nullopt: the file itself is there (now).  Errors: io, cancelled.
  static Result<std::optional<PartialFile>> open(const std::string& path, Waiter& waiter);

  int64_t size_bytes() const { return size_bytes_; }
  const FileIdentity& identity() const { return identity_; }
  const std::string& path() const { return part_path_; }

  Result<void> set_identity(FileIdentity identity);  // Errors: io

  // Bytes of the file from `at` on: those that are there already are compared, and where they
  // differ the file is cut off there; the others are appended.  Requires: at <= size_bytes().
  // Errors: io; what could be written before one stays.
  Result<void> put(int64_t at, std::string_view bytes);

  Result<void> shorten(int64_t size_bytes);  // to at most that.  Errors: io
  Result<void> clear();                      // no bytes, no identity.  Errors: io

  // Flushes to the disk and gives the file its name.  Errors: io.
  Result<void> finish();

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();  // unlocks; an empty one is removed

 private:
  PartialFile(std::string path, int fd);
  Result<void> append(std::string_view bytes);
  // How many of the bytes are the same as those at `at`.
  Result<size_t> n_equal(int64_t at, std::string_view bytes) const;

  std::string path_, part_path_, state_path_;
  int fd_ = -1;
  int64_t size_bytes_ = 0;
  FileIdentity identity_;
};

}  // namespace hwtv::store
