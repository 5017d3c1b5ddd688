#include "transform/row_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/quoted.h"
#include "ops/dequantize.h"
#include "ops/quantize_weights.h"

namespace hwtv::transform {
namespace {

constexpr int64_t kSlabElements = 1 << 20;
constexpr int64_t kSlabBytes = 4 << 20;

// What became of one row.
struct RowResult {
  double error = 0, square = 0;  // sums over the row
  int64_t bad = -1;              // the first element that cannot be stored
};

class Conversion {
 public:
  Conversion(const RowConversion& given, ThreadTeam& team)
      : given_(given),
        team_(team),
        from_bytes_(dtype_bytes(given.from, given.width)),
        to_bytes_(dtype_bytes(given.to, given.width)),
        floats_(static_cast<size_t>(2 * given.width * team.n_threads())) {}

  Result<double> run(const gguf::Writer::Sink& sink) {
    const int64_t slab_rows = std::max<int64_t>(1, kSlabElements / given_.width);
    double error = 0, square = 0;
    for (int64_t first = 0; first < given_.n_rows; first += slab_rows) {
      const int64_t n = std::min(slab_rows, given_.n_rows - first);
      convert_slab(first, n);
      for (int64_t i = 0; i < n; ++i) {
        const RowResult& row = results_[static_cast<size_t>(i)];
        if (row.bad >= 0) return bad_element(first + i, row.bad);
        error += row.error;
        square += row.square;
      }
      HWTV_TRY_VOID(sink({slab_.data(), static_cast<size_t>(n * to_bytes_)}));
      if (given_.release)
        given_.release({given_.data + first * from_bytes_, static_cast<size_t>(n * from_bytes_)});
    }
    return square > 0 ? std::sqrt(error / square) : 0.0;
  }

 private:
  void convert_slab(int64_t first, int64_t n) {
    slab_.resize(static_cast<size_t>(n * to_bytes_));
    results_.assign(static_cast<size_t>(n), {});
    const int64_t grain = std::max<int64_t>(1, 4096 / given_.width);
    team_.for_each_chunk(n, grain, [&](int64_t begin, int64_t end, int member) {
      float* floats = floats_.data() + 2 * given_.width * member;
      for (int64_t i = begin; i < end; ++i)
        results_[static_cast<size_t>(i)] =
            convert_row(first + i, floats, slab_.data() + i * to_bytes_);
    });
  }

  int64_t source_row(int64_t row) const { return given_.source_row ? given_.source_row(row) : row; }

  void read_row(int64_t row, float* x) const {
    const std::byte* from = given_.data + source_row(row) * from_bytes_;
    ops::dequantize_row(given_.from, from, x, given_.width);
    if (given_.addend != 0)
      for (int64_t i = 0; i < given_.width; ++i) x[i] += given_.addend;
  }

  // floats (2, width): room.
  RowResult convert_row(int64_t row, float* floats, std::byte* out) const {
    const int64_t width = given_.width;
    float* x = floats;
    float* y = floats + width;
    read_row(row, x);
    const float limit = ops::weight_limit(given_.to);
    RowResult result;
    for (int64_t i = 0; i < width; ++i) {
      if (std::fabs(x[i]) <= limit) continue;  // not so for NaN
      result.bad = i;
      return result;
    }
    const float* importance = given_.importance.empty()
                                  ? nullptr
                                  : given_.importance.data() + row / given_.matrix_rows * width;
    ops::quantize_weights(given_.to, x, importance, out, width);
    ops::dequantize_row(given_.to, out, y, width);
    for (int64_t i = 0; i < width; ++i) {
      const double error = static_cast<double>(x[i]) - static_cast<double>(y[i]);
      result.error += error * error;
      result.square += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    return result;
  }

  // Told by its place in the file that is read.
  tl::unexpected<Error> bad_element(int64_t out_row, int64_t column) const {
    std::vector<float> x(static_cast<size_t>(given_.width));
    read_row(out_row, x.data());
    const float value = x[static_cast<size_t>(column)];
    const int64_t row = source_row(out_row);
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{}: element {} of tensor {} (row {}, column {}) is {}, which {} cannot hold",
                    given_.path, row * given_.width + column, quoted(given_.name), row, column,
                    value, dtype_name(given_.to)),
        std::isfinite(value)
            ? "use BF16 or F32, which hold numbers of that size"
            : "the file is damaged, or its training failed: convert the model again");
  }

  const RowConversion& given_;
  ThreadTeam& team_;
  const int64_t from_bytes_, to_bytes_;  // of one row
  std::vector<float> floats_;            // (n_threads, 2, width)
  std::vector<std::byte> slab_;
  std::vector<RowResult> results_;
};

}  // namespace

Result<double> convert_rows(const RowConversion& conversion, ThreadTeam& team,
                            const gguf::Writer::Sink& sink) {
  return Conversion(conversion, team).run(sink);
}

Result<void> copy_bytes(std::span<const std::byte> bytes, const gguf::Writer::Sink& sink,
                        const std::function<void(std::span<const std::byte>)>& release) {
  for (size_t at = 0; at < bytes.size(); at += kSlabBytes) {
    const auto piece = bytes.subspan(at, std::min<size_t>(kSlabBytes, bytes.size() - at));
    HWTV_TRY_VOID(sink(piece));
    if (release) release(piece);
  }
  return {};
}

}  // namespace hwtv::transform
