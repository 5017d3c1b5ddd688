// Depth pruning: whole layers are taken out of a model, those that change the residual stream
// least.  The influence of a layer over a text is 1 - the mean cosine between what goes into it and
// what comes out, token by token (Men et al. 2024, "ShortGPT: Layers in Large Language Models are
// More Redundant Than You Expect", arXiv:2403.03853, equation 1: Block Influence).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"

namespace hwtv::transform {

// Watches the residual stream as it passes from layer to layer.
class InfluenceMeter {
 public:
  explicit InfluenceMeter(int64_t n_layers) : cosines_(static_cast<size_t>(n_layers)) {}

  // What a norm reads: rows (n, width) of the residual stream, taken for the norm of this name.
  // "blk.N.attn_norm.weight" is what goes into layer N, "output_norm.weight" what comes out of the
  // last; other names are ignored.  Requires: the order in which one step computes.
  void observe(std::string_view norm, std::span<const float> rows, int64_t width);

  std::vector<double> influences() const;  // of each layer; 0 where no row was seen
  int64_t n_rows() const { return cosines_.empty() ? 0 : cosines_.front().n; }

 private:
  struct Sum {
    double cosine = 0;
    int64_t n = 0;
  };
  std::vector<Sum> cosines_;  // of each layer
  int64_t entered_ = -1;      // the layer whose input `before_` is; -1: none
  std::vector<float> before_;
};

// What the file says about its layers.
struct LayerPlan {
  std::string architecture;
  int64_t n_layers = 0;
  // Layer i does what its place says: all layers alike (1), or by i % period.
  int64_t period = 1;
};

// Errors: corrupt_file (no block_count); unsupported (a model whose number of layers decides how it
// computes).
Result<LayerPlan> read_layer_plan(const gguf::File& file);

// The n_removed layers, in their order, whose influences sum to the least, such that every layer
// that stays does at its new place what it did at its old one.
// Requires: 0 < n_removed < n_layers; one influence for each layer.
std::vector<int64_t> choose_layers(const LayerPlan& plan, std::span<const double> influences,
                                   int64_t n_removed);

struct PruneJob {
  const gguf::File& file;
  LayerPlan plan;
  std::vector<int64_t> removed;                              // of choose_layers()
  std::function<void(int64_t done_bytes)> on_progress = {};  // of pruned_bytes()
  std::function<bool()> is_cancelled = {};
};

int64_t pruned_bytes(const PruneJob& job);  // of the tensors that stay

// Writes what stays to `path`, renumbered; lists with one value for each layer lose those of the
// layers that go.  Errors: io (a full disk, with the bytes needed and free); cancelled.
Result<void> prune_file(const PruneJob& job, const std::string& path);

}  // namespace hwtv::transform
