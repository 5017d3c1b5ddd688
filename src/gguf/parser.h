// The header of one GGUF file, read and checked against the file's size.  For file.cc only.
// Source: the GGUF specification of the ggml project, versions 2 and 3.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "gguf/cursor.h"
#include "gguf/entry.h"
#include "gguf/tensor_info.h"

namespace hwtv::gguf {

// What a well-formed file may ask of this program's memory; a file beyond is refused as
// unsupported. Real files have about 100 entries, 3,000 tensors and arrays of 600,000 elements.
inline constexpr int64_t kEntriesMax = 1 << 14;
inline constexpr int64_t kTensorsMax = 1 << 16;  // all parts of a split model together
inline constexpr int64_t kArrayElementsMax = 1 << 22;
inline constexpr int64_t kKeyBytesMax = 1024;
inline constexpr int64_t kNameBytesMax = 256;  // the specification: 64
inline constexpr uint32_t kDimensionsMax = 4;
inline constexpr int64_t kDefaultAlignmentBytes = 32;

struct Header {
  uint32_t version = 0;
  int64_t alignment_bytes = kDefaultAlignmentBytes;
  std::vector<Entry> entries;            // file order; keys unique
  std::vector<uint32_t> entries_by_key;  // indices, sorted by key
  std::vector<TensorInfo> tensors;       // file order; extents inside the file, none overlap
};

// Requires: `bytes` are the whole file; `mapping` is where they come from or nullptr.
// Errors: as File::open.
Result<Header> parse_header(const std::string& path, std::span<const std::byte> bytes,
                            const MappedFile* mapping);

}  // namespace hwtv::gguf
