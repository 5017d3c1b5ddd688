#include "text/tokenizer_memory.h"

#include "text/merge_table.h"
#include "text/token_tree.h"
#include "text/vocabulary.h"

namespace hwtv::text {

int64_t predict_tokenizer_bytes(const gguf::File& file) {
  const gguf::Value* tokens = file.find("tokenizer.ggml.tokens");
  if (!tokens || tokens->type() != gguf::ValueType::ARRAY) return 0;
  const int64_t n_tokens = tokens->n_elements();
  // In the file, each text follows its length in 8 bytes.
  const int64_t text_bytes = static_cast<int64_t>(tokens->payload().size()) - 8 * n_tokens;
  const gguf::Value* merges = file.find("tokenizer.ggml.merges");
  const auto model = file.get<std::string_view>("tokenizer.ggml.model");
  if (model && (*model == "bert" || *model == "t5")) {
    const gguf::Value* map = file.find("tokenizer.ggml.precompiled_charsmap");
    return Vocabulary::table_bytes(n_tokens, text_bytes) + TokenTree::table_bytes(text_bytes) +
           (map ? static_cast<int64_t>(map->payload().size()) : 0);
  }
  return Vocabulary::table_bytes(n_tokens, text_bytes) +
         (merges ? MergeTable::table_bytes(merges->n_elements())
                 : n_tokens * static_cast<int64_t>(sizeof(uint32_t)));  // ranks of scores
}

}  // namespace hwtv::text
