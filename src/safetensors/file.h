// A safetensors file, opened: a directory of named tensors over a read-only mapping.  No model
// knowledge.  Every length, shape and offset has been checked against the file when open() returns;
// only pages that are read cost resident memory.
// Source: the format's own page (huggingface/safetensors, README): 8 bytes of header length,
// little-endian, a JSON object, then the tensors' bytes without holes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/file.h"

namespace hwtv::safetensors {

// What a well-formed file may ask of this program's memory; a file beyond is refused as
// unsupported.
inline constexpr int64_t kHeaderBytesMax = 100'000'000;  // the format's own limit
inline constexpr int64_t kTensorsMax = 1 << 18;
inline constexpr size_t kNameBytesMax = 1024;
inline constexpr size_t kDimensionsMax = 8;

struct TensorInfo {
  std::string name;
  std::string type;            // as in the file: "BF16", "F8_E4M3"
  std::optional<DType> dtype;  // nullopt: a type that this program does not compute with
  std::vector<int64_t> shape;  // shape.back() is contiguous; may be empty, sizes may be 0
  int64_t n_elements = 1;
  std::span<const std::byte> bytes;
};

// "4 x 64", "one element".
std::string shape_text(std::span<const int64_t> shape);

class File {
 public:
  // Errors: io; corrupt_file, with the tensor and the numbers; unsupported (an unknown element
  // type, beyond the limits above).
  static Result<File> open(const std::string& path);

  // The same for a whole file in memory, which must outlive the File.
  static Result<File> parse(std::span<const std::byte> bytes);

  const std::string& path() const { return path_; }
  std::span<const TensorInfo> tensors() const { return tensors_; }  // in the header's order
  const TensorInfo* find(std::string_view name) const;              // nullptr: none

  // Lets go of the resident pages that lie whole within `bytes`, a piece of a tensor.
  void release(std::span<const std::byte> bytes) const;

 private:
  File() = default;

  std::string path_;
  std::optional<MappedFile> mapping_;  // none after parse()
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> by_name_;  // indices, sorted by name
};

}  // namespace hwtv::safetensors
