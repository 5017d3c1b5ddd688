#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/prompt_rows.h"
#include "app/score.h"
#include "app/session.h"
#include "app/text_windows.h"
#include "base/file.h"

namespace hwtv::app {
namespace {

struct PerplexityOptions {
  SessionOptions session;
  std::string file;
  std::optional<std::string> against;
  int64_t window = 512;
  int64_t n_windows = 0;
  bool json = false;
};

std::string score_json(const Score& score, bool with_base) {
  const double perplexity = score.perplexity();
  nlohmann::ordered_json json = {{"perplexity", perplexity},
                                 {"standard_error", perplexity * score.surprise.standard_error()},
                                 {"windows", score.n_windows},
                                 {"scored_tokens", score.surprise.n()}};
  if (with_base) {
    json["base_perplexity"] = score.base_perplexity();
    json["mean_kl_nats"] = score.kl.value();
    json["mean_kl_standard_error"] = score.kl.standard_error();
    json["top1_agreement"] = score.agreement();
  }
  return json.dump(2) + "\n";
}

std::string score_text(const Score& score, bool with_base) {
  const double perplexity = score.perplexity();
  std::string text = fmt::format("perplexity {:.4f} +- {:.4f} over {} tokens in {} windows\n",
                                 perplexity, perplexity * score.surprise.standard_error(),
                                 score.surprise.n(), score.n_windows);
  if (with_base)
    text += fmt::format(
        "base       {:.4f}\nmean KL    {:.6f} +- {:.6f} nats from the base\n"
        "top-1      {:.2f} % of positions agree\n",
        score.base_perplexity(), score.kl.value(), score.kl.standard_error(),
        100.0 * score.agreement());
  return text;
}

Result<int> perplexity(const PerplexityOptions& options) {
  if (options.n_windows < 0)
    return fail(ErrorCode::invalid_request, fmt::format("--windows is {}", options.n_windows),
                "give a positive number, or leave it out to score them all");
  if (options.window < 4)
    return fail(ErrorCode::invalid_request,
                fmt::format("--ctx {} is too small to score", options.window),
                "use --ctx 4 or more; 512 is usual");
  HWTV_TRY(const std::string text, read_file(options.file, int64_t{1} << 30));
  SessionOptions session_options = options.session;
  session_options.context = options.window;
  session_options.n_outputs = kScoredChunk;
  HWTV_TRY(const auto session, Session::open(session_options));
  std::unique_ptr<Session> base;
  if (options.against) {
    session_options.model = *options.against;
    session_options.adapters.clear();
    HWTV_TRY(base, Session::open(session_options));
    HWTV_TRY_VOID(check_same_vocabulary(*session, *base));
  }
  HWTV_TRY(const auto windows,
           text_windows(session->tokenizer(), text, options.window, options.n_windows));
  const bool progress = !options.json && ::isatty(STDERR_FILENO);
  Score score;
  for (const std::vector<int32_t>& window : windows) {
    HWTV_TRY_VOID(score_window(*session, base.get(), window, score));
    if (progress)
      note("\rwindow {} of {}: {:.4f}\033[K", score.n_windows, windows.size(), score.perplexity());
  }
  if (progress) note("\r\033[K");
  Output output;
  HWTV_TRY_VOID(output.write(options.json ? score_json(score, base != nullptr)
                                          : score_text(score, base != nullptr)));
  return kExitOk;
}

}  // namespace

Command make_perplexity_command() {
  auto options = std::make_shared<PerplexityOptions>();
  Command command;
  command.name = "perplexity";
  command.summary = "Judge a model on a text, alone or against another";
  command.example = "hwtv perplexity model.Q4_0.gguf book.txt --against model.F16.gguf";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model},
                         {"FILE", "the text", &options->file}};
  std::vector<Option> session = session_flags(options->session);
  session[0] = {"--ctx", "N", "tokens of a window; its second half is scored (default 512)",
                &options->window};
  command.options = {
      {"--against", "BASE", "mean KL divergence and top-1 agreement with this model",
       &options->against},
      {"--windows", "N", "score the first N windows (default: all)", &options->n_windows},
      {"--json", "", "print one JSON object", &options->json},
  };
  command.options.push_back(adapter_flag(options->session));
  for (Option& option : session) command.options.push_back(option);
  command.run = [options] { return perplexity(*options); };
  return command;
}

}  // namespace hwtv::app
