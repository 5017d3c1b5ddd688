// Importance data: how strongly each input column of each weight is driven by a text, as the mean
// of its squared activations.  Read and written in the GGUF form of llama.cpp's llama-imatrix.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::transform {

// One weight's sums; a weight of several matrices (experts) has as many rows.
struct ColumnSums {
  std::vector<double> squares;  // (n_matrices, width)
  std::vector<int64_t> n_rows;  // (n_matrices): activation rows that were summed

  void add(std::span<const float> row);  // one row of activations.  Requires: one matrix
  // The mean square of each column, (n_matrices, width); 1 in a matrix that no row has visited.
  std::vector<float> means() const;
};

struct Importance {
  std::map<std::string, ColumnSums, std::less<>> weights;  // by tensor name
  std::vector<std::string> datasets;                       // the texts, as they were called
  int64_t n_chunks = 0;
  int64_t chunk_tokens = 0;
};

// Errors: those of gguf::File::open; corrupt_file (no importance data, sums without counts, a value
// that is not finite or is negative).
Result<Importance> read_importance(const std::string& path);

// Written beside and renamed.  Errors: io.
Result<void> write_importance(const std::string& path, const Importance& importance);

}  // namespace hwtv::transform
