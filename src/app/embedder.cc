#include "app/embedder.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "app/prompt_rows.h"
#include "base/file.h"

namespace hwtv::app {
namespace {
constexpr int64_t kMostTextBytes = int64_t{1} << 30;
}

Result<Embedder> Embedder::open(SessionOptions options, ops::OutputKind output,
                                std::string_view pooling) {
  options.output = output;
  options.n_outputs = options.chunk;
  HWTV_TRY(auto session, Session::open(options));
  const model::ModelConfig& config = session->model().config();
  HWTV_TRY(model::Pooling chosen, choose_pooling(pooling, config));
  // A head judges the token that stands for the text: it was trained so.
  if (output == ops::OutputKind::classes)
    chosen = config.causal ? model::Pooling::last : model::Pooling::cls;
  return Embedder(std::move(session), chosen);
}

Result<Embedding> Embedder::embed(std::string_view text, bool normalized) {
  const text::Tokenizer& tokenizer = session_->tokenizer();
  return embed_tokens(tokenizer.with_bos_eos(tokenizer.encode(text, false)), normalized);
}

Result<Embedding> Embedder::embed_tokens(const std::vector<int32_t>& tokens, bool normalized) {
  const auto n_tokens = static_cast<int64_t>(tokens.size());
  if (n_tokens == 0)
    return fail(ErrorCode::invalid_request, "an empty text has no embedding", "leave it out");
  Pool pool(pooling_);
  const int64_t first = pooling_ == model::Pooling::last ? n_tokens - 1 : 0;
  HWTV_TRY_VOID(for_each_prompt_row(
      *session_, tokens, first,
      [&](int64_t position, std::span<const float> row) { pool.add(position, row); }));
  return Embedding{pool.embedding(normalized), n_tokens};
}

std::vector<Option> embedding_flags(SessionOptions& options) {
  options.kv_type = "f32";
  std::vector<Option> flags = session_flags(options);
  for (Option& flag : flags)
    if (flag.flags == "--kv-type") flag.help = "type of the keys and values (default f32)";
  return flags;
}

Option pooling_flag(const std::string& help, std::string& pooling) {
  return {"--pooling", "HOW", help, &pooling, {"mean", "last", "cls"}};
}

Result<std::vector<std::string>> read_texts(const std::string& file) {
  HWTV_TRY(const std::string bytes,
           read_file(file.empty() || file == "-" ? "/dev/stdin" : file, kMostTextBytes));
  std::vector<std::string> texts;
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);) texts.push_back(std::move(line));
  if (texts.empty())
    return fail(ErrorCode::invalid_request, "there is no text to embed", "give one on each line");
  return texts;
}

}  // namespace hwtv::app
