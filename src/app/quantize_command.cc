#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/out_file.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/session.h"
#include "base/clock.h"
#include "base/units.h"
#include "hw/device_context.h"
#include "store/model_cache.h"
#include "transform/quantize.h"

namespace hwtv::app {
namespace {

using transform::TensorChoice;

struct QuantizeOptions {
  std::string in, out, type;
  std::string importance;
  int64_t threads = 0;
  bool allow_requantize = false, pure = false, dry_run = false, report = false, json = false;
};

// What was done, or would be.
struct Outcome {
  std::string in, out;
  transform::MixInfo mix;
  std::vector<TensorChoice> choices;
  transform::RelativeErrors errors;  // empty after a dry run
  double seconds = 0;
  int64_t in_bytes = 0, out_bytes = 0, n_elements = 0;

  double bits_per_weight() const {
    return 8.0 * static_cast<double>(out_bytes) / static_cast<double>(n_elements);
  }
};

int64_t to_bytes(const TensorChoice& choice) {
  return dtype_bytes(choice.to, choice.tensor->n_elements);
}

Result<void> check_requantize(const Outcome& outcome) {
  int64_t n = 0;
  const TensorChoice* first = nullptr;
  for (const TensorChoice& choice : outcome.choices) {
    if (!is_quantized(choice.from) || !is_quantized(choice.to) || choice.from == choice.to)
      continue;
    if (n++ == 0) first = &choice;
  }
  if (n == 0) return {};
  return fail(ErrorCode::invalid_request,
              fmt::format("{} has {} tensors that are quantized already, first {} ({}): once more "
                          "to {} loses more than from the original",
                          outcome.in, n, first->tensor->name, dtype_name(first->from),
                          dtype_name(first->to)),
              "start from an F32, F16 or BF16 file, or add --allow-requantize");
}

// One line for each kind of fallback.
std::string fallback_text(const Outcome& outcome) {
  std::map<std::tuple<DType, DType, int64_t>, int64_t> counts;
  for (const TensorChoice& choice : outcome.choices)
    if (choice.wanted != choice.to) ++counts[{choice.wanted, choice.to, choice.tensor->shape[0]}];
  std::string text;
  for (const auto& [key, n] : counts) {
    const auto& [wanted, to, width] = key;
    text += fmt::format("{} tensor{} with rows of {} do not fill blocks of {} ({}): {} instead\n",
                        n, n == 1 ? "" : "s", width, dtype_name(wanted),
                        dtype_info(wanted).block_elements, dtype_name(to));
  }
  return text;
}

std::string report_text(const Outcome& outcome) {
  std::string text = fmt::format("{:<32} {:>16} {:>6} {:>7} {:>11} {:>9}\n", "tensor", "shape",
                                 "from", "to", "bytes", "error");
  for (size_t i = 0; i < outcome.choices.size(); ++i) {
    const TensorChoice& choice = outcome.choices[i];
    const bool has_error = !outcome.errors.empty() && outcome.errors[i];
    text += fmt::format("{:<32} {:>16} {:>6} {:>7} {:>11} {:>9}\n", choice.tensor->name,
                        format_shape(choice.tensor->shape), dtype_name(choice.from),
                        dtype_name(choice.to), format_bytes(to_bytes(choice)),
                        has_error ? fmt::format("{:.4f} %", 100 * *outcome.errors[i])
                                  : std::string(choice.from == choice.to ? "copied" : "-"));
  }
  return text;
}

std::string outcome_text(const Outcome& outcome, const QuantizeOptions& options) {
  std::string text = options.report ? report_text(outcome) + "\n" : "";
  text += fallback_text(outcome);
  text += fmt::format("{}: {}, {} from {}, {:.2f} bits per weight", outcome.out, outcome.mix.name,
                      format_bytes(outcome.out_bytes), format_bytes(outcome.in_bytes),
                      outcome.bits_per_weight());
  if (options.dry_run) return text + "; nothing was written (--dry-run)\n";
  return text + fmt::format(", in {}\nnext: hwtv run {} -p \"Hello\"\n",
                            format_seconds(outcome.seconds), outcome.out);
}

std::string outcome_json(const Outcome& outcome, const QuantizeOptions& options) {
  using Json = nlohmann::ordered_json;
  Json json = {{"in", outcome.in},
               {"out", outcome.out},
               {"type", outcome.mix.name},
               {"written", !options.dry_run},
               {"bytes_in", outcome.in_bytes},
               {"bytes", outcome.out_bytes},
               {"elements", outcome.n_elements},
               {"bits_per_weight", outcome.bits_per_weight()},
               {"seconds", outcome.seconds}};
  for (size_t i = 0; i < outcome.choices.size(); ++i) {
    const TensorChoice& choice = outcome.choices[i];
    Json tensor = {{"name", choice.tensor->name},
                   {"shape", choice.tensor->shape},
                   {"from", dtype_name(choice.from)},
                   {"to", dtype_name(choice.to)},
                   {"bytes", to_bytes(choice)}};
    if (choice.wanted != choice.to) tensor["wanted"] = dtype_name(choice.wanted);
    if (!outcome.errors.empty() && outcome.errors[i]) tensor["relative_error"] = *outcome.errors[i];
    json["tensors"].push_back(std::move(tensor));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Outcome> plan(const gguf::File& file, const QuantizeOptions& options) {
  HWTV_TRY(const transform::MixInfo mix, transform::find_mix(options.type));
  Outcome outcome{.in = file.path(), .out = options.out, .mix = mix, .choices = {}, .errors = {}};
  HWTV_TRY(outcome.choices, choose_types(file, mix, {options.pure, !options.importance.empty()}));
  if (outcome.choices.empty())
    return fail(ErrorCode::unsupported, fmt::format("{} has no tensors", file.path()),
                "give a file with a model's weights");
  for (const TensorChoice& choice : outcome.choices) {
    outcome.in_bytes += choice.tensor->n_bytes;
    outcome.n_elements += choice.tensor->n_elements;
  }
  outcome.out_bytes = transform::output_bytes(outcome.choices);
  if (!options.allow_requantize) HWTV_TRY_VOID(check_requantize(outcome));
  return outcome;
}

Result<void> write(const gguf::File& file, const QuantizeOptions& options, Outcome& outcome) {
  const auto device = hw::DeviceContext::open_cpu(static_cast<int>(options.threads));
  std::optional<transform::Importance> importance;
  if (!options.importance.empty()) {
    HWTV_TRY(importance, transform::read_importance(options.importance));
  }
  Progress progress("quantizing", outcome.out_bytes, options.json);
  const Interrupt interrupt;
  SteadyClock clock;
  const double start_s = clock.now_s();
  const transform::QuantizeJob job{
      .file = file,
      .mix = outcome.mix,
      .choices = outcome.choices,
      .importance = importance ? &*importance : nullptr,
      .importance_path = options.importance,
      .on_progress = [&](int64_t done_bytes) { progress.show(done_bytes); },
      .is_cancelled = [&] { return interrupt.requested(); }};
  HWTV_TRY(outcome.errors, transform::quantize_file(job, outcome.out, device->team()));
  outcome.seconds = clock.now_s() - start_s;
  return {};
}

Result<int> quantize(const QuantizeOptions& options) {
  HWTV_TRY_VOID(check_threads(options.threads));
  HWTV_TRY(const std::string path, store::resolve_model(options.in));
  HWTV_TRY(const gguf::File file, gguf::File::open(path));
  HWTV_TRY_VOID(check_out(file, options.out));
  HWTV_TRY(Outcome outcome, plan(file, options));
  if (!options.dry_run) HWTV_TRY_VOID(write(file, options, outcome));
  Output output;
  HWTV_TRY_VOID(
      output.write(options.json ? outcome_json(outcome, options) : outcome_text(outcome, options)));
  return kExitOk;
}

}  // namespace

Command make_quantize_command() {
  auto options = std::make_shared<QuantizeOptions>();
  std::string names;
  for (const transform::MixInfo& mix : transform::mix_table())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", mix.name);
  Command command;
  command.name = "quantize";
  command.summary = "Write a model anew with smaller tensor types";
  command.example = "hwtv quantize model.F16.gguf model.Q4_K_M.gguf Q4_K_M --report";
  command.positionals = {{"IN", "a GGUF file, or a cached name", &options->in},
                         {"OUT", "the file to write", &options->out},
                         {"TYPE", names, &options->type}};
  command.options = {
      {"--imatrix", "FILE", "importance data, from hwtv imatrix or llama-imatrix",
       &options->importance},
      {"--allow-requantize", "", "quantize tensors again that are quantized already",
       &options->allow_requantize},
      {"--pure", "", "one type for all tensors that are quantized at all", &options->pure},
      {"--dry-run", "", "only say what would be written", &options->dry_run},
      {"--report", "", "list every tensor with its size and error", &options->report},
      {"--json", "", "print one JSON object, tensors included", &options->json},
      {"--threads", "N", "threads (default: one for each usable core)", &options->threads},
  };
  command.run = [options] { return quantize(*options); };
  return command;
}

}  // namespace hwtv::app
