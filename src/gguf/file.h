// A GGUF file (version 2 or 3, little-endian), opened: metadata and a directory of tensors over a
// read-only mapping.  No model knowledge.  Every count, length and offset has been checked against
// the file when open() returns, so reading can no longer fail; only pages that are read cost
// resident memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "gguf/entry.h"
#include "gguf/tensor_info.h"
#include "gguf/value.h"

namespace hwtv::gguf {

// One file of a model: its path and where it is mapped (for the mapping's Rss in smaps).
struct Part {
  std::string path;
  const std::byte* data;
  int64_t size_bytes;
};

class File {
 public:
  // Opens a file, or all parts of a split model ("NAME-00001-of-00003.gguf") given any one of them.
  // A file without tensors (a vocabulary) is fine.
  // Errors: io; corrupt_file, with the byte offset and what was expected there; unsupported
  // (version 1, big-endian, nested arrays, beyond the limits in parser.h).
  static Result<File> open(const std::string& path);

  // The same for one whole file in memory, which must outlive the File.  Split models: its own
  // tensors only.
  static Result<File> parse(std::span<const std::byte> bytes);

  const std::string& path() const { return parts_[0].path; }  // the first part's
  std::span<const Part> parts() const { return parts_; }
  int64_t size_bytes() const;      // all parts
  int64_t metadata_bytes() const;  // the values of all entries
  // Lets go of the resident pages that lie whole within `bytes`, a piece of a tensor: they are read
  // again from the file when needed.
  void release(std::span<const std::byte> bytes) const;
  uint32_t version() const { return version_; }
  int64_t alignment_bytes() const { return alignment_bytes_; }

  std::span<const TensorInfo> tensors() const { return tensors_; }  // in file order
  const TensorInfo* find_tensor(std::string_view name) const;       // nullptr: none

  std::span<const Entry> entries() const { return entries_; }  // in file order; the first part's
  const Value* find(std::string_view key) const;               // nullptr: none

  // A typed value: T is int64_t, double, bool, std::string_view or a std::vector of int64_t, float
  // or std::string_view; conversions as in Value.  nullopt: the key is absent.
  // Errors: corrupt_file, where the key is present with another type.
  //   HWTV_TRY(std::optional<double> theta, file.get<double>("llama.rope.freq_base"));
  template <typename T>
  Result<std::optional<T>> get(std::string_view key) const;

  // The same; an absent key is an error too (corrupt_file, naming key and type).
  template <typename T>
  Result<T> require(std::string_view key) const;

 private:
  File() = default;
  const Entry* find_entry(std::string_view key) const;
  static Result<File> open_one(const std::string& path);
  static Result<File> open_split(const std::string& path, int64_t n_parts);
  static Result<File> parse_one(const std::string& path, std::span<const std::byte> bytes,
                                const MappedFile* mapping);
  Result<void> append(File part, int64_t n_parts);
  Result<void> check_split(int64_t index, int64_t n_parts) const;
  Result<void> index_tensors();

  std::vector<MappedFile> mappings_;  // empty after parse()
  std::vector<Part> parts_;
  uint32_t version_ = 0;
  int64_t alignment_bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> entries_by_key_;   // indices, sorted by key
  std::vector<uint32_t> tensors_by_name_;  // indices, sorted by name
};

}  // namespace hwtv::gguf
