// Embeddings of texts by a model: what `hwtv embed` and `hwtv rerank` share.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/pooling.h"
#include "app/session.h"

namespace hwtv::app {

struct Embedding {
  std::vector<float> values;  // (width)
  int64_t n_tokens = 0;       // of the text, those that frame it included
};

class Embedder {
 public:
  // `output`: embeddings, or the classes of a reranker.  Errors: those of Session::open;
  // invalid_request (no such pooling).
  static Result<Embedder> open(SessionOptions options, ops::OutputKind output,
                               std::string_view pooling);

  // Errors: invalid_request (the text is longer than the context), device_lost.
  Result<Embedding> embed(std::string_view text, bool normalized);
  // The same of tokens, used as they are.
  Result<Embedding> embed_tokens(const std::vector<int32_t>& tokens, bool normalized);

  const Session& session() const { return *session_; }
  model::Pooling pooling() const { return pooling_; }

 private:
  Embedder(std::unique_ptr<Session> session, model::Pooling pooling)
      : session_(std::move(session)), pooling_(pooling) {}

  std::unique_ptr<Session> session_;
  model::Pooling pooling_;
};

// session_flags(), for texts that are read once: their keys and values stay F32.
std::vector<Option> embedding_flags(SessionOptions& options);

// --pooling, one of what choose_pooling() takes.
Option pooling_flag(const std::string& help, std::string& pooling);

// The lines of a file, or of stdin for "" and "-": a text each.
// Errors: io; invalid_request (no text in it).
Result<std::vector<std::string>> read_texts(const std::string& file);

}  // namespace hwtv::app
