#include "model/classes.h"

#include <fmt/format.h>

namespace hwtv::model {
namespace {

constexpr const char* kHead = "cls.output.weight";

ops::ValueId linear(const std::string& part, ops::ValueId x, int64_t n_out, Recorder& recorder) {
  const int64_t n_in = recorder.program().value(x).width;
  const ops::WeightId weight = recorder.matrix(part + ".weight", n_out, n_in);
  const ops::WeightId bias = recorder.optional_vector(part + ".bias", n_out, ops::WeightRole::bias);
  return recorder.matmul(part, x, weight, bias);
}

}  // namespace

Result<void> check_classes(const gguf::File& file, const ModelConfig& config,
                           const RecordOptions& options) {
  if (options.output != ops::OutputKind::classes) return {};
  if (config.n_token_types > 1)
    return fail(ErrorCode::unsupported,
                fmt::format("the second text of a pair would be of another of the model's {} token "
                            "types, and only one can be given",
                            config.n_token_types),
                "take a reranker without token types, or compare embeddings: --embeddings");
  if (file.find_tensor(kHead) != nullptr) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} has no head that judges pairs (tensor {})",
                          config.name.empty() ? "this file" : config.name, kHead),
              "take a reranker, or let `hwtv rerank` compare embeddings: --embeddings");
}

void record_embeddings(ops::ValueId x, const ModelConfig& config, const RecordOptions& options,
                       Recorder& recorder) {
  if (options.output != ops::OutputKind::classes) {
    for (const char* part : {"cls", "cls.output"})
      for (const char* kind : {"weight", "bias"}) recorder.skip(fmt::format("{}.{}", part, kind));
    recorder.program().outputs.push_back({ops::OutputKind::embedding, x});
    return;
  }
  if (recorder.has("cls.weight")) {
    x = linear("cls", x, config.model_dim, recorder);
    x = recorder.softcap("cls_tanh", x, 1);  // tanh
  }
  const std::vector<int64_t> shape = recorder.shape_of(kHead);
  x = linear("cls.output", x, shape.size() > 1 ? shape[1] : 1, recorder);
  recorder.program().outputs.push_back({ops::OutputKind::classes, x});
}

}  // namespace hwtv::model
