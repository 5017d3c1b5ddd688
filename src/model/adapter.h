// A LoRA adapter: a GGUF file with a pair of low-rank matrices for some of a model's, as the
// llama.cpp project's converter writes it.  Opening reads the header only.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::model {

class Adapter {
 public:
  // What is added to the product with `tensor`: scale * (x . a^T) . b^T.
  struct Pair {
    std::string_view tensor;
    const gguf::TensorInfo* a;  // (n_in, rank) as the file gives shapes
    const gguf::TensorInfo* b;  // (rank, n_out)
    float scale;                // what was asked for, times alpha / rank

    int64_t rank() const { return a->shape[1]; }
  };

  // Errors: those of gguf::File::open; invalid_request (a file that is no adapter);
  // unsupported (another kind of adapter, a tensor that is neither a nor b, a tensor type, the
  // token embedding); corrupt_file (one of a pair missing, ranks that differ, an alpha that is no
  // F32 number).
  static Result<Adapter> open(const std::string& path, float scale);
  static Result<Adapter> from_file(gguf::File file, float scale);

  // Whether it was made for this model.  Errors: invalid_request (another architecture, a tensor
  // that the model does not have, shapes that do not fit: with the names and numbers of both).
  Result<void> check_base(const gguf::File& model) const;

  const gguf::File& file() const { return file_; }
  std::string name() const;                               // the file's, without its folder
  float scale() const { return scale_; }                  // as asked for
  std::span<const Pair> pairs() const { return pairs_; }  // sorted by tensor
  const Pair* find(std::string_view tensor) const;        // nullptr: none
  int64_t n_bytes() const;                                // of all pairs, as the file stores them

 private:
  Adapter(gguf::File file, float scale) : file_(std::move(file)), scale_(scale) {}
  Result<void> check_kind() const;
  Result<void> read_pairs();
  Result<void> set_scales();

  gguf::File file_;
  float scale_;
  std::vector<Pair> pairs_;
};

}  // namespace hwtv::model
