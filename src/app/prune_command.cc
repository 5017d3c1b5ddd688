#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/out_file.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/prompt_rows.h"
#include "app/score.h"
#include "app/session.h"
#include "app/text_windows.h"
#include "base/file.h"
#include "base/units.h"
#include "store/model_cache.h"
#include "transform/prune.h"

namespace hwtv::app {
namespace {

using Window = std::vector<int32_t>;

struct PruneOptions {
  SessionOptions session;
  std::string out, text;
  int64_t n_removed = 0;
  int64_t window = 512;
  int64_t n_windows = 8;  // watched, and as many judged
  bool dry_run = false, json = false;
};

// What was done, or would be.
struct Outcome {
  std::string in, out;
  transform::LayerPlan plan;
  std::vector<double> influences;
  std::vector<int64_t> removed;
  int64_t in_bytes = 0, out_bytes = 0, n_watched = 0;
  Score score;  // of the pruned model, the whole one its base; empty after a dry run
  double seconds = 0;
};

bool is_removed(const Outcome& outcome, int64_t layer) {
  return std::ranges::binary_search(outcome.removed, layer);
}

std::string outcome_text(const Outcome& outcome, const PruneOptions& options) {
  const auto n_removed = static_cast<int64_t>(outcome.removed.size());
  std::string text = fmt::format("{}: {} of {} layers, {} from {}", outcome.out,
                                 outcome.plan.n_layers - n_removed, outcome.plan.n_layers,
                                 format_bytes(outcome.out_bytes), format_bytes(outcome.in_bytes));
  text += options.dry_run ? std::string("; nothing was written (--dry-run)\n")
                          : fmt::format(", in {}\n", format_seconds(outcome.seconds));
  text +=
      fmt::format("influence of each layer over {} tokens (1 - cosine of what goes in and out)\n",
                  outcome.n_watched);
  for (size_t layer = 0; layer < outcome.influences.size(); ++layer)
    text += fmt::format("{:>5}  {:.4f}{}\n", layer, outcome.influences[layer],
                        is_removed(outcome, static_cast<int64_t>(layer)) ? "  removed" : "");
  if (options.dry_run) return text;
  const Score& score = outcome.score;
  text += fmt::format(
      "on {} tokens of the text that were not watched\n"
      "perplexity {:.4f} before, {:.4f} after\n"
      "mean KL    {:.6f} +- {:.6f} nats from the whole model\n"
      "top-1      {:.2f} % of positions agree\n"
      "next: hwtv run {} -p \"Hello\"\n",
      score.surprise.n(), score.base_perplexity(), score.perplexity(), score.kl.value(),
      score.kl.standard_error(), 100.0 * score.agreement(), outcome.out);
  return text;
}

std::string outcome_json(const Outcome& outcome, const PruneOptions& options) {
  const auto n_removed = static_cast<int64_t>(outcome.removed.size());
  nlohmann::ordered_json json = {{"in", outcome.in},
                                 {"out", outcome.out},
                                 {"written", !options.dry_run},
                                 {"layers_in", outcome.plan.n_layers},
                                 {"layers", outcome.plan.n_layers - n_removed},
                                 {"removed", outcome.removed},
                                 {"influences", outcome.influences},
                                 {"watched_tokens", outcome.n_watched},
                                 {"bytes_in", outcome.in_bytes},
                                 {"bytes", outcome.out_bytes},
                                 {"seconds", outcome.seconds}};
  if (!options.dry_run) {
    json["perplexity_before"] = outcome.score.base_perplexity();
    json["perplexity"] = outcome.score.perplexity();
    json["mean_kl_nats"] = outcome.score.kl.value();
    json["mean_kl_standard_error"] = outcome.score.kl.standard_error();
    json["top1_agreement"] = outcome.score.agreement();
    json["scored_tokens"] = outcome.score.surprise.n();
  }
  return json.dump(2) + "\n";
}

Result<void> check_options(const PruneOptions& options) {
  if (options.text.empty())
    return fail(ErrorCode::invalid_request, "no text to calibrate with",
                "give one with --calibrate FILE: some thousand words of what the model is for");
  if (options.window < 4)
    return fail(ErrorCode::invalid_request,
                fmt::format("--ctx {} is too small to learn from", options.window),
                "use --ctx 4 or more; 512 is usual");
  if (options.n_windows < 1)
    return fail(ErrorCode::invalid_request, fmt::format("--windows is {}", options.n_windows),
                "give a positive number: so many are watched, and as many judged");
  return {};
}

Result<void> check_layers(const PruneOptions& options, const transform::LayerPlan& plan) {
  if (options.n_removed > 0 && options.n_removed < plan.n_layers) return {};
  return fail(ErrorCode::invalid_request,
              fmt::format("--layers {} of the {} layers of {}", options.n_removed, plan.n_layers,
                          options.session.model),
              fmt::format("remove 1 to {}; a tenth of them costs little", plan.n_layers - 1));
}

SessionOptions session_options(const PruneOptions& options) {
  SessionOptions out = options.session;
  out.context = options.window;
  out.n_outputs = kScoredChunk;
  return out;
}

// Windows of the text in turns: one to be watched, one to be judged.
struct Texts {
  std::vector<Window> watched, judged;
};

Result<Texts> cut_text(const text::Tokenizer& tokenizer, const PruneOptions& options) {
  HWTV_TRY(const std::string text, read_file(options.text, int64_t{1} << 30));
  HWTV_TRY(std::vector<Window> windows,
           text_windows(tokenizer, text, options.window, 2 * options.n_windows));
  if (windows.size() < 2)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} has one window of {} tokens", options.text, options.window),
                "give a longer text, or a smaller --ctx: one window is watched, another judged");
  Texts texts;
  for (size_t i = 0; i < windows.size(); ++i)
    (i % 2 == 0 ? texts.watched : texts.judged).push_back(std::move(windows[i]));
  return texts;
}

// Runs the whole model on the reference backend and watches what its layers change.
Result<Texts> watch(const PruneOptions& options, const Interrupt& interrupt, Outcome& outcome) {
  transform::InfluenceMeter meter(outcome.plan.n_layers);
  SessionOptions watching = session_options(options);
  watching.backend = "ref";  // the one that can be watched
  watching.observer = [&](const ops::WeightDecl& weight, std::span<const float> x) {
    if (weight.role == ops::WeightRole::norm) meter.observe(weight.name, x, weight.width);
  };
  HWTV_TRY(const auto session, Session::open(watching));
  HWTV_TRY(Texts texts, cut_text(session->tokenizer(), options));
  Progress progress("watching", static_cast<int64_t>(texts.watched.size()), options.json);
  int64_t n_done = 0;
  for (const Window& window : texts.watched) {
    if (interrupt.requested())
      return fail(ErrorCode::cancelled, fmt::format("stopped; {} was not written", outcome.out));
    // Every row, so that the last layer is seen with all tokens too.
    HWTV_TRY_VOID(for_each_prompt_row(*session, window, 0, [](int64_t, std::span<const float>) {}));
    progress.show(++n_done);
  }
  outcome.n_watched = meter.n_rows();
  outcome.influences = meter.influences();
  return texts;
}

Result<void> write(const gguf::File& file, const PruneOptions& options, const Interrupt& interrupt,
                   Outcome& outcome) {
  Progress progress("writing", outcome.out_bytes, options.json);
  const transform::PruneJob job{
      .file = file,
      .plan = outcome.plan,
      .removed = outcome.removed,
      .on_progress = [&](int64_t done_bytes) { progress.show(done_bytes); },
      .is_cancelled = [&] { return interrupt.requested(); }};
  return transform::prune_file(job, outcome.out);
}

// Both models side by side on what was not watched.
Result<void> judge(const PruneOptions& options, const Interrupt& interrupt, const Texts& texts,
                   Outcome& outcome) {
  SessionOptions both = session_options(options);
  HWTV_TRY(const auto base, Session::open(both));
  both.model = outcome.out;
  HWTV_TRY(const auto pruned, Session::open(both));
  Progress progress("judging", static_cast<int64_t>(texts.judged.size()), options.json);
  for (const Window& window : texts.judged) {
    if (interrupt.requested())
      return fail(ErrorCode::cancelled,
                  fmt::format("stopped; {} is whole, not judged", outcome.out));
    HWTV_TRY_VOID(score_window(*pruned, base.get(), window, outcome.score));
    progress.show(outcome.score.n_windows);
  }
  return {};
}

std::string default_out(const std::string& path, int64_t n_removed) {
  const std::filesystem::path in(path);
  return (in.parent_path() / fmt::format("{}-less-{}.gguf", in.stem().string(), n_removed))
      .string();
}

Result<int> prune(const PruneOptions& options) {
  HWTV_TRY_VOID(check_options(options));
  HWTV_TRY(const std::string path, store::resolve_model(options.session.model));
  HWTV_TRY(const gguf::File file, gguf::File::open(path));
  Outcome outcome;
  outcome.in = path;
  HWTV_TRY(outcome.plan, transform::read_layer_plan(file));
  HWTV_TRY_VOID(check_layers(options, outcome.plan));
  outcome.out = options.out.empty() ? default_out(path, options.n_removed) : options.out;
  HWTV_TRY_VOID(check_out(file, outcome.out));
  const Interrupt interrupt;
  SteadyClock clock;
  const double start_s = clock.now_s();
  HWTV_TRY(const Texts texts, watch(options, interrupt, outcome));
  outcome.removed = transform::choose_layers(outcome.plan, outcome.influences, options.n_removed);
  for (const gguf::TensorInfo& tensor : file.tensors()) outcome.in_bytes += tensor.n_bytes;
  outcome.out_bytes =
      transform::pruned_bytes({.file = file, .plan = outcome.plan, .removed = outcome.removed});
  if (!options.dry_run) {
    HWTV_TRY_VOID(write(file, options, interrupt, outcome));
    HWTV_TRY_VOID(judge(options, interrupt, texts, outcome));
  }
  outcome.seconds = clock.now_s() - start_s;
  Output output;
  HWTV_TRY_VOID(
      output.write(options.json ? outcome_json(outcome, options) : outcome_text(outcome, options)));
  return kExitOk;
}

}  // namespace

Command make_prune_command() {
  auto options = std::make_shared<PruneOptions>();
  Command command;
  command.name = "prune";
  command.summary = "Take the least influential layers out of a model";
  command.example = "hwtv prune model.gguf smaller.gguf --layers 3 --calibrate book.txt";
  command.positionals = {
      {"MODEL", "a GGUF file, or a cached name", &options->session.model},
      {"OUT", "the file to write (default: MODEL-less-N.gguf, beside it)", &options->out, false}};
  command.options = {
      {"--layers", "N", "how many layers to take out", &options->n_removed},
      {"--calibrate", "FILE", "the text to watch the model read, and to judge the result with",
       &options->text},
      {"--ctx", "N", "tokens of a window (default 512)", &options->window},
      {"--windows", "N", "watch N windows and judge N others (default 8)", &options->n_windows},
      {"--dry-run", "", "only say which layers would go", &options->dry_run},
      {"--json", "", "print one JSON object", &options->json},
      {"--threads", "N", "threads (default: one for each usable core)", &options->session.threads},
  };
  command.run = [options] { return prune(*options); };
  return command;
}

}  // namespace hwtv::app
