#include "transform/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/file.h"
#include "gguf/writer.h"
#include "transform/counted_sink.h"
#include "transform/row_conversion.h"

namespace hwtv::transform {
namespace {

constexpr std::string_view kLayerPrefix = "blk.";

struct Periodic {
  std::string_view architecture;
  int64_t period;
  int64_t n_layers_27b;  // so many layers scale attention otherwise; 0: none do
};
// Where the file does not tell: which layers see a window only (gemma), or rotate nothing.
constexpr Periodic kPeriodic[] = {
    {"gemma2", 2, 46}, {"gemma3", 6, 62}, {"gpt-oss", 2, 0}, {"smollm3", 4, 0}};

// The number in "blk.12.attn_q.weight", and what follows it.
std::optional<std::pair<int64_t, std::string_view>> split_layer_name(std::string_view name) {
  if (!name.starts_with(kLayerPrefix)) return {};
  name.remove_prefix(kLayerPrefix.size());
  int64_t layer = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (error != std::errc() || layer < 0) return {};
  return std::pair(layer, name.substr(static_cast<size_t>(end - name.data())));
}

double cosine(const float* x, const float* y, int64_t n) {
  double dot = 0, xx = 0, yy = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
    dot += a * b;
    xx += a * a;
    yy += b * b;
  }
  return xx > 0 && yy > 0 ? dot / std::sqrt(xx * yy) : 0;
}

// The place of a layer after the others are gone; -1: it goes too.
int64_t new_place(const PruneJob& job, int64_t layer) {
  const auto at = std::ranges::lower_bound(job.removed, layer);
  if (at != job.removed.end() && *at == layer) return -1;
  return layer - (at - job.removed.begin());
}

// An array's elements without those of the layers that go.  Requires: one element for each layer,
// all of one size.
void set_kept(gguf::Writer& writer, const gguf::Entry& entry, const PruneJob& job) {
  const std::span<const std::byte> payload = entry.value.payload();
  const size_t n_bytes = payload.size() / static_cast<size_t>(job.plan.n_layers);
  std::vector<std::byte> kept;
  for (int64_t layer = 0; layer < job.plan.n_layers; ++layer) {
    if (new_place(job, layer) < 0) continue;
    const auto element = payload.subspan(static_cast<size_t>(layer) * n_bytes, n_bytes);
    kept.insert(kept.end(), element.begin(), element.end());
  }
  writer.set(entry.key, gguf::Value::array(entry.value.element_type(),
                                           static_cast<int64_t>(kept.size() / n_bytes), kept));
}

void copy_metadata(const PruneJob& job, gguf::Writer& writer) {
  const std::string prefix = job.plan.architecture + ".";
  for (const gguf::Entry& entry : job.file.entries()) {
    if (entry.key.starts_with("split.")) continue;
    const bool is_by_layer = entry.key.starts_with(prefix) &&
                             entry.value.type() == gguf::ValueType::ARRAY &&
                             entry.value.element_type() != gguf::ValueType::STRING &&
                             entry.value.n_elements() == job.plan.n_layers;
    if (is_by_layer)
      set_kept(writer, entry, job);
    else
      writer.set(entry.key, entry.value);
  }
  const auto n_removed = static_cast<int64_t>(job.removed.size());
  writer.set(prefix + "block_count", static_cast<uint32_t>(job.plan.n_layers - n_removed));
  std::vector<int32_t> removed(job.removed.begin(), job.removed.end());
  writer.set_array("prune.removed_layers", removed);
}

// The name of a tensor in the pruned file; empty: it goes.
std::string new_name(const PruneJob& job, std::string_view name) {
  const auto split = split_layer_name(name);
  if (!split) return std::string(name);
  const int64_t place = new_place(job, split->first);
  return place < 0 ? std::string() : fmt::format("{}{}{}", kLayerPrefix, place, split->second);
}

}  // namespace

void InfluenceMeter::observe(std::string_view norm, std::span<const float> rows, int64_t width) {
  int64_t layer = static_cast<int64_t>(cosines_.size());
  if (norm != "output_norm.weight") {
    const auto split = split_layer_name(norm);
    if (!split || split->second != ".attn_norm.weight") return;
    layer = split->first;
  }
  if (entered_ >= 0 && entered_ + 1 == layer && rows.size() == before_.size()) {
    Sum& sum = cosines_[static_cast<size_t>(entered_)];
    for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(width)) {
      sum.cosine += cosine(before_.data() + at, rows.data() + at, width);
      ++sum.n;
    }
  }
  entered_ = layer < static_cast<int64_t>(cosines_.size()) ? layer : -1;
  before_.assign(rows.begin(), rows.end());
}

std::vector<double> InfluenceMeter::influences() const {
  std::vector<double> out;
  for (const Sum& sum : cosines_)
    out.push_back(sum.n > 0 ? 1 - sum.cosine / static_cast<double>(sum.n) : 0);
  return out;
}

Result<LayerPlan> read_layer_plan(const gguf::File& file) {
  LayerPlan plan;
  HWTV_TRY(const std::string_view architecture,
           file.require<std::string_view>("general.architecture"));
  plan.architecture = architecture;
  HWTV_TRY(plan.n_layers, file.require<int64_t>(plan.architecture + ".block_count"));
  if (plan.n_layers < 1 || plan.n_layers > 1 << 16)
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}: {}.block_count is {}", file.path(), architecture, plan.n_layers),
                "fetch the file again, or convert the model again");
  const auto* known = std::ranges::find(kPeriodic, architecture, &Periodic::architecture);
  if (known == std::end(kPeriodic)) return plan;
  if (plan.n_layers == known->n_layers_27b)
    return fail(ErrorCode::unsupported,
                fmt::format("{}: {} with {} layers scales its attention by that number of layers",
                            file.path(), architecture, plan.n_layers),
                "prune another size of the family");
  plan.period = known->period;
  const gguf::Value* pattern = file.find(plan.architecture + ".attention.sliding_window_pattern");
  if (!pattern) return plan;
  if (const auto told = pattern->as_int())
    plan.period = std::max<int64_t>(1, *told);
  else  // one value for each layer, which goes or stays with it
    plan.period = 1;
  return plan;
}

std::vector<int64_t> choose_layers(const LayerPlan& plan, std::span<const double> influences,
                                   int64_t n_removed) {
  const int64_t n = plan.n_layers, n_kept = n - n_removed;
  CHECK(n_removed > 0 && n_kept > 0 && static_cast<int64_t>(influences.size()) == n);
  // least[i][j]: the least that the first i layers can lose when j of them stay.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto width = static_cast<size_t>(n_kept) + 1;
  std::vector<double> least(static_cast<size_t>(n + 1) * width, kNever);
  const auto at = [&](int64_t i, int64_t j) -> double& {
    return least[static_cast<size_t>(i) * width + static_cast<size_t>(j)];
  };
  const auto can_stay = [&](int64_t layer, int64_t place) {
    return layer % plan.period == place % plan.period;
  };
  at(0, 0) = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= std::min(i, n_kept); ++j) {
      const double lost = at(i, j) + influences[static_cast<size_t>(i)];
      at(i + 1, j) = std::min(at(i + 1, j), lost);
      if (j < n_kept && can_stay(i, j)) at(i + 1, j + 1) = std::min(at(i + 1, j + 1), at(i, j));
    }
  std::vector<int64_t> removed;
  for (int64_t i = n, j = n_kept; i > 0; --i) {
    const bool stays = j > 0 && can_stay(i - 1, j - 1) && at(i, j) == at(i - 1, j - 1);
    if (stays)
      --j;
    else
      removed.push_back(i - 1);
  }
  std::ranges::reverse(removed);
  CHECK(static_cast<int64_t>(removed.size()) == n_removed);
  return removed;
}

int64_t pruned_bytes(const PruneJob& job) {
  int64_t sum = 0;
  for (const gguf::TensorInfo& tensor : job.file.tensors())
    if (!new_name(job, tensor.name).empty()) sum += tensor.n_bytes;
  return sum;
}

Result<void> prune_file(const PruneJob& job, const std::string& path) {
  HWTV_TRY_VOID(check_disk_space(path, pruned_bytes(job)));
  gguf::Writer writer;
  copy_metadata(job, writer);
  int64_t done_bytes = 0;
  for (const gguf::TensorInfo& tensor : job.file.tensors()) {
    const std::string name = new_name(job, tensor.name);
    if (name.empty()) continue;
    HWTV_TRY(const DType dtype, tensor.require_dtype());
    const auto source = [&, from = &tensor](const gguf::Writer::Sink& sink) {
      const auto counted = counted_sink(job, path, sink, done_bytes);
      return copy_bytes({from->data, static_cast<size_t>(from->n_bytes)}, counted,
                        [&](std::span<const std::byte> bytes) { job.file.release(bytes); });
    };
    HWTV_TRY_VOID(writer.add_tensor(name, dtype, tensor.shape, source));
  }
  return writer.write(path);
}

}  // namespace hwtv::transform
