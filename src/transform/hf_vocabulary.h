// The tokens of a Hugging Face folder, as a GGUF file lists them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transform/hf_config.h"

namespace hwtv::transform {

// The value is the token's type in a GGUF file.
enum class TokenType : int32_t { normal = 1, unknown, control, user_defined, unused, byte };

struct HfVocabulary {
  std::string model;                // tokenizer.ggml.model: "llama" (SentencePiece), "gpt2" (bytes)
  std::string pre;                  // tokenizer.ggml.pre
  std::string source;               // the file that it comes from
  std::vector<std::string> tokens;  // by id, as many as the model has rows
  std::vector<float> scores;        // of "llama"
  std::vector<int32_t> types;       // TokenType
  std::vector<std::string> merges;  // of "gpt2"
  int64_t n_padding = 0;            // ids that stand for no token
  std::optional<bool> adds_space;   // before a text's first word; nullopt: not told

  bool is_byte_level() const { return model == "gpt2"; }
};

// From tokenizer.model where there is one, otherwise from tokenizer.json.  `pre`: the name of a
// byte-level vocabulary's rule; empty: from tokenizer.json.
// Errors: io; corrupt_file (ids beyond the model's rows or given twice, with the numbers);
// unsupported (another kind of tokenizer, a pre_tokenizer without a name).
Result<HfVocabulary> read_hf_vocabulary(const std::string& folder, const HfConfig& config,
                                        std::string_view pre);

}  // namespace hwtv::transform
