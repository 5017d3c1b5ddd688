// Any bytes as a safetensors file: opened or refused with one full error, and what opens can be
// read whole.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "safetensors/file.h"

namespace hwtv {
namespace {

void check_error(const Error& error) {
  CHECK(error.code == ErrorCode::corrupt_file || error.code == ErrorCode::unsupported);
  CHECK(!error.advice.empty() && error.what.size() < 1000);
  for (const char c : error.what) CHECK(c >= 0x20 && c < 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = safetensors::File::parse(std::as_bytes(std::span(data, size)));
  if (!file) {
    check_error(file.error());
    return 0;
  }
  volatile int64_t sum = 0;  // keeps the reads
  for (const safetensors::TensorInfo& tensor : file->tensors()) {
    CHECK(file->find(tensor.name) == &tensor);
    int64_t product = 1;
    for (const int64_t n : tensor.shape) product *= n;
    CHECK(product == tensor.n_elements);
    for (const std::byte byte : tensor.bytes) sum = sum ^ static_cast<int64_t>(byte);
  }
  return 0;
}

}  // namespace hwtv
