// What a tokenizer takes, from the counts in a file's header: for a plan, before one is made.
#pragma once
#include <cstdint>

#include "gguf/file.h"

namespace hwtv::text {

// Bytes of the tables of Tokenizer::from_gguf(file); 0 for a file without a vocabulary.
int64_t predict_tokenizer_bytes(const gguf::File& file);

}  // namespace hwtv::text
