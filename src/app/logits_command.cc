#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/progress.h"
#include "app/prompt_rows.h"
#include "app/session.h"
#include "app/token_list.h"
#include "gguf/writer.h"

namespace hwtv::app {
namespace {

struct LogitsOptions {
  SessionOptions session;
  std::string tokens, out;
};

// (n_positions, vocab_size) F32 as tensor "logits", the ids as tensor "tokens".
Result<void> write_logits(const std::string& path, const std::string& model,
                          const std::vector<int32_t>& tokens, const std::vector<float>& logits) {
  const int64_t n_positions = static_cast<int64_t>(tokens.size());
  gguf::Writer writer;
  writer.set("general.architecture", "results");
  writer.set("hwtv.logits.model", std::string_view(model));
  HWTV_TRY_VOID(
      writer.add_tensor("tokens", DType::I32, {n_positions}, std::as_bytes(std::span(tokens))));
  HWTV_TRY_VOID(writer.add_tensor("logits", DType::F32,
                                  {static_cast<int64_t>(logits.size()) / n_positions, n_positions},
                                  std::as_bytes(std::span(logits))));
  return writer.write(path);
}

Result<int> logits(const LogitsOptions& options) {
  if (options.out.empty())
    return fail(ErrorCode::invalid_request, "no output file", "give one with -o OUT.gguf");
  SessionOptions session_options = options.session;
  session_options.n_outputs = kScoredChunk;
  session_options.chunk = std::min(session_options.chunk, kScoredChunk);
  HWTV_TRY(const auto session, Session::open(session_options));
  HWTV_TRY(const std::vector<int32_t> tokens,
           read_token_list(options.tokens, session->model().config().vocab_size));
  std::vector<float> all;
  HWTV_TRY_VOID(for_each_prompt_row(*session, tokens, 0, [&](int64_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  }));
  HWTV_TRY_VOID(write_logits(options.out, session->model().file().path(), tokens, all));
  return kExitOk;
}

}  // namespace

Command make_logits_command() {
  auto options = std::make_shared<LogitsOptions>();
  Command command;
  command.name = "logits";
  command.summary = "Write the logits of every position of given tokens";
  command.example = "hwtv logits model.gguf --tokens ids.txt -o logits.gguf";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model}};
  command.options = {
      {"--tokens", "FILE", "token ids, used as they are (default: stdin)", &options->tokens},
      {"-o,--out", "OUT.gguf",
       "where to: tensors `logits` (F32, positions x vocabulary) and `tokens`", &options->out},
  };
  command.options.push_back(adapter_flag(options->session));
  for (Option& option : session_flags(options->session)) command.options.push_back(option);
  command.run = [options] { return logits(*options); };
  return command;
}

}  // namespace hwtv::app
