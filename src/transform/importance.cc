#include "transform/importance.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/quoted.h"
#include "gguf/file.h"
#include "gguf/writer.h"

namespace hwtv::transform {
namespace {

constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";
constexpr std::string_view kDatasets = "imatrix.datasets", kChunks = "imatrix.chunk_count",
                           kChunkTokens = "imatrix.chunk_size";

tl::unexpected<Error> broken(const gguf::File& file, std::string what) {
  return fail(ErrorCode::corrupt_file, fmt::format("{}: {}", file.path(), what),
              "make it again with `hwtv imatrix`, or llama-imatrix in its GGUF form");
}

// The tensor's floats, each finite and not negative.
Result<std::vector<float>> read_floats(const gguf::File& file, const gguf::TensorInfo& tensor) {
  if (tensor.dtype != DType::F32)
    return broken(file, fmt::format("tensor {} has the type {}, expected F32",
                                    hwtv::quoted(tensor.name), tensor.type_name()));
  std::vector<float> floats(static_cast<size_t>(tensor.n_elements));
  std::memcpy(floats.data(), tensor.data, floats.size() * sizeof(float));
  for (size_t i = 0; i < floats.size(); ++i)
    if (!std::isfinite(floats[i]) || floats[i] < 0)
      return broken(file, fmt::format("element {} of {} is {}, expected a number from 0 up", i,
                                      hwtv::quoted(tensor.name), floats[i]));
  return floats;
}

Result<ColumnSums> read_sums(const gguf::File& file, const gguf::TensorInfo& tensor,
                             std::string_view name) {
  const gguf::TensorInfo* counts = file.find_tensor(std::string(name) + std::string(kCounts));
  if (!counts) return broken(file, fmt::format("{} has sums and no counts", hwtv::quoted(name)));
  HWTV_TRY(const std::vector<float> squares, read_floats(file, tensor));
  HWTV_TRY(const std::vector<float> n_rows, read_floats(file, *counts));
  if (n_rows.empty() || squares.size() % n_rows.size() != 0)
    return broken(file, fmt::format("{} has {} sums for {} counts", hwtv::quoted(name),
                                    squares.size(), n_rows.size()));
  ColumnSums sums;
  sums.squares.assign(squares.begin(), squares.end());
  for (const float n : n_rows) sums.n_rows.push_back(std::llround(n));
  return sums;
}

}  // namespace

void ColumnSums::add(std::span<const float> row) {
  if (squares.empty()) squares.resize(row.size()), n_rows.resize(1);
  CHECK(row.size() == squares.size() && n_rows.size() == 1);
  for (size_t i = 0; i < row.size(); ++i)
    squares[i] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  ++n_rows[0];
}

std::vector<float> ColumnSums::means() const {
  std::vector<float> means(squares.size(), 1.0f);
  const size_t width = squares.size() / n_rows.size();
  for (size_t i = 0; i < squares.size(); ++i)
    if (const int64_t n = n_rows[i / width]; n > 0)
      means[i] = static_cast<float>(squares[i] / static_cast<double>(n));
  return means;
}

Result<Importance> read_importance(const std::string& path) {
  HWTV_TRY(const gguf::File file, gguf::File::open(path));
  Importance importance;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (!tensor.name.ends_with(kSums)) continue;
    const std::string name(tensor.name.substr(0, tensor.name.size() - kSums.size()));
    HWTV_TRY(importance.weights[name], read_sums(file, tensor, name));
  }
  if (importance.weights.empty()) return broken(file, "it holds no importance data");
  HWTV_TRY(const auto datasets, file.get<std::vector<std::string_view>>(kDatasets));
  if (datasets) importance.datasets.assign(datasets->begin(), datasets->end());
  HWTV_TRY(const auto n_chunks, file.get<int64_t>(kChunks));
  HWTV_TRY(const auto chunk_tokens, file.get<int64_t>(kChunkTokens));
  importance.n_chunks = n_chunks.value_or(0);
  importance.chunk_tokens = chunk_tokens.value_or(0);
  return importance;
}

Result<void> write_importance(const std::string& path, const Importance& importance) {
  gguf::Writer writer;
  writer.set("general.type", "imatrix");
  writer.set_strings(kDatasets, importance.datasets);
  writer.set(kChunks, static_cast<uint32_t>(importance.n_chunks));
  writer.set(kChunkTokens, static_cast<uint32_t>(importance.chunk_tokens));
  std::vector<std::vector<float>> kept;  // alive until write()
  kept.reserve(2 * importance.weights.size());
  for (const auto& [name, sums] : importance.weights) {
    const auto n_matrices = static_cast<int64_t>(sums.n_rows.size());
    const auto width = static_cast<int64_t>(sums.squares.size()) / n_matrices;
    const auto& squares = kept.emplace_back(sums.squares.begin(), sums.squares.end());
    const auto& counts = kept.emplace_back(sums.n_rows.begin(), sums.n_rows.end());
    HWTV_TRY_VOID(writer.add_tensor(name + std::string(kSums), DType::F32, {width, n_matrices},
                                    std::as_bytes(std::span(squares))));
    HWTV_TRY_VOID(writer.add_tensor(name + std::string(kCounts), DType::F32, {1, n_matrices},
                                    std::as_bytes(std::span(counts))));
  }
  return writer.write(path);
}

}  // namespace hwtv::transform
