// Writes a model file anew with other tensor types.  A few rows are in memory at a time; the result
// appears whole or not at all.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_team.h"
#include "gguf/file.h"
#include "transform/importance.h"
#include "transform/mix.h"

namespace hwtv::transform {

struct QuantizeJob {
  const gguf::File& file;
  MixInfo mix;
  std::vector<TensorChoice> choices;        // of choose_types(); for each tensor of the file
  const Importance* importance = nullptr;   // null: every column counts alike
  std::string importance_path = {};         // told in the result's metadata
  std::function<void(int64_t done_bytes)> on_progress = {};  // of output_bytes()
  std::function<bool()> is_cancelled = {};
};

// Bytes of all tensors as they are chosen.
int64_t output_bytes(std::span<const TensorChoice> choices);

// sqrt(sum (x - y)^2 / sum x^2) of each tensor; nullopt where it is copied.
using RelativeErrors = std::vector<std::optional<double>>;

// Writes the result to `path`; its bits do not depend on the team's size.
// Errors: invalid_request (importance data of another model); corrupt_file (an element that is not
// finite or too large for its type, by name and index); io (a full disk, with the bytes that are
// needed and free); cancelled.
Result<RelativeErrors> quantize_file(const QuantizeJob& job, const std::string& path,
                                     ThreadTeam& team);

}  // namespace hwtv::transform
