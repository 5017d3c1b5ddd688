// One model out of many files: what follows the colon of "owner/repo:Q4_K_M".  The same rule reads
// a hub's listing and the folder of a repository that was pulled.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::store {

struct ListedFile {
  std::string path;  // within the repository: "Q4_K_M/model-00001-of-00002.gguf"
  int64_t size_bytes = 0;
  std::string sha256;  // 64 hex digits; empty: not told
};

// The parts of one model in their order; a model in one file is one part.  `choice` is a
// quantization that a name contains as a word ("Q4_K_M"; upper or lower case), or a file's name or
// path that ends in ".gguf"; empty: the only model there is, or the only one of Q4_K_M.  Projectors
// and importance data ("mmproj", "imatrix") are chosen only by their file's name. Errors:
// invalid_request with the names that there are, also where several fit; corrupt_file when a split
// model lacks a part.  `place` tells whose files they are.
Result<std::vector<ListedFile>> choose_files(std::span<const ListedFile> files,
                                             std::string_view choice, const std::string& place);

}  // namespace hwtv::store
