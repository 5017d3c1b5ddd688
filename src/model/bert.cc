// The bert architecture (BERT, RoBERTa, XLM-RoBERTa; BGE, E5, MiniLM): learned positions, GELU,
// norms after what is added.  Source: Devlin et al. 2018.
#include "model/architectures.h"
#include "model/encoder.h"

namespace hwtv::model {

Result<ops::Program> record_bert(const ModelConfig& config, const gguf::File& file,
                                 const RecordOptions& options) {
  return record_encoder({.has_position_table = true}, config, file, options);
}

}  // namespace hwtv::model
