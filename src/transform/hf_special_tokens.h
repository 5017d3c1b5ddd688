// Which tokens of a Hugging Face folder begin and end texts, whether they are to be added, and its
// chat templates.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "transform/hf_config.h"

namespace hwtv::transform {

struct HfSpecialTokens {
  std::vector<std::pair<std::string, int64_t>> ids;                  // "bos": 1
  std::vector<std::pair<std::string, bool>> are_added;               // "bos": true
  std::string chat_template;                                         // may be empty
  std::vector<std::pair<std::string, std::string>> named_templates;  // "tool_use": its text
  std::vector<std::string> notes;
};

// Ids at n_tokens and beyond are left out, with a note.  Errors: io; corrupt_file.
Result<HfSpecialTokens> read_hf_special_tokens(const std::string& folder, const HfConfig& config,
                                               int64_t n_tokens);

}  // namespace hwtv::transform
