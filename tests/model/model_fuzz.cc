// A valid small model with bytes of its header overwritten: an error or a Program that passes its own
// check, never a crash.  The input is a list of edits: two bytes of offset, one of value.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "model/model.h"
#include "tests/model/tiny_file.h"

namespace {

constexpr size_t kHeaderBytes = 1900;

std::string valid_file() {
  const hwtv::gguf::TemporaryFolder folder;
  return *hwtv::read_file(hwtv::model::TinyFile().write(folder / "tiny.gguf"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string valid = valid_file();
  std::string bytes = valid;
  for (size_t i = 0; i + 3 <= size; i += 3)
    bytes[(data[i] | data[i + 1] << 8) % kHeaderBytes] = static_cast<char>(data[i + 2]);
  auto file = hwtv::gguf::File::parse(std::as_bytes(std::span(bytes)));
  if (file) (void)hwtv::model::Model::from_file(std::move(*file));
  return 0;
}
