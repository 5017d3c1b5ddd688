#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "engine/prompt_lookup.h"
#include "ops/work.h"

namespace hwtv::engine {
namespace {

int64_t pool_blocks(const EngineConfig& config) {
  const int64_t per_sequence =
      (config.context_tokens_max + config.kv_block_tokens - 1) / config.kv_block_tokens;
  if (config.kv_pool_tokens == 0) return config.n_seqs_max * per_sequence;
  return std::max(per_sequence,
                  (config.kv_pool_tokens + config.kv_block_tokens - 1) / config.kv_block_tokens);
}

// A sequence's state, and the one that is saved where the sequence will be kept.
constexpr int64_t kStatesPerSequence = 2;

// The config that the program allows.
EngineConfig fitting(EngineConfig config, const ops::Program& program) {
  if (!can_take_back(program)) config.speculation = SpeculationMode::off;
  return config;
}

std::vector<kv::KvBlockPool> make_pools(const ops::Limits& limits) {
  std::vector<kv::KvBlockPool> pools;
  for (const int64_t n_blocks : limits.n_kv_blocks) pools.emplace_back(n_blocks);
  return pools;
}

// Guessed tokens that fit into a step beside one token of each sequence.
int64_t proposed_max(const EngineConfig& config, int64_t n_tokens_max) {
  if (config.speculation == SpeculationMode::off) return 0;
  return std::clamp<int64_t>(config.n_proposed_max, 0, n_tokens_max - config.n_seqs_max);
}

// The length of the longest prefix two token lists share.
int64_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return at - a.begin();
}

}  // namespace

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

bool can_take_back(const ops::Program& program) {
  return std::ranges::none_of(program.kv_groups, &ops::KvGroup::is_state);
}

ops::Limits limits_for(const EngineConfig& asked, const ops::Program& program) {
  const EngineConfig config = fitting(asked, program);
  ops::Limits limits;
  limits.n_tokens_max = std::max(config.n_tokens_max, config.n_seqs_max);
  limits.n_seqs_max = config.n_seqs_max;
  limits.n_outputs_max =
      std::max(config.n_outputs_max, config.n_seqs_max + proposed_max(config, limits.n_tokens_max));
  limits.context_tokens_max = config.context_tokens_max;
  limits.kv_block_tokens = config.kv_block_tokens;
  for (const ops::KvGroup& group : program.kv_groups)
    limits.n_kv_blocks.push_back(group.is_state() ? kStatesPerSequence * config.n_seqs_max
                                                  : pool_blocks(config));
  limits.k_dtype = config.k_dtype;
  limits.v_dtype = config.v_dtype;
  return limits;
}

Engine::Engine(ops::Backend& backend, const model::Model& model, EngineConfig config, Clock& clock,
               observe::Recorder& recorder)
    : backend_(backend),
      model_(model),
      config_(fitting(std::move(config), model.program())),
      limits_(limits_for(config_, model.program())),
      clock_(clock),
      recorder_(recorder),
      scheduler_({limits_.n_tokens_max, limits_.n_seqs_max, limits_.n_outputs_max}),
      speculation_(config_.speculation, proposed_max(config_, limits_.n_tokens_max),
                   limits_.n_outputs_max),
      vocab_size_(model.config().vocab_size),
      row_width_(model.program().value(model.program().outputs.at(0).value).width),
      pools_(make_pools(limits_)) {
  const size_t n_seqs = static_cast<size_t>(limits_.n_seqs_max);
  demands_.reserve(n_seqs);
  slice_sizes_.reserve(n_seqs);
  plan_.slices.reserve(n_seqs);
  tokens_.reserve(static_cast<size_t>(limits_.n_tokens_max));
  output_rows_.reserve(static_cast<size_t>(limits_.n_outputs_max));
  slices_.resize(n_seqs);
  for (ops::SliceInput& slice : slices_) slice.block_tables.resize(pools_.size());
  events_.reserve(n_seqs + static_cast<size_t>(limits_.n_outputs_max));
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::create(ops::Backend& backend, const model::Model& model,
                                               const EngineConfig& config, Clock& clock,
                                               observe::Recorder& recorder,
                                               const Progress& on_progress) {
  CHECK(config.n_seqs_max >= 1 && config.context_tokens_max >= 1 && config.kv_block_tokens >= 1);
  // An encoder's tokens see those after them, so a sequence of it is one step.
  CHECK(model.config().causal ||
        (config.n_seqs_max == 1 && config.n_tokens_max >= config.context_tokens_max));
  std::unique_ptr<Engine> engine(new Engine(backend, model, config, clock, recorder));
  const ops::Program& program = model.program();
  HWTV_TRY_VOID(backend.spec().supports(program, engine->limits_));
  int64_t all_bytes = 0, done_bytes = 0;
  for (const ops::WeightDecl& weight : program.weights) all_bytes += weight.n_bytes();
  std::vector<ops::WeightHandle> handles;
  for (size_t i = 0; i < program.weights.size(); ++i) {
    HWTV_TRY(const ops::WeightHandle handle,
             backend.import(program.weights[i], model.weight_source(static_cast<ops::WeightId>(i)),
                            ops::Shard{}));
    handles.push_back(handle);
    done_bytes += program.weights[i].n_bytes();
    if (on_progress) on_progress(done_bytes, all_bytes);
  }
  HWTV_TRY(engine->executable_, backend.prepare(program, engine->limits_, handles));
  return engine;
}

Result<void> Engine::check_request(const SequenceRequest& request) const {
  const int64_t n_prompt = static_cast<int64_t>(request.prompt.size());
  if (n_prompt == 0)
    return fail(ErrorCode::invalid_request, "the prompt has no tokens", "give at least one token");
  for (const int32_t token : request.prompt)
    if (token < 0 || token >= vocab_size_)
      return fail(ErrorCode::invalid_request,
                  fmt::format("the prompt has token {}, the vocabulary has {}", token, vocab_size_),
                  fmt::format("use token ids from 0 to {}", vocab_size_ - 1));
  if (n_prompt + request.n_tokens_max > config_.context_tokens_max)
    return fail(
        ErrorCode::invalid_request,
        fmt::format("{} prompt tokens and {} for the answer do not fit a context of {}", n_prompt,
                    request.n_tokens_max, config_.context_tokens_max),
        fmt::format("use a context of {} or more, or at most {} for the answer",
                    n_prompt + request.n_tokens_max,
                    format_tokens(std::max<int64_t>(0, config_.context_tokens_max - n_prompt))));
  HWTV_TRY_VOID(check_adapters(request.adapters));
  return check_sampling_params(request.sampling, vocab_size_);
}

Result<void> Engine::check_adapters(std::span<const int32_t> adapters) const {
  const int32_t n_adapters = model_.program().n_adapters;
  for (size_t i = 0; i < adapters.size(); ++i) {
    if (adapters[i] < 0 || adapters[i] >= n_adapters)
      return fail(ErrorCode::invalid_request,
                  fmt::format("the request names adapter {}, the model was opened with {}",
                              adapters[i], n_adapters),
                  n_adapters > 0 ? fmt::format("use 0 to {}, or none", n_adapters - 1)
                                 : "open the model with the adapter");
    if (std::ranges::count(adapters.first(i), adapters[i]) > 0)
      return fail(ErrorCode::invalid_request,
                  fmt::format("the request names adapter {} twice", adapters[i]),
                  "name each adapter once; its scale is given when it is opened");
  }
  return {};
}

Result<SequenceId> Engine::add(SequenceRequest request) {
  HWTV_TRY_VOID(check_request(request));
  retire();
  auto sequence = std::make_unique<Sequence>();
  sequence->id = next_id_++;
  sequence->n_prompt = static_cast<int64_t>(request.prompt.size());
  sequence->tokens.reserve(request.prompt.size() + static_cast<size_t>(request.n_tokens_max));
  sequence->tokens = request.prompt;
  sequence->sampler = std::make_unique<Sampler>(request.sampling, vocab_size_, request.prompt);
  if (speculation_.is_on()) speculate(*sequence, sequence->n_prompt + request.n_tokens_max);
  sequence->top_logprobs.resize(static_cast<size_t>(std::max(0, request.n_logprobs)) *
                                (1 + sequence->guesses.tokens.capacity()));
  for (size_t group = 0; group < pools_.size(); ++group) {
    // A state is one block, however long the sequence.
    const int64_t block_tokens =
        is_state(group) ? config_.context_tokens_max : config_.kv_block_tokens;
    const auto add_table = [&](std::vector<kv::BlockTable>& tables) {
      tables.emplace_back(pools_[group], block_tokens, config_.context_tokens_max);
    };
    add_table(sequence->tables);
    if (request.keep && !can_take_back(model_.program())) add_table(sequence->saved_states);
  }
  const std::optional<SequenceId> kept = request.continues;
  sequence->request = std::move(request);
  if (kept) take_over(*sequence, *kept);
  waiting_.push_back(std::move(sequence));
  return waiting_.back()->id;
}

void Engine::speculate(Sequence& sequence, int64_t capacity_tokens) const {
  Guesses& guesses = sequence.guesses;
  guesses.proposer = config_.make_proposer ? config_.make_proposer(capacity_tokens)
                                           : std::make_unique<PromptLookup>(capacity_tokens);
  guesses.tokens.reserve(static_cast<size_t>(config_.n_proposed_max) + 1);
}

// Moves a kept sequence's cache to the new one, as far as their tokens agree; not where it was
// computed with other adapters.  The last prompt token is always computed again: its logits are
// wanted.
void Engine::take_over(Sequence& sequence, SequenceId kept) {
  const auto at = std::find_if(kept_.begin(), kept_.end(),
                               [&](const auto& other) { return other->id == kept; });
  if (at == kept_.end() || sequence.request.prompt_rows) return;
  Sequence& old = **at;
  if (old.request.adapters != sequence.request.adapters) return;
  const std::span<const int32_t> cached(old.tokens.data(), static_cast<size_t>(old.n_cached));
  const int64_t n_shared = std::min(common_prefix(cached, sequence.tokens), sequence.n_prompt - 1);
  bool takes_saved = false;
  sequence.n_reused = n_shared;
  if (!can_take_back(model_.program()) && n_shared < old.n_cached) {
    takes_saved = old.n_saved <= n_shared;
    sequence.n_reused = takes_saved ? old.n_saved : 0;
  }
  sequence.n_cached = sequence.n_reused;
  sequence.tables.clear();
  for (size_t group = 0; group < pools_.size(); ++group) {
    auto& from = is_state(group) && takes_saved ? old.saved_states : old.tables;
    sequence.tables.push_back(std::move(from[group]));
    sequence.tables.back().truncate(sequence.n_reused);
  }
  kept_.erase(at);
}

bool Engine::is_state(size_t group) const { return model_.program().kv_groups[group].is_state(); }

// Keeps the states as they are after the prompt: what a next prompt most likely begins with.
void Engine::save_states(Sequence& sequence) {
  sequence.n_saved = sequence.n_cached;
  for (size_t group = 0; group < pools_.size(); ++group) {
    if (!is_state(group)) continue;
    CHECK(sequence.saved_states[group].grow(1));  // promised at admission
    backend_.copy_block(*executable_, static_cast<int32_t>(group),
                        sequence.tables[group].blocks()[0],
                        sequence.saved_states[group].blocks()[0]);
  }
}

// Whether the pools hold this waiting sequence to its end beside all that runs to theirs, and
// beside what kept and other waiting ones hold.
bool Engine::fits(const Sequence& sequence) const {
  for (size_t group = 0; group < pools_.size(); ++group)
    if (!fits(sequence, group)) return false;
  return true;
}

bool Engine::fits(const Sequence& sequence, size_t group) const {
  const auto whole_blocks = [&](const Sequence& s) -> int64_t {
    if (is_state(group)) return s.saved_states.empty() ? 1 : kStatesPerSequence;
    return (s.n_prompt + s.request.n_tokens_max + config_.kv_block_tokens - 1) /
           config_.kv_block_tokens;
  };
  int64_t n_promised = whole_blocks(sequence);
  for (const auto& other : running_) n_promised += whole_blocks(*other);
  for (const auto* list : {&kept_, &waiting_})
    for (const auto& other : *list)
      if (other.get() != &sequence)
        for (const auto* tables : {&other->tables, &other->saved_states})
          if (!tables->empty())
            n_promised += static_cast<int64_t>((*tables)[group].blocks().size());
  return n_promised <= pools_[group].n_blocks();
}

// Gives back a cache that only saves time: a kept sequence's, else what the last of the waiting
// ones took over.  False when there is none but the first waiting one's.
bool Engine::give_back_one() {
  if (!kept_.empty()) {
    kept_.erase(kept_.begin());
    return true;
  }
  for (size_t i = waiting_.size() - 1; i > 0; --i) {
    Sequence& sequence = *waiting_[i];
    if (sequence.n_cached == 0) continue;
    for (kv::BlockTable& table : sequence.tables) table.truncate(0);
    sequence.n_cached = sequence.n_reused = 0;
    return true;
  }
  return false;
}

void Engine::admit() {
  while (!waiting_.empty() && static_cast<int64_t>(running_.size()) < limits_.n_seqs_max) {
    while (!fits(*waiting_.front()))
      if (!give_back_one()) return;
    running_.push_back(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
}

Result<std::span<const TokenEvent>> Engine::step() {
  CHECK(!idle());
  retire();
  events_.clear();
  admit();
  StepTimes times;
  times.start_s = clock_.now_s();
  if (speculation_.is_on()) HWTV_TRY_VOID(propose());
  demands_.clear();
  for (const auto& sequence : running_) demands_.push_back(demand_of(*sequence));
  scheduler_.plan(demands_, plan_);
  if (!plan_.slices.empty()) {
    build_input();
    times.compute_s = clock_.now_s();
    const ops::StepInput input{tokens_, std::span(slices_.data(), plan_.slices.size()),
                               output_rows_, recorder_.profiles()};
    HWTV_TRY(const ops::StepResult result,
             backend_.wait(*executable_, backend_.submit(*executable_, input)));
    times.end_s = clock_.now_s();
    deliver(result.outputs[0]);
    record_step(times, result);
  }
  return std::span<const TokenEvent>(events_);
}

// Guesses for every sequence that gets a token in this step.
Result<void> Engine::propose() {
  const auto decodes = [](const Sequence& sequence) {
    return !sequence.finished && sequence.n_to_compute() == 1 &&
           sequence.n_cached >= sequence.n_prompt;
  };
  int64_t n_decodes = 0;
  for (auto& sequence : running_) {
    sequence->guesses.tokens.clear();
    sequence->guesses.n_proposed = 0;
    n_decodes += decodes(*sequence);
  }
  speculation_.begin(n_decodes);
  for (auto& sequence : running_)
    if (decodes(*sequence)) HWTV_TRY_VOID(propose(*sequence));
  return {};
}

Result<void> Engine::propose(Sequence& sequence) {
  Guesses& guesses = sequence.guesses;
  // The last token of an answer needs no guess after it: so the cache never grows beyond what was
  // promised at admission.
  const int64_t n_room = sequence.request.n_tokens_max - sequence.n_answer() - 1;
  if (n_room < 1) return {};
  Proposer& proposer = *guesses.proposer;
  const double start_s = clock_.now_s();
  const std::optional<Evidence> evidence = proposer.look(sequence.tokens, speculation_.budget_s());
  if (!evidence) return {};
  guesses.evidence = *evidence;
  const int64_t n_asked =
      speculation_.n_proposed(guesses.acceptance.rate(*evidence), proposer.guess_s(), n_room);
  // One more than is checked, where it is free, to learn from the token that comes by itself.
  const int64_t n_guessed = proposer.is_free() ? n_asked + 1 : n_asked;
  if (n_guessed == 0) {
    guesses.acceptance.fade(*evidence);
    return {};
  }
  HWTV_TRY_VOID(proposer.propose(sequence.tokens, n_guessed, guesses.tokens));
  speculation_.spend(clock_.now_s() - start_s);
  guesses.n_proposed = std::min(n_asked, static_cast<int64_t>(guesses.tokens.size()));
  return {};
}

Demand Engine::demand_of(const Sequence& sequence) {
  Demand demand{.n_cached = sequence.n_cached,
                .n_to_compute = sequence.finished ? 0 : sequence.n_to_compute(),
                .n_proposed = sequence.guesses.n_proposed};
  if (sequence.request.prompt_rows && sequence.n_cached < sequence.n_prompt)
    demand.n_rows = std::max<int64_t>(
        1, sequence.n_prompt - std::max(sequence.n_cached, sequence.request.prompt_rows_from));
  return demand;
}

void Engine::build_input() {
  tokens_.clear();
  output_rows_.clear();
  for (const SlicePlan& slice : plan_.slices) build_slice(slice);
  kv_peak_blocks_ = std::max(kv_peak_blocks_, pools_[0].n_held());
}

void Engine::build_slice(const SlicePlan& slice) {
  Sequence& sequence = *running_[static_cast<size_t>(slice.sequence)];
  ops::SliceInput& input = slices_[static_cast<size_t>(&slice - plan_.slices.data())];
  input.first_row = static_cast<int64_t>(tokens_.size());
  input.n_tokens = slice.n_tokens;
  input.first_position = sequence.n_cached;
  input.adapters = sequence.request.adapters;
  const auto first = sequence.tokens.begin() + static_cast<ptrdiff_t>(sequence.n_cached);
  const int64_t n_known = std::min(slice.n_tokens, sequence.n_to_compute());
  tokens_.insert(tokens_.end(), first, first + static_cast<ptrdiff_t>(n_known));
  const auto guessed = sequence.guesses.tokens.begin();
  tokens_.insert(tokens_.end(), guessed,
                 guessed + static_cast<ptrdiff_t>(slice.n_tokens - n_known));
  for (int64_t i = slice.n_tokens - slice.n_outputs; i < slice.n_tokens; ++i)
    output_rows_.push_back(static_cast<int32_t>(input.first_row + i));
  for (size_t group = 0; group < pools_.size(); ++group) {
    // Promised at admission: a started sequence never waits for a block.
    CHECK(sequence.tables[group].grow(sequence.n_cached + slice.n_tokens));
    input.block_tables[group] = sequence.tables[group].blocks();
  }
}

void Engine::record_step(const StepTimes& times, const ops::StepResult& result) {
  observe::StepRecord record;
  record.index = n_steps_++;
  record.start_s = times.start_s;
  record.seconds = times.end_s - times.start_s;
  record.n_proposed_tokens = static_cast<int>(n_proposed_);
  record.n_accepted_tokens = static_cast<int>(n_accepted_);
  record.n_seqs = static_cast<int>(plan_.slices.size());
  ops::StepSizes sizes;
  sizes.n_tokens = plan_.n_tokens;
  sizes.n_outputs = plan_.n_outputs;
  sizes.n_seqs = record.n_seqs;
  sizes.k_dtype = config_.k_dtype;
  sizes.v_dtype = config_.v_dtype;
  slice_sizes_.clear();
  for (const SlicePlan& slice : plan_.slices) {
    const Demand& demand = demands_[static_cast<size_t>(slice.sequence)];
    const Sequence& sequence = *running_[static_cast<size_t>(slice.sequence)];
    (demand.n_cached >= sequence.n_prompt ? record.n_decode_tokens : record.n_prefill_tokens) +=
        static_cast<int>(slice.n_tokens);
    slice_sizes_.push_back(
        {demand.n_cached, slice.n_tokens, slice.n_outputs, sequence.request.adapters});
  }
  sizes.slices = slice_sizes_;
  record.n_decode_tokens -= record.n_proposed_tokens - record.n_accepted_tokens;
  record.work = ops::work(model_.program(), sizes);
  recorder_.add_step(record);
  if (speculation_.is_on()) learn(record, times.end_s - times.compute_s);
  double span_start_s = times.compute_s;
  for (const ops::OpSpan& span : result.spans) {
    const ops::NamedOp& op = model_.program().ops[static_cast<size_t>(span.op)];
    recorder_.add_span({op.name.c_str(), span.kernel, span_start_s, span.seconds,
                        ops::work(model_.program(), op.op, sizes)});
    span_start_s += span.seconds;
  }
}

void Engine::learn(const observe::StepRecord& record, double compute_s) {
  if (record.n_prefill_tokens == 0)
    speculation_.observe_step(plan_.n_tokens, n_accepted_, compute_s);
  else if (record.n_decode_tokens == 0)
    speculation_.observe_prefill(plan_.n_tokens, compute_s);
}

// rows (n_outputs, row_width_), in the order of the plan's slices.
void Engine::deliver(std::span<const float> rows) {
  const size_t width = static_cast<size_t>(row_width_);
  size_t at = 0;
  n_proposed_ = n_accepted_ = 0;
  for (const SlicePlan& slice : plan_.slices) {
    Sequence& sequence = *running_[static_cast<size_t>(slice.sequence)];
    const auto own = rows.subspan(at * width, static_cast<size_t>(slice.n_outputs) * width);
    at += static_cast<size_t>(slice.n_outputs);
    if (sequence.request.prompt_rows) deliver_prompt_rows(sequence, slice, own);
    const int64_t n_known = std::min(slice.n_tokens, sequence.n_to_compute());
    sequence.n_cached += n_known;
    if (sequence.n_cached == sequence.n_prompt && !sequence.saved_states.empty())
      save_states(sequence);
    if (sequence.n_to_compute() > 0 || own.empty()) continue;
    if (sequence.request.n_tokens_max == 0) {
      finish(sequence, FinishReason::length);
      continue;
    }
    const int64_t n_proposed = slice.n_tokens - n_known;
    n_proposed_ += n_proposed;
    n_accepted_ += verify(sequence, own.last(static_cast<size_t>(1 + n_proposed) * width));
  }
}

// Samples from rows (1 + proposed tokens, vocab_size) as long as each token is the one that was
// guessed, so that its successor's row is right; gives the guesses that came true back.
int64_t Engine::verify(Sequence& sequence, std::span<const float> rows) {
  const size_t width = static_cast<size_t>(row_width_), n_rows = rows.size() / width;
  Guesses& guesses = sequence.guesses;
  size_t n_accepted = 0;
  while (true) {
    const int32_t token = sample(sequence, rows.subspan(n_accepted * width, width), n_accepted);
    if (n_accepted == guesses.tokens.size()) break;
    const bool came_true = guesses.tokens[n_accepted] == token;
    guesses.acceptance.observe(guesses.evidence, came_true);
    if (!came_true || sequence.finished || n_accepted + 1 == n_rows) break;
    ++n_accepted;
  }
  sequence.n_cached += static_cast<int64_t>(n_accepted);
  for (kv::BlockTable& table : sequence.tables) table.truncate(sequence.n_cached);
  return static_cast<int64_t>(n_accepted);
}

void Engine::deliver_prompt_rows(const Sequence& sequence, const SlicePlan& slice,
                                 std::span<const float> rows) const {
  const size_t width = static_cast<size_t>(row_width_);
  for (int64_t i = 0; i < slice.n_outputs; ++i) {
    const int64_t position = sequence.n_cached + slice.n_tokens - slice.n_outputs + i;
    if (position < sequence.n_prompt && position >= sequence.request.prompt_rows_from)
      sequence.request.prompt_rows(position, rows.subspan(static_cast<size_t>(i) * width, width));
  }
}

// The sequence's next token, and its event; n_accepted tokens of this step came before it.
int32_t Engine::sample(Sequence& sequence, std::span<const float> row, size_t n_accepted) {
  const SequenceRequest& request = sequence.request;
  const int32_t token = sequence.sampler->sample(row, request.token_mask.get());
  const auto& ends = request.end_tokens;
  if (std::find(ends.begin(), ends.end(), token) != ends.end()) {
    finish(sequence, FinishReason::stop);
    return token;
  }
  sequence.tokens.push_back(token);
  TokenEvent event{.id = sequence.id, .token = token};
  if (request.with_logprobs) {
    const size_t n_top = static_cast<size_t>(request.n_logprobs);
    const auto top = std::span(sequence.top_logprobs).subspan(n_accepted * n_top, n_top);
    event.logprob = sequence.sampler->logprobs(row, token, top);
    event.top = top;
  }
  const bool stopped = request.stop_watch && request.stop_watch->accept(token);
  if (stopped)
    event.finish = FinishReason::stop;
  else if (sequence.n_answer() == request.n_tokens_max)
    event.finish = FinishReason::length;
  sequence.finished = event.finish.has_value();
  events_.push_back(event);
  return token;
}

void Engine::finish(Sequence& sequence, FinishReason reason) {
  sequence.finished = true;
  events_.push_back({.id = sequence.id, .finish = reason});
}

bool Engine::idle() const {
  return waiting_.empty() && std::all_of(running_.begin(), running_.end(),
                                         [](const auto& sequence) { return sequence->finished; });
}

void Engine::cancel(SequenceId id) {
  const auto is_it = [&](const auto& sequence) { return sequence->id == id; };
  std::erase_if(waiting_, is_it);
  for (auto& sequence : running_)
    if (is_it(sequence)) sequence->finished = true;
  retire();
}

void Engine::drop(SequenceId id) {
  retire();
  std::erase_if(kept_, [&](const auto& sequence) { return sequence->id == id; });
}

int64_t Engine::n_reused_tokens(SequenceId id) const {
  for (const auto* list : {&waiting_, &running_, &kept_})
    for (const auto& sequence : *list)
      if (sequence->id == id) return sequence->n_reused;
  return 0;
}

// Removes what has ended; its events have been read by now.
void Engine::retire() {
  for (auto& sequence : running_) {
    if (!sequence->finished || !sequence->request.keep) continue;
    sequence->sampler.reset();
    sequence->guesses = {};
    sequence->request.stop_watch.reset();
    sequence->request.token_mask.reset();
    kept_.push_back(std::move(sequence));
  }
  std::erase_if(running_, [](const auto& sequence) { return !sequence || sequence->finished; });
}

}  // namespace hwtv::engine
