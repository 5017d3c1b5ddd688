// Writes a Hugging Face folder as a GGUF file.  A few thousand rows are in memory at a time; the
// result appears whole or not at all.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/thread_team.h"
#include "gguf/writer.h"
#include "transform/checkpoint.h"
#include "transform/hf_config.h"
#include "transform/hf_special_tokens.h"
#include "transform/hf_tensors.h"
#include "transform/hf_vocabulary.h"
#include "transform/mix.h"

namespace hwtv::transform {

struct ConvertJob {
  std::string folder;
  std::string type;  // "F32", "F16", "BF16", "Q8_0"; empty: 16 bits, of the kind of the weights
  std::string pre;   // the name of the rule that cuts text; empty: from tokenizer.json
  std::function<void(int64_t done_bytes)> on_progress = {};  // of bytes()
  std::function<bool()> is_cancelled = {};
};

// A folder read and judged: what would be written.
class Conversion {
 public:
  // Errors: those of the parts; invalid_request (a type that is none of the four).
  static Result<Conversion> plan(ConvertJob job);

  const ConvertJob& job() const { return job_; }
  const MixInfo& type() const { return type_; }
  const HfConfig& config() const { return config_; }
  const HfVocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<PlannedTensor>& tensors() const { return plan_.tensors; }
  const std::vector<std::string>& notes() const { return plan_.notes; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  int64_t bytes() const;       // of all tensors
  int64_t n_elements() const;  // of all tensors
  // "NAME-F16.gguf", beside the checkpoint.
  std::string default_path() const;

  // Its bits do not depend on the team's size.
  // Errors: corrupt_file (an element that is not finite or too large for its type, by name and
  // index); io (a full disk, with the bytes that are needed and free); cancelled.
  Result<void> write(const std::string& path, ThreadTeam& team) const;

 private:
  Conversion(ConvertJob job, Checkpoint checkpoint)
      : job_(std::move(job)), checkpoint_(std::move(checkpoint)) {}
  Result<void> write_tensor(const PlannedTensor& tensor, ThreadTeam& team,
                            const gguf::Writer::Sink& sink) const;

  ConvertJob job_;
  Checkpoint checkpoint_;
  MixInfo type_{};
  HfConfig config_{};
  HfVocabulary vocabulary_;
  HfSpecialTokens special_;
  TensorPlan plan_;
};

}  // namespace hwtv::transform
