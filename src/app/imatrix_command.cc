#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/prompt_rows.h"
#include "app/session.h"
#include "app/text_windows.h"
#include "base/file.h"
#include "base/units.h"
#include "transform/importance.h"

namespace hwtv::app {
namespace {

struct ImatrixOptions {
  SessionOptions session;
  std::string text, out;
  int64_t window = 512;
  int64_t n_windows = 0;
  bool with_output = false;
};

// Sums up what the layers' weights are multiplied with; the output's only where it is wanted.
void collect(const ops::WeightDecl& weight, std::span<const float> x, bool with_output,
             transform::Importance& importance) {
  const bool is_output = weight.role == ops::WeightRole::output && with_output;
  if (weight.role == ops::WeightRole::norm) return;
  if (!weight.name.starts_with("blk.") && !is_output) return;
  if (weight.first_row > 0) return;  // the tensor's first rows have seen the same x
  transform::ColumnSums& sums = importance.weights[weight.name];
  const auto width = static_cast<size_t>(weight.width);
  for (size_t at = 0; at < x.size(); at += width) sums.add(x.subspan(at, width));
}

Result<void> check_options(const ImatrixOptions& options) {
  if (options.out.empty())
    return fail(ErrorCode::invalid_request, "no output file", "give one with -o FILE.gguf");
  if (options.window < 4)
    return fail(ErrorCode::invalid_request,
                fmt::format("--ctx {} is too small to learn from", options.window),
                "use --ctx 4 or more; 512 is usual");
  if (options.n_windows < 0)
    return fail(ErrorCode::invalid_request, fmt::format("--windows is {}", options.n_windows),
                "give a positive number, or leave it out to use them all");
  return {};
}

Result<int> imatrix(const ImatrixOptions& options) {
  HWTV_TRY_VOID(check_options(options));
  HWTV_TRY(const std::string text, read_file(options.text, int64_t{1} << 30));
  transform::Importance importance;
  SessionOptions session_options = options.session;
  session_options.backend = "ref";  // the one that can be watched
  session_options.context = options.window;
  session_options.n_outputs = kScoredChunk;
  session_options.observer = [&](const ops::WeightDecl& weight, std::span<const float> x) {
    collect(weight, x, options.with_output, importance);
  };
  HWTV_TRY(const auto session, Session::open(session_options));
  HWTV_TRY(const auto windows,
           text_windows(session->tokenizer(), text, options.window, options.n_windows));
  Progress progress("watching", static_cast<int64_t>(text.size()), false);
  const Interrupt interrupt;
  const double start_s = session->clock().now_s();
  for (const std::vector<int32_t>& window : windows) {
    if (interrupt.requested())
      return fail(ErrorCode::cancelled, fmt::format("stopped; {} was not written", options.out));
    // Every row, so that the last layer's weights see all tokens too.
    HWTV_TRY_VOID(for_each_prompt_row(*session, window, 0, [](int64_t, std::span<const float>) {}));
    ++importance.n_chunks;
    progress.show(static_cast<int64_t>(text.size()) * importance.n_chunks /
                  static_cast<int64_t>(windows.size()));
  }
  importance.chunk_tokens = options.window;
  importance.datasets = {options.text};
  HWTV_TRY_VOID(transform::write_importance(options.out, importance));
  Output output;
  HWTV_TRY_VOID(output.write(fmt::format(
      "{}: importance of {} weights over {} windows of {} tokens, in {}\n"
      "next: hwtv quantize {} OUT.gguf Q4_K_M --imatrix {}\n",
      options.out, importance.weights.size(), importance.n_chunks, importance.chunk_tokens,
      format_seconds(session->clock().now_s() - start_s), options.session.model, options.out)));
  return kExitOk;
}

}  // namespace

Command make_imatrix_command() {
  auto options = std::make_shared<ImatrixOptions>();
  Command command;
  command.name = "imatrix";
  command.summary = "Collect importance data for quantize from a text";
  command.example = "hwtv imatrix model.F16.gguf book.txt -o model.imatrix.gguf";
  command.positionals = {{"MODEL", "a GGUF file, or a cached name", &options->session.model},
                         {"TEXT", "the text to watch the model read", &options->text}};
  command.options = {
      {"-o,--out", "FILE.gguf", "where to, in the form of llama-imatrix", &options->out},
      {"--ctx", "N", "tokens of a window (default 512)", &options->window},
      {"--windows", "N", "read the first N windows (default: all)", &options->n_windows},
      {"--process-output", "", "collect for output.weight too", &options->with_output},
      {"--threads", "N", "threads (default: one for each usable core)", &options->session.threads},
  };
  command.run = [options] { return imatrix(*options); };
  return command;
}

}  // namespace hwtv::app
