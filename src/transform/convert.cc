#include "transform/convert.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/units.h"
#include "gguf/writer.h"
#include "transform/counted_sink.h"
#include "transform/hf_metadata.h"
#include "transform/row_conversion.h"

namespace hwtv::transform {
namespace {

constexpr Mix kTypes[] = {Mix::F32, Mix::F16, Mix::BF16, Mix::Q8_0};

// 16 bits of the kind that the first matrix has: config.json's own word is often wrong.
std::string_view natural_type(const Checkpoint& checkpoint) {
  for (const CheckpointTensor& tensor : checkpoint.tensors())
    if (tensor.info->shape.size() > 1) return tensor.info->dtype == DType::BF16 ? "BF16" : "F16";
  return "F16";
}

Result<MixInfo> find_type(std::string_view name) {
  HWTV_TRY(const MixInfo mix, find_mix(name));
  for (const Mix known : kTypes)
    if (mix.mix == known) return mix;
  return fail(ErrorCode::invalid_request,
              fmt::format("--type {} is not made in one step", mix.name),
              fmt::format("use F32, F16, BF16 or Q8_0, then: hwtv quantize FILE.gguf OUT.gguf {}",
                          mix.name));
}

// Where row `row` of a matrix of heads comes from, when each head's rotary pairs (x_0, x_half),
// (x_1, x_half+1), ... are to lie side by side.
int64_t halved_row(int64_t row, int64_t head_rows) {
  const int64_t head = row / head_rows, inside = row % head_rows;
  return head * head_rows + inside / 2 + inside % 2 * (head_rows / 2);
}

}  // namespace

Result<Conversion> Conversion::plan(ConvertJob job) {
  while (job.folder.size() > 1 && job.folder.back() == '/') job.folder.pop_back();
  HWTV_TRY(HfConfig config, read_hf_config(job.folder));
  HWTV_TRY(Checkpoint checkpoint, Checkpoint::open(job.folder));
  Conversion out(std::move(job), std::move(checkpoint));
  out.config_ = std::move(config);
  HWTV_TRY(out.type_, find_type(out.job_.type.empty() ? natural_type(out.checkpoint_)
                                                      : std::string_view(out.job_.type)));
  HWTV_TRY(out.plan_, plan_tensors(out.config_, out.checkpoint_, out.type_.dtype));
  HWTV_TRY(out.vocabulary_, read_hf_vocabulary(out.job_.folder, out.config_, out.job_.pre));
  HWTV_TRY(out.special_,
           read_hf_special_tokens(out.job_.folder, out.config_,
                                  static_cast<int64_t>(out.vocabulary_.tokens.size())));
  std::vector<std::string>& notes = out.plan_.notes;
  notes.insert(notes.end(), out.config_.notes.begin(), out.config_.notes.end());
  notes.insert(notes.end(), out.special_.notes.begin(), out.special_.notes.end());
  return out;
}

int64_t Conversion::bytes() const {
  int64_t sum = 0;
  for (const PlannedTensor& tensor : plan_.tensors) sum += tensor.n_bytes();
  return sum;
}

int64_t Conversion::n_elements() const {
  int64_t sum = 0;
  for (const PlannedTensor& tensor : plan_.tensors) sum += tensor.n_elements();
  return sum;
}

std::string Conversion::default_path() const {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(job_.folder, code);
  return fmt::format("{}/{}-{}.gguf", job_.folder, folder.filename().string(), type_.name);
}

Result<void> Conversion::write_tensor(const PlannedTensor& tensor, ThreadTeam& team,
                                      const gguf::Writer::Sink& sink) const {
  if (!tensor.source.info) return sink(std::as_bytes(std::span(tensor.values)));
  const safetensors::TensorInfo& info = *tensor.source.info;
  const auto release = [&](std::span<const std::byte> bytes) {
    tensor.source.file->release(bytes);
  };
  if (info.dtype == tensor.to && tensor.n_halved_heads == 0 && tensor.addend == 0)
    return copy_bytes(info.bytes, sink, release);
  // What reorders rows takes the elements of a vector (a bias) for rows.
  const bool is_vector = tensor.shape.size() == 1;
  const int64_t width = is_vector && tensor.n_halved_heads > 0 ? 1 : tensor.shape[0];
  RowConversion rows{.path = tensor.source.file->path(),
                     .name = info.name,
                     .from = *info.dtype,
                     .to = tensor.to,
                     .width = width,
                     .n_rows = tensor.n_elements() / width,
                     .data = info.bytes.data(),
                     .addend = tensor.addend,
                     .release = release};
  const int64_t head_rows = tensor.n_halved_heads > 0 ? rows.n_rows / tensor.n_halved_heads : 0;
  if (head_rows > 0)
    rows.source_row = [head_rows](int64_t row) { return halved_row(row, head_rows); };
  HWTV_TRY(const double error, convert_rows(rows, team, sink));
  static_cast<void>(error);
  return {};
}

Result<void> Conversion::write(const std::string& path, ThreadTeam& team) const {
  const int64_t needed_bytes = bytes();
  HWTV_TRY_VOID(check_disk_space(path, needed_bytes));
  gguf::Writer writer;
  HWTV_TRY_VOID(add_general_metadata(job_.folder, config_, n_elements(), writer));
  add_hyperparameters(config_, type_.file_type, writer);
  add_tokenizer(config_, vocabulary_, special_, writer);
  int64_t done_bytes = 0;
  for (const PlannedTensor& tensor : plan_.tensors) {
    const auto source = [&, planned = &tensor](const gguf::Writer::Sink& sink) {
      const auto counted = counted_sink(job_, path, sink, done_bytes);
      return write_tensor(*planned, team, counted);
    };
    HWTV_TRY_VOID(writer.add_tensor(tensor.name, tensor.to, tensor.shape, source));
  }
  Result<void> written = writer.write(path);
  if (!written && written.error().code == ErrorCode::io)
    written.error().what +=
        fmt::format(", after {} of {}", format_bytes(done_bytes), format_bytes(needed_bytes));
  return written;
}

}  // namespace hwtv::transform
