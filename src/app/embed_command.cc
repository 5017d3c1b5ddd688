#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/embedder.h"
#include "app/exit_code.h"
#include "app/output.h"

namespace hwtv::app {
namespace {

struct EmbedOptions {
  SessionOptions session;
  std::string file, pooling;
  bool raw = false, json = false;
};

std::string as_line(const Embedding& embedding) {
  std::string line;
  for (const float value : embedding.values)
    line += fmt::format("{}{:.7g}", line.empty() ? "" : " ", value);
  return line + "\n";
}

Result<int> embed(const EmbedOptions& options) {
  HWTV_TRY(const auto texts, read_texts(options.file));
  HWTV_TRY(Embedder embedder,
           Embedder::open(options.session, ops::OutputKind::embedding, options.pooling));
  Output output;
  nlohmann::ordered_json json = {{"pooling", pooling_name(embedder.pooling())},
                                 {"normalized", !options.raw},
                                 {"embeddings", nlohmann::ordered_json::array()}};
  for (const std::string& text : texts) {
    HWTV_TRY(const Embedding embedding, embedder.embed(text, !options.raw));
    if (options.json)
      json["embeddings"].push_back(
          {{"tokens", embedding.n_tokens}, {"embedding", embedding.values}});
    else
      HWTV_TRY_VOID(output.write(as_line(embedding)));
  }
  if (options.json) HWTV_TRY_VOID(output.write(json.dump() + "\n"));
  return kExitOk;
}

}  // namespace

Command make_embed_command() {
  auto options = std::make_shared<EmbedOptions>();
  Command command;
  command.name = "embed";
  command.summary = "Give the embedding of each line of a text";
  command.example = "hwtv embed bge-small.gguf sentences.txt --json";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model},
                         {"FILE", "a text on each line (default: stdin)", &options->file, false}};
  command.options = {
      pooling_flag("a text's embedding: mean, last or cls (first) of its tokens (default: the "
                   "file's choice)",
                   options->pooling),
      {"--raw", "", "as the model gives it; else its length is made 1", &options->raw},
      {"--json", "", "print one JSON object", &options->json},
  };
  for (Option& option : embedding_flags(options->session)) command.options.push_back(option);
  command.run = [options] { return embed(*options); };
  return command;
}

}  // namespace hwtv::app
