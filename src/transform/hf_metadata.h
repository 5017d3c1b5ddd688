// The metadata of a converted model: what it is, its hyperparameters, its tokens, by GGUF's keys.
#pragma once
#include <cstdint>
#include <string>

#include "base/error.h"
#include "gguf/writer.h"
#include "transform/hf_config.h"
#include "transform/hf_special_tokens.h"
#include "transform/hf_vocabulary.h"

namespace hwtv::transform {

// "general.*": the architecture, the name (of the folder, where config.json tells none), how the
// authors want it sampled.  Errors: corrupt_file (a generation_config.json that is no JSON).
Result<void> add_general_metadata(const std::string& folder, const HfConfig& config,
                                  int64_t n_parameters, gguf::Writer& writer);

void add_hyperparameters(const HfConfig& config, uint32_t file_type, gguf::Writer& writer);

void add_tokenizer(const HfConfig& config, const HfVocabulary& vocabulary,
                   const HfSpecialTokens& special, gguf::Writer& writer);

}  // namespace hwtv::transform
