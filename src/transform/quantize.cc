#include "transform/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/units.h"
#include "gguf/quoted.h"
#include "gguf/writer.h"
#include "ops/dequantize.h"
#include "ops/quantize_weights.h"

namespace hwtv::transform {
namespace {

constexpr int64_t kSlabElements = 1 << 20;
constexpr int64_t kSlabBytes = 4 << 20;
constexpr uint32_t kQuantizationVersion = 2;  // of the layouts in ops/quant_blocks.h

std::string size_text(int64_t n_bytes) { return format_bytes(static_cast<double>(n_bytes)); }

int64_t bytes_of(const TensorChoice& choice) {
  return dtype_bytes(choice.to, choice.tensor->n_elements);
}

// What became of one row.
struct RowResult {
  double error = 0, square = 0;  // sums over the row
  int64_t bad = -1;              // the first element that cannot be stored
};

// One tensor on its way: rows to floats, floats to the new type, some thousands at a time.
class Conversion {
 public:
  Conversion(const QuantizeJob& job, const TensorChoice& choice, ThreadTeam& team)
      : job_(job),
        choice_(choice),
        tensor_(*choice.tensor),
        team_(team),
        width_(tensor_.shape.empty() ? 1 : tensor_.shape[0]),
        n_rows_(tensor_.n_elements / width_),
        matrix_rows_(tensor_.shape.size() > 1 ? tensor_.shape[1] : 1),
        from_bytes_(dtype_bytes(choice.from, width_)),
        to_bytes_(dtype_bytes(choice.to, width_)),
        floats_(static_cast<size_t>(2 * width_ * team.n_threads())) {}

  // Errors: invalid_request, corrupt_file; what the sink returns.
  Result<double> run(const gguf::Writer::Sink& sink) {
    HWTV_TRY_VOID(find_importance());
    const int64_t slab_rows = std::max<int64_t>(1, kSlabElements / width_);
    double error = 0, square = 0;
    for (int64_t first = 0; first < n_rows_; first += slab_rows) {
      const int64_t n = std::min(slab_rows, n_rows_ - first);
      convert_slab(first, n);
      for (int64_t i = 0; i < n; ++i) {
        const RowResult& row = results_[static_cast<size_t>(i)];
        if (row.bad >= 0) return bad_element(first + i, row.bad);
        error += row.error;
        square += row.square;
      }
      HWTV_TRY_VOID(sink({slab_.data(), static_cast<size_t>(n * to_bytes_)}));
      job_.file.release(
          {tensor_.data + first * from_bytes_, static_cast<size_t>(n * from_bytes_)});
    }
    return square > 0 ? std::sqrt(error / square) : 0.0;
  }

 private:
  Result<void> find_importance() {
    if (!job_.importance || !is_quantized(choice_.to)) return {};
    const auto found = job_.importance->weights.find(tensor_.name);
    if (found == job_.importance->weights.end()) return {};
    importance_ = found->second.means();
    const int64_t n_needed = n_rows_ / matrix_rows_ * width_;
    if (static_cast<int64_t>(importance_.size()) == n_needed) return {};
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{}: tensor {} has {} columns, its importance data {}", job_.importance_path,
                    gguf::quoted(tensor_.name), n_needed, importance_.size()),
        "use importance data that was collected from this model");
  }

  void convert_slab(int64_t first, int64_t n) {
    slab_.resize(static_cast<size_t>(n * to_bytes_));
    results_.assign(static_cast<size_t>(n), {});
    const int64_t grain = std::max<int64_t>(1, 4096 / width_);
    team_.for_each_chunk(n, grain, [&](int64_t begin, int64_t end, int member) {
      float* floats = floats_.data() + 2 * width_ * member;
      for (int64_t i = begin; i < end; ++i)
        results_[static_cast<size_t>(i)] =
            convert_row(first + i, floats, slab_.data() + i * to_bytes_);
    });
  }

  // floats (2, width): room.
  RowResult convert_row(int64_t row, float* floats, std::byte* out) const {
    float* x = floats;
    float* y = floats + width_;
    ops::dequantize_row(choice_.from, tensor_.data + row * from_bytes_, x, width_);
    const float limit = ops::weight_limit(choice_.to);
    RowResult result;
    for (int64_t i = 0; i < width_; ++i) {
      if (std::fabs(x[i]) <= limit) continue;  // not so for NaN
      result.bad = i;
      return result;
    }
    const float* importance =
        importance_.empty() ? nullptr : importance_.data() + row / matrix_rows_ * width_;
    ops::quantize_weights(choice_.to, x, importance, out, width_);
    ops::dequantize_row(choice_.to, out, y, width_);
    for (int64_t i = 0; i < width_; ++i) {
      const double error = static_cast<double>(x[i]) - static_cast<double>(y[i]);
      result.error += error * error;
      result.square += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    return result;
  }

  tl::unexpected<Error> bad_element(int64_t row, int64_t column) const {
    std::vector<float> x(static_cast<size_t>(width_));
    ops::dequantize_row(choice_.from, tensor_.data + row * from_bytes_, x.data(), width_);
    const float value = x[static_cast<size_t>(column)];
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{}: element {} of tensor {} (row {}, column {}) is {}, which {} cannot "
                    "hold",
                    job_.file.path(), row * width_ + column, gguf::quoted(tensor_.name), row,
                    column, value, dtype_name(choice_.to)),
        std::isfinite(value)
            ? "use BF16 or F32, which hold numbers of that size"
            : "the file is damaged, or its training failed: convert the model again");
  }

  const QuantizeJob& job_;
  const TensorChoice& choice_;
  const gguf::TensorInfo& tensor_;
  ThreadTeam& team_;
  const int64_t width_, n_rows_, matrix_rows_;
  const int64_t from_bytes_, to_bytes_;  // of one row
  std::vector<float> importance_;        // (n_matrices, width) or empty
  std::vector<float> floats_;            // (n_threads, 2, width)
  std::vector<std::byte> slab_;
  std::vector<RowResult> results_;
};

Result<void> copy_tensor(const gguf::File& file, const gguf::TensorInfo& tensor,
                         const gguf::Writer::Sink& sink) {
  for (int64_t at = 0; at < tensor.n_bytes; at += kSlabBytes) {
    const int64_t n = std::min(kSlabBytes, tensor.n_bytes - at);
    const std::span<const std::byte> bytes(tensor.data + at, static_cast<size_t>(n));
    HWTV_TRY_VOID(sink(bytes));
    file.release(bytes);
  }
  return {};
}

void copy_metadata(const QuantizeJob& job, gguf::Writer& writer) {
  for (const gguf::Entry& entry : job.file.entries())
    if (!entry.key.starts_with("split.")) writer.set(entry.key, entry.value);
  writer.set("general.quantization_version", kQuantizationVersion);
  writer.set("general.file_type", job.mix.file_type);
  if (!job.importance) return;
  writer.set("quantize.imatrix.file", job.importance_path);
  if (!job.importance->datasets.empty())
    writer.set("quantize.imatrix.dataset", job.importance->datasets.front());
  writer.set("quantize.imatrix.entries_count",
             static_cast<uint32_t>(job.importance->weights.size()));
  writer.set("quantize.imatrix.chunks_count", static_cast<uint32_t>(job.importance->n_chunks));
}

Result<void> check_disk(const std::string& path, int64_t needed_bytes) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, code);
  if (code || space.available >= static_cast<uintmax_t>(needed_bytes)) return {};
  return fail(ErrorCode::io,
              fmt::format("{} needs {}, its disk has {} free", path, size_text(needed_bytes),
                          size_text(static_cast<int64_t>(space.available))),
              "free some space on that disk, or choose another folder");
}

}  // namespace

int64_t output_bytes(std::span<const TensorChoice> choices) {
  int64_t sum = 0;
  for (const TensorChoice& choice : choices) sum += bytes_of(choice);
  return sum;
}

Result<RelativeErrors> quantize_file(const QuantizeJob& job, const std::string& path,
                                     ThreadTeam& team) {
  const int64_t needed_bytes = output_bytes(job.choices);
  HWTV_TRY_VOID(check_disk(path, needed_bytes));
  gguf::Writer writer;
  copy_metadata(job, writer);
  RelativeErrors errors(job.choices.size());
  int64_t done_bytes = 0;
  for (size_t i = 0; i < job.choices.size(); ++i) {
    const TensorChoice& choice = job.choices[i];
    const auto convert = [&, i](const gguf::Writer::Sink& sink) -> Result<void> {
      const auto counted = [&](std::span<const std::byte> bytes) -> Result<void> {
        if (job.is_cancelled && job.is_cancelled())
          return fail(ErrorCode::cancelled, fmt::format("stopped; {} was not written", path));
        HWTV_TRY_VOID(sink(bytes));
        done_bytes += static_cast<int64_t>(bytes.size());
        if (job.on_progress) job.on_progress(done_bytes);
        return {};
      };
      if (job.choices[i].from == job.choices[i].to)
        return copy_tensor(job.file, *job.choices[i].tensor, counted);
      HWTV_TRY(errors[i], Conversion(job, job.choices[i], team).run(counted));
      return {};
    };
    HWTV_TRY_VOID(writer.add_tensor(choice.tensor->name, choice.to, choice.tensor->shape, convert));
  }
  Result<void> written = writer.write(path);
  if (written) return errors;
  if (written.error().code == ErrorCode::io)
    written.error().what +=
        fmt::format(", after {} of {}", size_text(done_bytes), size_text(needed_bytes));
  return fail(std::move(written.error()));
}

}  // namespace hwtv::transform
