// Reads one architecture's metadata keys ("llama.block_count") with bounds, so that a message names
// the key, what it holds and what it may hold.  For config.cc and the architectures' own keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::model {

struct CountBounds {
  int64_t min = 1;
  int64_t max = int64_t{1} << 24;
};

struct NumberBounds {
  double min;
  double max;
};

class Metadata {
 public:
  // Keys are given without the prefix "<architecture>.".  Requires: `file` outlives the object.
  Metadata(const gguf::File& file, std::string_view architecture)
      : file_(file), architecture_(architecture) {}

  std::string key(std::string_view suffix) const;  // "llama.block_count"

  // A count; an array with one value for each layer counts as that value where all are equal.
  // nullopt: absent.  Errors: corrupt_file; unsupported (layers that differ).
  Result<std::optional<int64_t>> find_count(std::string_view suffix, CountBounds bounds = {}) const;
  Result<int64_t> count(std::string_view suffix, CountBounds bounds = {}) const;
  Result<int64_t> count_or(std::string_view suffix, int64_t otherwise,
                           CountBounds bounds = {}) const;

  // One flag for each layer.  nullopt: absent, or no array.  Errors: corrupt_file (too few).
  Result<std::optional<std::vector<bool>>> find_layer_flags(std::string_view suffix,
                                                            int64_t n_layers) const;

  // A finite number.  Errors: corrupt_file.
  Result<std::optional<double>> find_number(std::string_view suffix, NumberBounds bounds) const;
  Result<double> number(std::string_view suffix, NumberBounds bounds) const;
  Result<double> number_or(std::string_view suffix, double otherwise, NumberBounds bounds) const;

  Result<std::optional<std::string_view>> find_string(std::string_view suffix) const;
  Result<bool> flag_or(std::string_view suffix, bool otherwise) const;

  // An error about one key: "llama.block_count is 0; ..."
  tl::unexpected<Error> corrupt(std::string_view suffix, std::string_view complaint) const;
  tl::unexpected<Error> unsupported(std::string_view suffix, std::string_view complaint) const;

 private:
  tl::unexpected<Error> missing(std::string_view suffix) const;

  const gguf::File& file_;
  std::string architecture_;
};

// The advice that goes with every file that contradicts itself.
inline constexpr const char* kFetchAgain = "fetch the file again, or convert the model again";

}  // namespace hwtv::model
