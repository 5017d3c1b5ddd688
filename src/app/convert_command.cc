#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/session.h"
#include "base/clock.h"
#include "base/units.h"
#include "hw/device_context.h"
#include "probe/memory.h"
#include "text/pre_tokenizer_rules.h"
#include "transform/convert.h"

namespace hwtv::app {
namespace {

using transform::Conversion;
using transform::PlannedTensor;

struct ConvertOptions {
  std::string folder, out, type, pre;
  int64_t threads = 0;
  bool dry_run = false, report = false, json = false;
};

// What was done, or would be.
struct Outcome {
  std::string out;
  double seconds = 0;
  std::optional<int64_t> peak_bytes = {};  // of this process; nullopt: not observable here
};

// Tensors and bytes by type: "170 BF16, 85 F32".
std::string types_text(const Conversion& conversion) {
  std::map<std::string_view, int64_t> counts;
  for (const PlannedTensor& tensor : conversion.tensors()) ++counts[dtype_name(tensor.to)];
  std::string text;
  for (const auto& [type, n] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, type);
  return text;
}

std::string report_text(const Conversion& conversion) {
  std::string text =
      fmt::format("{:<32} {:>16} {:>5} {:>11}  {}\n", "tensor", "shape", "type", "bytes", "from");
  for (const PlannedTensor& tensor : conversion.tensors())
    text += fmt::format("{:<32} {:>16} {:>5} {:>11}  {}\n", tensor.name, format_shape(tensor.shape),
                        dtype_name(tensor.to), format_bytes(tensor.n_bytes()),
                        tensor.source.info ? fmt::format("{} {}", tensor.source.info->type,
                                                         tensor.source.info->name)
                                           : std::string("config.json"));
  return text + "\n";
}

std::string tokenizer_text(const Conversion& conversion) {
  const transform::HfVocabulary& vocabulary = conversion.vocabulary();
  return fmt::format("tokenizer  {} ({}), {} tokens, {} of them padding, {} merges\n",
                     vocabulary.model, vocabulary.pre, vocabulary.tokens.size(),
                     vocabulary.n_padding, vocabulary.merges.size());
}

std::string outcome_text(const Conversion& conversion, const Outcome& outcome,
                         const ConvertOptions& options) {
  std::string text = options.report ? report_text(conversion) : "";
  text += fmt::format("{}: {} {}, {} layers, {} parameters, {} from {}", outcome.out,
                      conversion.config().family->architecture, conversion.type().name,
                      conversion.config().n_layers, conversion.n_elements(),
                      format_bytes(conversion.bytes()),
                      format_bytes(conversion.checkpoint().size_bytes()));
  if (options.dry_run)
    text += "; nothing was written (--dry-run)";
  else
    text += fmt::format(", in {}", format_seconds(outcome.seconds));
  text += fmt::format("\ntensors    {}\n{}", types_text(conversion), tokenizer_text(conversion));
  if (outcome.peak_bytes)
    text += fmt::format("memory     {} at most, pages of the checkpoint among them\n",
                        format_bytes(*outcome.peak_bytes));
  for (const std::string& line : conversion.notes()) text += fmt::format("note       {}\n", line);
  if (options.dry_run) return text;
  return text + fmt::format("next: hwtv run {} -p \"Hello\"\n", outcome.out);
}

std::string outcome_json(const Conversion& conversion, const Outcome& outcome,
                         const ConvertOptions& options) {
  using Json = nlohmann::ordered_json;
  const transform::HfVocabulary& vocabulary = conversion.vocabulary();
  Json json = {{"in", options.folder},
               {"out", outcome.out},
               {"architecture", conversion.config().family->architecture},
               {"type", conversion.type().name},
               {"written", !options.dry_run},
               {"bytes_in", conversion.checkpoint().size_bytes()},
               {"bytes", conversion.bytes()},
               {"elements", conversion.n_elements()},
               {"layers", conversion.config().n_layers},
               {"tokenizer",
                {{"model", vocabulary.model},
                 {"pre", vocabulary.pre},
                 {"tokens", vocabulary.tokens.size()},
                 {"padding", vocabulary.n_padding},
                 {"merges", vocabulary.merges.size()}}},
               {"seconds", outcome.seconds},
               {"notes", conversion.notes()}};
  json["peak_bytes"] = outcome.peak_bytes ? Json(*outcome.peak_bytes) : Json();
  for (const PlannedTensor& tensor : conversion.tensors())
    json["tensors"].push_back({{"name", tensor.name},
                               {"shape", tensor.shape},
                               {"type", dtype_name(tensor.to)},
                               {"bytes", tensor.n_bytes()}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The checkpoint must not be written over while it is read.
Result<void> check_out(const Conversion& conversion, const std::string& out) {
  std::error_code code;
  for (const safetensors::File& file : conversion.checkpoint().files())
    if (std::filesystem::equivalent(file.path(), out, code))
      return fail(ErrorCode::invalid_request, fmt::format("{} is a file to be read", out),
                  "give the result another path");
  return {};
}

Result<void> check_options(const ConvertOptions& options) {
  HWTV_TRY_VOID(check_threads(options.threads));
  if (options.pre.empty() || text::find_pre_tokenizer_rule(options.pre)) return {};
  return fail(ErrorCode::invalid_request, fmt::format("--pre {} is not known", options.pre),
              "use a name as GGUF files have it: llama-bpe, qwen2, gpt-2, ...");
}

Result<int> convert(const ConvertOptions& options) {
  HWTV_TRY_VOID(check_options(options));
  const auto device = hw::DeviceContext::open_cpu(static_cast<int>(options.threads));
  const Interrupt interrupt;
  std::unique_ptr<Progress> progress;
  transform::ConvertJob job{.folder = options.folder,
                            .type = options.type,
                            .pre = options.pre,
                            .on_progress = [&](int64_t done_bytes) { progress->show(done_bytes); },
                            .is_cancelled = [&] { return interrupt.requested(); }};
  HWTV_TRY(const Conversion conversion, Conversion::plan(std::move(job)));
  Outcome outcome{.out = options.out.empty() ? conversion.default_path() : options.out};
  HWTV_TRY_VOID(check_out(conversion, outcome.out));
  if (!options.dry_run) {
    progress = std::make_unique<Progress>("converting", conversion.bytes(), options.json);
    SteadyClock clock;
    const double start_s = clock.now_s();
    HWTV_TRY_VOID(conversion.write(outcome.out, device->team()));
    outcome.seconds = clock.now_s() - start_s;
    progress.reset();
  }
  const auto peak = probe::read_process_memory(probe::Root("/")).peak_bytes;
  if (peak) outcome.peak_bytes = *peak;
  Output output;
  HWTV_TRY_VOID(output.write(options.json ? outcome_json(conversion, outcome, options)
                                          : outcome_text(conversion, outcome, options)));
  return kExitOk;
}

}  // namespace

Command make_convert_command() {
  auto options = std::make_shared<ConvertOptions>();
  Command command;
  command.name = "convert";
  command.summary = "Write a Hugging Face folder as a GGUF file";
  command.example = "hwtv convert Qwen2.5-0.5B-Instruct model.gguf --type BF16";
  command.positionals = {
      {"DIR", "the folder: config.json, model.safetensors, tokenizer.json", &options->folder},
      {"OUT", "the file to write (default: DIR/NAME-TYPE.gguf)", &options->out, false}};
  command.options = {
      {"--type", "TYPE", "F32, F16, BF16 or Q8_0 (default: 16 bits, as the weights are)",
       &options->type},
      {"--pre", "NAME", "the rule that cuts text into words (default: from tokenizer.json)",
       &options->pre},
      {"--dry-run", "", "only say what would be written", &options->dry_run},
      {"--report", "", "list every tensor with where it comes from", &options->report},
      {"--json", "", "print one JSON object, tensors included", &options->json},
      {"--threads", "N", "threads (default: one for each usable core)", &options->threads},
  };
  command.run = [options] { return convert(*options); };
  return command;
}

}  // namespace hwtv::app
