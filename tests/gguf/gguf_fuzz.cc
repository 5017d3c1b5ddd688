// Any bytes as a GGUF file: opened or refused with one full error, and what opens can be read
// whole. A useful corpus: build/fuzz/src/gguf/gguf_bad_files FOLDER; -max_len=4096 reaches
// everything.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "gguf/file.h"

namespace hwtv {
namespace {

int64_t sum_of_values(const gguf::Value& value) {
  int64_t sum = static_cast<int64_t>(value.description().size());
  if (const auto number = value.as_int()) sum ^= *number;
  if (value.as_float()) ++sum;
  if (const auto text = value.as_string())
    for (const char c : *text) sum ^= c;
  if (const auto numbers = value.as_ints())
    for (const int64_t n : *numbers) sum ^= n;
  if (const auto numbers = value.as_floats()) sum ^= static_cast<int64_t>(numbers->size());
  if (const auto texts = value.as_strings())
    for (const std::string_view text : *texts)
      for (const char c : text) sum ^= c;
  return sum;
}

int64_t sum_of_bytes(const gguf::TensorInfo& tensor) {
  int64_t sum = static_cast<int64_t>(tensor.type_name().size()), product = 1;
  for (int64_t i = 0; i < tensor.n_bytes; ++i) sum ^= static_cast<int64_t>(tensor.data[i]);
  for (const int64_t size : tensor.shape) product *= size;
  CHECK(product == tensor.n_elements);
  return sum;
}

void check_error(const Error& error) {
  CHECK(error.code == ErrorCode::corrupt_file || error.code == ErrorCode::unsupported);
  CHECK(error.what.find("at byte ") != std::string::npos && !error.advice.empty());
  CHECK(error.what.size() < 1000);
  for (const char c : error.what) CHECK(c >= 0x20 && c < 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = gguf::File::parse(std::as_bytes(std::span(data, size)));
  if (!file) {
    check_error(file.error());
    return 0;
  }
  volatile int64_t sum = 0;  // keeps the reads
  for (const gguf::Entry& entry : file->entries()) {
    CHECK(file->find(entry.key) == &entry.value);
    sum = sum ^ sum_of_values(entry.value);
  }
  for (const gguf::TensorInfo& tensor : file->tensors()) {
    CHECK(file->find_tensor(tensor.name) == &tensor);
    sum = sum ^ sum_of_bytes(tensor);
  }
  return 0;
}

}  // namespace hwtv
