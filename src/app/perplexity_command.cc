#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/prompt_rows.h"
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

// Mean and standard error of a stream of numbers.
class Mean {
 public:
  void add(double x) {
    ++n_;
    sum_ += x;
    squares_ += x * x;
  }
  int64_t n() const { return n_; }
  double value() const { return sum_ / static_cast<double>(n_); }
  double standard_error() const {
    const double n = static_cast<double>(n_);
    return n > 1 ? std::sqrt(std::max(0.0, squares_ / n - value() * value()) / (n - 1)) : 0;
  }

 private:
  int64_t n_ = 0;
  double sum_ = 0, squares_ = 0;
};

double log_normalizer(std::span<const float> row) {
  const double top = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

size_t best(std::span<const float> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// KL(base || row) in nats.
double divergence(std::span<const float> base, std::span<const float> row) {
  const double base_log = log_normalizer(base), row_log = log_normalizer(row);
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double log_p = static_cast<double>(base[i]) - base_log;
    sum += std::exp(log_p) * (log_p - (static_cast<double>(row[i]) - row_log));
  }
  return sum;
}

struct Score {
  Mean surprise;         // -log p of the next token, nats
  Mean base_surprise;    // the same of the base
  Mean kl;               // against the base
  int64_t n_agreed = 0;  // positions where both find the same token likeliest
  int64_t n_windows = 0;
};

// Scores the second half of one window: position p predicts token p + 1.
Result<void> score_window(Session& session, Session* base, const std::vector<int32_t>& tokens,
                          Score& score) {
  const int64_t first = static_cast<int64_t>(tokens.size()) / 2;
  const int64_t last = static_cast<int64_t>(tokens.size()) - 1;  // predicts nothing
  const auto next = [&](int64_t position) {
    return static_cast<size_t>(tokens[static_cast<size_t>(position) + 1]);
  };
  std::vector<float> base_rows;
  if (base)
    HWTV_TRY_VOID(
        for_each_prompt_row(*base, tokens, first, [&](int64_t p, std::span<const float> row) {
          if (p == last) return;
          base_rows.insert(base_rows.end(), row.begin(), row.end());
          score.base_surprise.add(log_normalizer(row) - static_cast<double>(row[next(p)]));
        }));
  HWTV_TRY_VOID(
      for_each_prompt_row(session, tokens, first, [&](int64_t p, std::span<const float> row) {
        if (p == last) return;
        score.surprise.add(log_normalizer(row) - static_cast<double>(row[next(p)]));
        if (!base) return;
        const auto base_row = std::span<const float>(base_rows).subspan(
            static_cast<size_t>(p - first) * row.size(), row.size());
        score.kl.add(divergence(base_row, row));
        score.n_agreed += best(base_row) == best(row);
      }));
  ++score.n_windows;
  return {};
}

std::string score_json(const Score& score, bool with_base) {
  const double perplexity = std::exp(score.surprise.value());
  nlohmann::ordered_json json = {{"perplexity", perplexity},
                                 {"standard_error", perplexity * score.surprise.standard_error()},
                                 {"windows", score.n_windows},
                                 {"scored_tokens", score.surprise.n()}};
  if (with_base) {
    json["base_perplexity"] = std::exp(score.base_surprise.value());
    json["mean_kl_nats"] = score.kl.value();
    json["mean_kl_standard_error"] = score.kl.standard_error();
    json["top1_agreement"] =
        static_cast<double>(score.n_agreed) / static_cast<double>(score.kl.n());
  }
  return json.dump(2) + "\n";
}

std::string score_text(const Score& score, bool with_base) {
  const double perplexity = std::exp(score.surprise.value());
  std::string text = fmt::format("perplexity {:.4f} +- {:.4f} over {} tokens in {} windows\n",
                                 perplexity, perplexity * score.surprise.standard_error(),
                                 score.surprise.n(), score.n_windows);
  if (with_base)
    text += fmt::format(
        "base       {:.4f}\nmean KL    {:.6f} +- {:.6f} nats from the base\n"
        "top-1      {:.2f} % of positions agree\n",
        std::exp(score.base_surprise.value()), score.kl.value(), score.kl.standard_error(),
        100.0 * static_cast<double>(score.n_agreed) / static_cast<double>(score.kl.n()));
  return text;
}

Result<void> check_same_vocabulary(const Session& a, const Session& b) {
  const int64_t n = a.model().config().vocab_size, m = b.model().config().vocab_size;
  if (n == m) return {};
  return fail(ErrorCode::invalid_request,
              fmt::format("the model has a vocabulary of {}, the base one of {}", n, m),
              "compare models of one family with the same tokenizer");
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
    HWTV_TRY(base, Session::open(session_options));
    HWTV_TRY_VOID(check_same_vocabulary(*session, *base));
  }
  HWTV_TRY(const auto windows, text_windows(session->tokenizer(), text, options.window, options.n_windows));
  const bool progress = !options.json && ::isatty(STDERR_FILENO);
  Score score;
  for (const std::vector<int32_t>& window : windows) {
    HWTV_TRY_VOID(score_window(*session, base.get(), window, score));
    if (progress)
      note("\rwindow {} of {}: {:.4f}\033[K", score.n_windows, windows.size(),
           std::exp(score.surprise.value()));
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
  for (Option& option : session) command.options.push_back(option);
  command.run = [options] { return perplexity(*options); };
  return command;
}

}  // namespace hwtv::app
