// One tensor on its way from a file into another: rows to floats, floats to the new type, a few
// thousand at a time, on a team.  For quantize and convert.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/error.h"
#include "base/thread_team.h"
#include "gguf/writer.h"

namespace hwtv::transform {

struct RowConversion {
  std::string_view path, name;  // of the file and the tensor, for messages
  DType from, to;
  int64_t width;   // elements of a row
  int64_t n_rows;  // of all matrices
  const std::byte* data;
  std::function<int64_t(int64_t)> source_row = {};  // of each row; empty: as they lie
  float addend = 0;                                 // to every element
  std::span<const float> importance = {};  // (n_matrices, width), or empty: every column alike
  int64_t matrix_rows = 1;                 // rows of one matrix, where importance is given
  std::function<void(std::span<const std::byte>)> release = {};  // bytes that were read
};

// sqrt(sum (x - y)^2 / sum x^2).  The bits do not depend on the team's size.
// Errors: corrupt_file (an element that is not finite or too large for its type, by name and
// index); what the sink returns.
Result<double> convert_rows(const RowConversion& conversion, ThreadTeam& team,
                            const gguf::Writer::Sink& sink);

// Bytes as they are, some MiB at a time.  Errors: what the sink returns.
Result<void> copy_bytes(std::span<const std::byte> bytes, const gguf::Writer::Sink& sink,
                        const std::function<void(std::span<const std::byte>)>& release);

}  // namespace hwtv::transform
