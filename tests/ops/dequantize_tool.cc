// dequantize_tool DTYPE: quant_blocks on stdin, floats on stdout.
// dequantize_tool --quantize DTYPE: the other way.  For dequantize_test.py.
#include <cstdio>
#include <string>
#include <vector>

#include "ops/dequantize.h"
#include "ops/quantize.h"

namespace {

std::string read_stdin() {
  std::string bytes;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) bytes.append(buffer, n);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quantize = argc == 3 && std::string(argv[1]) == "--quantize";
  const auto dtype = argc >= 2 ? hwtv::dtype_from_name(argv[argc - 1]) : std::nullopt;
  if (!dtype) return 2;
  const std::string in = read_stdin();
  const hwtv::DTypeInfo& info = hwtv::dtype_info(*dtype);
  if (quantize) {
    const auto n = static_cast<int64_t>(in.size() / sizeof(float));
    std::vector<char> row(static_cast<size_t>(hwtv::dtype_bytes(*dtype, n)));
    hwtv::ops::quantize_row(*dtype, reinterpret_cast<const float*>(in.data()), row.data(), n);
    return std::fwrite(row.data(), 1, row.size(), stdout) == row.size() ? 0 : 1;
  }
  const int64_t n = static_cast<int64_t>(in.size()) / info.block_bytes * info.block_elements;
  std::vector<float> out(static_cast<size_t>(n));
  hwtv::ops::dequantize_row(*dtype, in.data(), out.data(), n);
  return std::fwrite(out.data(), sizeof(float), out.size(), stdout) == out.size() ? 0 : 1;
}
