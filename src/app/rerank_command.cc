#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/commands.h"
#include "app/embedder.h"
#include "app/exit_code.h"
#include "app/output.h"

namespace hwtv::app {
namespace {

struct RerankOptions {
  SessionOptions session;
  std::string query, file, pooling;
  int64_t n_best = 0;
  bool embeddings = false, json = false;
};

// The two texts as a reranker was trained to read them: by the file's template, or one after the
// other in the tokenizer's frame.
std::vector<int32_t> pair_tokens(const Session& session, const std::string& query,
                                 const std::string& text) {
  const text::Tokenizer& tokenizer = session.tokenizer();
  const auto form = session.model().file().get<std::string_view>("tokenizer.chat_template.rerank");
  if (form && *form) {
    std::string prompt(**form);
    // The text last: what it holds is not looked through.
    for (const auto& [mark, value] : {std::pair{"{query}", &query}, std::pair{"{document}", &text}})
      if (const size_t at = prompt.find(mark); at != std::string::npos)
        prompt.replace(at, std::string_view(mark).size(), *value);
    return tokenizer.with_bos_eos(tokenizer.encode(prompt, true));
  }
  std::vector<int32_t> tokens = tokenizer.with_bos_eos(tokenizer.encode(query, false));
  const std::vector<int32_t> second = tokenizer.with_bos_eos(tokenizer.encode(text, false));
  // The second text follows the first one's end; RoBERTa puts another end between.
  const auto& ids = tokenizer.special_ids();
  const bool doubles = tokenizer.model() != "bert" && ids.eos;
  const bool framed = tokenizer.add_bos();
  if (framed && doubles) tokens.push_back(*ids.eos);
  tokens.insert(tokens.end(), second.begin() + (framed ? 1 : 0), second.end());
  return tokens;
}

// One class is the score itself; of two, yes and no, the share of the first.
Result<double> score_of(std::span<const float> classes) {
  if (classes.size() == 1) return static_cast<double>(classes[0]);
  if (classes.size() == 2)
    return 1 / (1 + std::exp(static_cast<double>(classes[1]) - static_cast<double>(classes[0])));
  return fail(ErrorCode::unsupported,
              fmt::format("the model's head has {} classes, a reranker's 1 or 2", classes.size()),
              "take a reranker, or compare embeddings: --embeddings");
}

Result<std::vector<double>> scores_by_head(const RerankOptions& options,
                                           const std::vector<std::string>& texts) {
  HWTV_TRY(Embedder embedder, Embedder::open(options.session, ops::OutputKind::classes, ""));
  std::vector<double> scores;
  for (const std::string& text : texts) {
    const auto tokens = pair_tokens(embedder.session(), options.query, text);
    HWTV_TRY(const Embedding classes, embedder.embed_tokens(tokens, false));
    HWTV_TRY(const double score, score_of(classes.values));
    scores.push_back(score);
  }
  return scores;
}

Result<std::vector<double>> scores_by_embeddings(const RerankOptions& options,
                                                 const std::vector<std::string>& texts) {
  HWTV_TRY(Embedder embedder,
           Embedder::open(options.session, ops::OutputKind::embedding, options.pooling));
  HWTV_TRY(const Embedding query, embedder.embed(options.query, false));
  std::vector<double> scores;
  for (const std::string& text : texts) {
    HWTV_TRY(const Embedding embedding, embedder.embed(text, false));
    scores.push_back(cosine(query.values, embedding.values));
  }
  return scores;
}

Result<int> rerank(const RerankOptions& options) {
  if (options.query.empty())
    return fail(ErrorCode::invalid_request, "there is no query", "give one with --query TEXT");
  HWTV_TRY(const auto texts, read_texts(options.file));
  HWTV_TRY(const std::vector<double> scores, options.embeddings
                                                 ? scores_by_embeddings(options, texts)
                                                 : scores_by_head(options, texts));
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  if (options.n_best > 0) order.resize(std::min(order.size(), static_cast<size_t>(options.n_best)));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string lines;
  for (const size_t i : order) {
    json.push_back({{"line", i + 1}, {"score", scores[i]}, {"text", texts[i]}});
    lines += fmt::format("{:>9.6f}  {:>5}  {}\n", scores[i], i + 1, texts[i]);
  }
  Output output;
  HWTV_TRY_VOID(output.write(
      options.json
          ? json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
          : lines));
  return kExitOk;
}

}  // namespace

Command make_rerank_command() {
  auto options = std::make_shared<RerankOptions>();
  Command command;
  command.name = "rerank";
  command.summary = "Sort lines of text by how well they answer a query";
  command.example = "hwtv rerank bge-reranker.gguf --query \"how to boil an egg\" answers.txt";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model},
                         {"FILE", "a text on each line (default: stdin)", &options->file, false}};
  command.options = {
      {"--query", "TEXT", "what the lines are judged by", &options->query},
      {"--embeddings", "", "by the angles between embeddings: for models without a reranker's head",
       &options->embeddings},
      pooling_flag("with --embeddings: mean, last or cls (default: the file's choice)",
                   options->pooling),
      {"--top", "N", "print the N best (default: all)", &options->n_best},
      {"--json", "", "print one JSON array", &options->json},
  };
  for (Option& option : embedding_flags(options->session)) command.options.push_back(option);
  command.run = [options] { return rerank(*options); };
  return command;
}

}  // namespace hwtv::app
