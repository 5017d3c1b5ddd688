#include "transform/quantize.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/quoted.h"
#include "base/units.h"
#include "gguf/writer.h"
#include "transform/counted_sink.h"
#include "transform/row_conversion.h"

namespace hwtv::transform {
namespace {

int64_t bytes_of(const TensorChoice& choice) {
  return dtype_bytes(choice.to, choice.tensor->n_elements);
}

// The importance of the columns of one tensor: empty where there is none.
Result<std::vector<float>> importance_of(const QuantizeJob& job, const TensorChoice& choice,
                                         int64_t width, int64_t n_matrices) {
  std::vector<float> importance;
  if (!job.importance || !is_quantized(choice.to)) return importance;
  const auto found = job.importance->weights.find(choice.tensor->name);
  if (found == job.importance->weights.end()) return importance;
  importance = found->second.means();
  const int64_t n_needed = n_matrices * width;
  if (static_cast<int64_t>(importance.size()) == n_needed) return importance;
  return fail(
      ErrorCode::invalid_request,
      fmt::format("{}: tensor {} has {} columns, its importance data {}", job.importance_path,
                  hwtv::quoted(choice.tensor->name), n_needed, importance.size()),
      "use importance data that was collected from this model");
}

Result<double> convert_tensor(const QuantizeJob& job, const TensorChoice& choice, ThreadTeam& team,
                              const gguf::Writer::Sink& sink) {
  const gguf::TensorInfo& tensor = *choice.tensor;
  const int64_t width = tensor.shape.empty() ? 1 : tensor.shape[0];
  const int64_t n_rows = tensor.n_elements / width;
  const int64_t matrix_rows = tensor.shape.size() > 1 ? tensor.shape[1] : 1;
  HWTV_TRY(const std::vector<float> importance,
           importance_of(job, choice, width, n_rows / matrix_rows));
  const RowConversion conversion{
      .path = job.file.path(),
      .name = tensor.name,
      .from = choice.from,
      .to = choice.to,
      .width = width,
      .n_rows = n_rows,
      .data = tensor.data,
      .importance = importance,
      .matrix_rows = matrix_rows,
      .release = [&](std::span<const std::byte> bytes) { job.file.release(bytes); }};
  return convert_rows(conversion, team, sink);
}

Result<void> copy_tensor(const gguf::File& file, const gguf::TensorInfo& tensor,
                         const gguf::Writer::Sink& sink) {
  return copy_bytes({tensor.data, static_cast<size_t>(tensor.n_bytes)}, sink,
                    [&](std::span<const std::byte> bytes) { file.release(bytes); });
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

}  // namespace

int64_t output_bytes(std::span<const TensorChoice> choices) {
  int64_t sum = 0;
  for (const TensorChoice& choice : choices) sum += bytes_of(choice);
  return sum;
}

Result<RelativeErrors> quantize_file(const QuantizeJob& job, const std::string& path,
                                     ThreadTeam& team) {
  const int64_t needed_bytes = output_bytes(job.choices);
  HWTV_TRY_VOID(check_disk_space(path, needed_bytes));
  gguf::Writer writer;
  copy_metadata(job, writer);
  RelativeErrors errors(job.choices.size());
  int64_t done_bytes = 0;
  for (size_t i = 0; i < job.choices.size(); ++i) {
    const TensorChoice& choice = job.choices[i];
    const auto convert = [&, i](const gguf::Writer::Sink& sink) -> Result<void> {
      const auto counted = counted_sink(job, path, sink, done_bytes);
      if (job.choices[i].from == job.choices[i].to)
        return copy_tensor(job.file, *job.choices[i].tensor, counted);
      HWTV_TRY(errors[i], convert_tensor(job, job.choices[i], team, counted));
      return {};
    };
    HWTV_TRY_VOID(writer.add_tensor(choice.tensor->name, choice.to, choice.tensor->shape, convert));
  }
  Result<void> written = writer.write(path);
  if (written) return errors;
  if (written.error().code == ErrorCode::io)
    written.error().what +=
        fmt::format(", after {} of {}", format_bytes(done_bytes), format_bytes(needed_bytes));
  return fail(std::move(written.error()));
}

}  // namespace hwtv::transform
