#include "app/vocabulary_file.h"

#include "gguf/file.h"
#include "store/model_cache.h"

namespace hwtv::app {

Result<std::unique_ptr<text::Tokenizer>> open_tokenizer(const std::string& model) {
  HWTV_TRY(const std::string path, store::resolve_model(model));
  HWTV_TRY(const gguf::File file, gguf::File::open(path));
  return text::Tokenizer::from_gguf(file);
}

}  // namespace hwtv::app
