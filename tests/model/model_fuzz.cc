// A valid small model and an adapter of it with bytes of their headers overwritten: an error or a
// Program that passes its own check, never a crash.  The input is a list of edits: two bytes of
// offset, whose highest bit says which of the files, one of value.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/model.h"
#include "tests/model/tiny_file.h"

namespace {

constexpr size_t kModelHeaderBytes = 1900, kAdapterHeaderBytes = 440;

std::string bytes_of(const hwtv::model::TinyFile& file) {
  const hwtv::gguf::TemporaryFolder folder;
  return *hwtv::read_file(file.write(folder / "tiny.gguf"));
}

hwtv::Result<hwtv::model::Model> open(const std::string& model, const std::string& adapter) {
  HWTV_TRY(auto file, hwtv::gguf::File::parse(std::as_bytes(std::span(model))));
  HWTV_TRY(auto adapter_file, hwtv::gguf::File::parse(std::as_bytes(std::span(adapter))));
  HWTV_TRY(auto opened, hwtv::model::Adapter::from_file(std::move(adapter_file), 1));
  std::vector<hwtv::model::Adapter> adapters;
  adapters.push_back(std::move(opened));
  return hwtv::model::Model::from_file(std::move(file), {}, std::move(adapters));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string valid_model = bytes_of(hwtv::model::TinyFile());
  static const std::string valid_adapter = bytes_of(hwtv::model::tiny_adapter());
  std::string model = valid_model, adapter = valid_adapter;
  for (size_t i = 0; i + 3 <= size; i += 3) {
    const size_t offset = data[i] | (data[i + 1] & 0x7fu) << 8;
    char& edited = data[i + 1] & 0x80 ? adapter[offset % kAdapterHeaderBytes]
                                      : model[offset % kModelHeaderBytes];
    edited = static_cast<char>(data[i + 2]);
  }
  (void)open(model, adapter);
  return 0;
}
