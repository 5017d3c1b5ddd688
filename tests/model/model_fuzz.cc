// Any bytes as a model file: an error or a Program that passes its own check, never a crash.
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = hwtv::gguf::File::parse(std::as_bytes(std::span(data, size)));
  if (file) (void)hwtv::model::Model::from_file(std::move(*file));
  return 0;
}
