#include "app/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/backend_choice.h"
#include "app/note.h"
#include "app/progress.h"
#include "app/speculation_flags.h"
#include "base/units.h"
#include "engine/prompt_lookup.h"
#include "store/model_cache.h"
#include "text/tokenizer_memory.h"

namespace hwtv::app {
namespace {

Result<DType> kv_dtype(const std::string& name) {
  const std::optional<DType> dtype = dtype_from_name(name);
  if (dtype) return *dtype;
  return fail(ErrorCode::invalid_request, fmt::format("--kv-type {} is no type", name),
              "use f16, bf16, f32, q8_0 or q4_0");
}

// What follows the last colon, where that is a number and no part of a file's name.
Result<model::Adapter> open_adapter(const std::string& words) {
  std::string name = words;
  float scale = 1;
  const size_t colon = words.rfind(':');
  if (colon != std::string::npos && !store::resolve_model(words)) {
    const char* const end = words.data() + words.size();
    const auto [stop, error] = std::from_chars(words.data() + colon + 1, end, scale);
    if (error != std::errc() || stop != end || !std::isfinite(scale))
      return fail(ErrorCode::invalid_request,
                  fmt::format("--lora {}: '{}' is no scale", words, words.substr(colon + 1)),
                  "use FILE or FILE:SCALE with a number, as in adapter.gguf:0.5");
    name.resize(colon);
  }
  HWTV_TRY(const std::string path, store::resolve_model(name));
  return model::Adapter::open(path, scale);
}

// ", of it 2 adapters 3.1 MiB"; empty without any.
std::string adapters_text(std::span<const model::Adapter> adapters) {
  if (adapters.empty()) return "";
  int64_t n_bytes = 0;
  for (const model::Adapter& adapter : adapters) n_bytes += adapter.n_bytes();
  return fmt::format(", of it {} adapter{} {}", adapters.size(), adapters.size() == 1 ? "" : "s",
                     format_bytes(static_cast<double>(n_bytes)));
}

Result<std::vector<model::Adapter>> open_adapters(const std::vector<std::string>& all) {
  std::vector<model::Adapter> adapters;
  for (const std::string& words : all) {
    HWTV_TRY(model::Adapter adapter, open_adapter(words));
    adapters.push_back(std::move(adapter));
  }
  return adapters;
}

}  // namespace

std::vector<Option> session_flags(SessionOptions& options) {
  return {
      {"--ctx", "N", "context in tokens, prompt and answer (default: as trained, at most 4096)",
       &options.context},
      {"--threads", "N", "threads (default: one for each usable core)", &options.threads},
      {"--chunk", "N", "prompt tokens computed in one step (default 256)", &options.chunk},
      {"--kv-type",
       "TYPE",
       "type of the KV cache (default f16)",
       &options.kv_type,
       {"f32", "f16", "bf16", "q8_0", "q4_0"}},
      {"--backend",
       "NAME",
       "cpu, or ref: plain F32 loops to check against (default cpu)",
       &options.backend,
       {"cpu", "ref"}},
      {"--no-pack", "",
       "read weights where the file has them: slower, for machines whose memory the model fills",
       &options.no_pack},
  };
}

Option adapter_flag(SessionOptions& options) {
  return {"--lora", "FILE[:SCALE]",
          "a LoRA adapter of this model, GGUF; may be repeated, and what each adds is added",
          &options.adapters};
}

Result<void> check_threads(int64_t n_threads) {
  if (n_threads >= 0 && n_threads <= kMostThreads) return {};
  return fail(ErrorCode::invalid_request, fmt::format("--threads is {}", n_threads),
              fmt::format("use 1 to {}, or leave it out for one for each core", kMostThreads));
}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options) {
  const auto bad = [](const char* flag, int64_t value) {
    return fail(ErrorCode::invalid_request,
                fmt::format("{} is {}, which is not possible", flag, value),
                fmt::format("give {} a positive number, or leave it out", flag));
  };
  HWTV_TRY_VOID(check_threads(options.threads));
  if (options.context < 0) return bad("--ctx", options.context);
  if (options.chunk < 1) return bad("--chunk", options.chunk);
  HWTV_TRY_VOID(check_speculation(options));
  std::unique_ptr<Session> session(new Session());
  session->options_ = options;
  const double start_s = session->clock_.now_s();
  HWTV_TRY(session->kv_dtype_, kv_dtype(options.kv_type));
  HWTV_TRY_VOID(session->open_model());
  HWTV_TRY_VOID(session->check_memory());
  HWTV_TRY_VOID(session->load());
  session->load_s_ = session->clock_.now_s() - start_s;
  return session;
}

std::vector<int32_t> Session::adapters() const {
  std::vector<int32_t> all(model_->adapters().size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Result<void> Session::open_model() {
  HWTV_TRY(const std::string path, store::resolve_model(options_.model));
  HWTV_TRY(gguf::File file, gguf::File::open(path));
  HWTV_TRY(tokenizer_, text::Tokenizer::from_gguf(file));
  HWTV_TRY(std::vector<model::Adapter> adapters, open_adapters(options_.adapters));
  HWTV_TRY(model::Model model,
           model::Model::from_file(std::move(file), {options_.context, options_.output},
                                   std::move(adapters)));
  model_ = std::make_unique<model::Model>(std::move(model));
  HWTV_TRY_VOID(check_output());
  const int64_t trained = model_->config().context_tokens_max;
  if (options_.context == 0) options_.context = std::min(trained, kDefaultContext);
  if (options_.context > trained)
    return fail(ErrorCode::invalid_request,
                fmt::format("--ctx {} is beyond the {} tokens the model was trained for",
                            options_.context, trained),
                fmt::format("use --ctx {} or less", trained));
  if (!engine::can_take_back(model_->program())) HWTV_TRY_VOID(give_up_guesses(options_));
  // An encoder's tokens see those after them: a text is one step.
  if (!model_->config().causal) {
    options_.chunk = options_.context;
    options_.n_outputs = std::max(options_.n_outputs, options_.chunk);
  }
  if (!options_.draft.empty()) {
    HWTV_TRY(draft_, Draft::open(options_.draft, *model_, options_.context));
  }
  return {};
}

Result<void> Session::check_output() const {
  if (model_->program().outputs[0].kind == options_.output) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} models are encoders: they give embeddings, and no text",
                          model_->config().architecture),
              "use it with `hwtv embed` or `hwtv rerank`");
}

engine::EngineConfig Session::engine_config(int64_t context_tokens) const {
  engine::EngineConfig config;
  config.n_seqs_max = options_.n_seqs;
  config.context_tokens_max = context_tokens;
  config.n_tokens_max = std::min(options_.chunk, context_tokens);
  config.n_outputs_max = std::min(options_.n_outputs, config.n_tokens_max);
  config.kv_pool_tokens = options_.kv_pool_tokens;
  config.k_dtype = config.v_dtype = kv_dtype_;
  config.speculation = speculation_mode(options_);
  config.n_proposed_max = options_.draft_max;
  config.profile = options_.profile;
  return config;
}

int64_t Session::lookup_bytes(int64_t context_tokens) const {
  return looks_up(options_) ? engine::PromptLookup::predict_bytes(context_tokens) : 0;
}

plan::MemoryPlan Session::price(int64_t context_tokens) const {
  plan::MemoryPlan plan = price_model(context_tokens);
  if (draft_) plan += draft_->price(backend_->spec(), engine_config(context_tokens));
  return plan;
}

plan::MemoryPlan Session::price_model(int64_t context_tokens) const {
  const gguf::File& file = model_->file();
  int64_t metadata_bytes = file.metadata_bytes();
  for (const model::Adapter& adapter : model_->adapters())
    metadata_bytes += adapter.file().metadata_bytes();
  const plan::RuntimeShape runtime{.n_threads = device_->n_threads(),
                                   .n_seqs = options_.n_seqs,
                                   .vocab_size = model_->config().vocab_size,
                                   .lookup_bytes = lookup_bytes(context_tokens),
                                   .tokenizer_bytes = text::predict_tokenizer_bytes(file),
                                   .metadata_bytes = metadata_bytes};
  return plan::predict_memory(backend_->spec(), model_->program(),
                              engine::limits_for(engine_config(context_tokens), model_->program()),
                              runtime);
}

Result<void> Session::check_fit() const {
  const hw::Device& cpu = device_->machine().cpu();
  const Result<void> fits =
      plan::check_fit(predicted_, options_.context, cpu,
                      [this](int64_t context_tokens) { return price(context_tokens); });
  if (fits || !draft_) return fits;
  const plan::MemoryPlan draft = draft_->price(backend_->spec(), engine_config(options_.context));
  Error error = fits.error();
  error.what += fmt::format("; of it the draft model {}", plan::describe(draft));
  if (predicted_.total_bytes() - draft.total_bytes() <= cpu.available_bytes)
    error.advice = "leave --draft out, which fits, or use a smaller draft; " + error.advice;
  return fail(error);
}

Result<void> Session::check_memory() {
  device_ = hw::DeviceContext::open_cpu(static_cast<int>(options_.threads));
  HWTV_TRY(backend_,
           make_backend(options_.backend, !options_.no_pack, *device_, options_.observer));
  const ops::Limits limits = engine::limits_for(engine_config(options_.context), model_->program());
  HWTV_TRY_VOID(backend_->spec().supports(model_->program(), limits));
  if (draft_) HWTV_TRY_VOID(draft_->supports(backend_->spec(), engine_config(options_.context)));
  predicted_ = price(options_.context);
  hw::Ledger& ledger = device_->ledger();
  ledger.set_predicted(hw::Use::weights, predicted_.device.weights);
  ledger.set_predicted(hw::Use::packed_weights, predicted_.device.packed_weights);
  ledger.set_predicted(hw::Use::kv, predicted_.device.kv);
  ledger.set_predicted(hw::Use::activations, predicted_.device.activations);
  ledger.set_predicted(hw::Use::staging, predicted_.device.staging);
  ledger.set_predicted(hw::Use::runtime, predicted_.runtime_bytes);
  HWTV_TRY_VOID(check_fit());
  if (options_.announce)
    note("predicted {}{}{}, of {} usable\n", plan::describe(predicted_),
         draft_ ? " with the draft model" : "", adapters_text(model_->adapters()),
         format_bytes(static_cast<double>(device_->machine().cpu().available_bytes)));
  return {};
}

Result<void> Session::load() {
  recorder_ = std::make_unique<observe::Recorder>(4096, options_.profile ? 1 << 18 : 0);
  engine::EngineConfig config = engine_config(options_.context);
  const int64_t draft_bytes = draft_ ? draft_->model().weights_bytes() : 0;
  Progress progress("loading", draft_bytes + model_->weights_bytes(), options_.quiet);
  if (draft_) {
    HWTV_TRY_VOID(draft_->load(*backend_, config, clock_,
                               [&](int64_t done, int64_t) { progress.show(done); }));
    config.make_proposer = draft_->make_proposer(looks_up(options_));
  }
  HWTV_TRY(engine_, engine::Engine::create(
                        *backend_, *model_, config, clock_, *recorder_,
                        [&](int64_t done, int64_t) { progress.show(draft_bytes + done); }));
  return {};
}

}  // namespace hwtv::app
