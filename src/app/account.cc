#include "app/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/measured_limits.h"
#include "base/units.h"
#include "probe/memory.h"

namespace hwtv::app {
namespace {

void fill_memory(Session& session, const AnswerFacts& facts, Account& account) {
  const ops::BytesByUse reserved = session.engine().executable().reserved();
  const plan::MemoryPlan& predicted = session.predicted();
  account.weights_bytes = predicted.device.weights + predicted.device.packed_weights;
  account.kv_bytes = reserved.kv;
  account.activations_bytes = reserved.activations + reserved.staging;
  std::vector<gguf::Part> parts(session.model().file().parts().begin(),
                                session.model().file().parts().end());
  for (const model::Adapter& adapter : session.model().adapters()) {
    account.adapters.push_back({adapter.name(), adapter.scale(), adapter.n_bytes()});
    parts.insert(parts.end(), adapter.file().parts().begin(), adapter.file().parts().end());
  }
  if (const Draft* draft = session.draft()) {
    const ops::BytesByUse beside = draft->engine().executable().reserved();
    account.kv_bytes += beside.kv;
    account.activations_bytes += beside.activations + beside.staging;
    const auto more = draft->model().file().parts();
    parts.insert(parts.end(), more.begin(), more.end());
  }
  account.kv_used_bytes = static_cast<int64_t>(
      kv_token_bytes(session) * static_cast<double>(facts.n_prompt + facts.n_answer));
  account.predicted_bytes = predicted.total_bytes();
  account.predicted_runtime_bytes = predicted.runtime_bytes;
  const probe::Root root("/");
  const probe::ProcessMemory process = probe::read_process_memory(root);
  if (!process.anonymous_bytes) {
    account.observed_reason = probe::describe(process.anonymous_bytes.error());
    return;
  }
  int64_t observed = *process.anonymous_bytes;
  for (const gguf::Part& part : parts) {
    const auto resident = probe::read_resident_bytes(root, part.data, part.size_bytes);
    if (!resident) {
      account.observed_reason = probe::describe(resident.error());
      return;
    }
    observed += *resident;
  }
  account.observed_bytes = observed;
  session.device().ledger().set_observed(observed);
}

// Measured after the answer, so that share and limit saw the same machine.
void fill_limits(Session& session, Account& account) {
  account.prefill_limit_ops_per_s = measure_compute_limit(session, account.compute_kind);
  const BandwidthLimit limit = measure_bandwidth_limit(session, account.decode_step_bytes());
  account.decode_limit_bytes_per_s = limit.bytes_per_s;
  account.memory_level = limit.level;
}

DraftShare draft_share(const Draft& draft, const AnswerFacts& facts, int64_t n_decoded) {
  const std::string& path = draft.model().file().path();
  const ops::Program& program = draft.model().program();
  const double context_tokens =
      std::min(mean_context_tokens(facts.n_prompt, n_decoded),
               static_cast<double>(draft.engine().config().context_tokens_max));
  return {path.substr(path.rfind('/') + 1), draft.totals().since(facts.draft_before),
          step_weight_bytes(program) +
              kv_token_bytes(program, draft.engine().config()) * context_tokens};
}

}  // namespace

double Account::decode_step_bytes() const {
  if (n_decode_steps == 0) return 0;
  return decode_token_bytes * static_cast<double>(decode.n_tokens) /
         static_cast<double>(n_decode_steps);
}

double DraftShare::step_s() const {
  return totals.n_steps > 0 ? totals.steps_s / static_cast<double>(totals.n_steps) : 0;
}

double Account::decode_own_s() const {
  return decode.seconds - (draft ? draft->totals.seconds() : 0);
}

double Account::decode_bytes_per_s() const {
  const double own_s = decode_own_s();
  return own_s > 0 ? decode_token_bytes * static_cast<double>(decode.n_tokens) / own_s : 0;
}

double Account::prefill_share() const {
  if (prefill.seconds <= 0 || prefill_limit_ops_per_s <= 0) return 0;
  return prefill_ops / prefill.seconds / prefill_limit_ops_per_s;
}

double Account::decode_share() const {
  return decode_limit_bytes_per_s > 0 ? decode_bytes_per_s() / decode_limit_bytes_per_s : 0;
}

Account make_account(Session& session, const AnswerFacts& facts) {
  const engine::Engine& engine = session.engine();
  const observe::Recorder::Totals totals = session.recorder().totals();
  const observe::StepTotals prefill = totals.prefill.since(facts.before.prefill);
  const observe::StepTotals decode = totals.decode.since(facts.before.decode);
  Account account;
  account.prefill = {prefill.n_tokens, prefill.seconds};
  account.decode = {decode.n_tokens, decode.seconds};
  account.n_decode_steps = decode.n_steps;
  account.speculates = engine.speculates();
  account.n_proposed = decode.n_proposed_tokens;
  account.n_accepted = decode.n_accepted_tokens;
  account.answer_s = facts.answer_s;
  account.first_token_s = facts.first_token_s;
  account.load_s = session.load_s();
  account.n_answer = facts.n_answer;
  account.n_reused = facts.n_reused;
  account.n_threads = session.device().n_threads();
  account.kernels = main_kernel(session);
  account.kv_is_f16 = engine.config().k_dtype == DType::F16;
  account.compute_kind = compute_kind(prefill.work);
  account.prefill_ops = prefill.work.n_ops();
  fill_memory(session, facts, account);
  if (decode.n_tokens > 0) {
    // A step reads everything once, however many tokens it gives.
    const double steps_per_token =
        static_cast<double>(decode.n_steps) / static_cast<double>(decode.n_tokens);
    account.decode_kv_token_bytes =
        steps_per_token * cache_step_bytes(session, facts.n_prompt, decode.n_tokens);
    account.decode_token_bytes = steps_per_token * step_weight_bytes(session.model().program()) +
                                 account.decode_kv_token_bytes;
    if (session.draft()) account.draft = draft_share(*session.draft(), facts, decode.n_tokens);
    account.decode_token_ops = decode.work.n_ops() / static_cast<double>(decode.n_tokens);
  }
  fill_limits(session, account);
  return account;
}

namespace {

// Why one token takes as long as it does, and what would change that.
std::string limits_line(const Account& account) {
  if (account.decode.n_tokens == 0 || account.decode_limit_bytes_per_s <= 0)
    return "too few tokens to say what binds decode";
  const double token_s = account.decode_own_s() / static_cast<double>(account.decode.n_tokens);
  const double memory_s = account.decode_token_bytes / account.decode_limit_bytes_per_s;
  const double compute_s = account.prefill_limit_ops_per_s > 0
                               ? account.decode_token_ops / account.prefill_limit_ops_per_s
                               : 0;
  // int8 keys and values take 34 bytes where f16 takes 64.
  const double kv_share = account.decode_kv_token_bytes / account.decode_token_bytes;
  std::string line;
  if (std::max(memory_s, compute_s) < 0.5 * token_s)
    line = fmt::format(
        "decode is bound by neither limit: {} of {} per token are kernels and threads",
        format_seconds(token_s - std::max(memory_s, compute_s)), format_seconds(token_s));
  else
    line = memory_s >= compute_s ? "decode is bound by memory bandwidth"
                                 : "decode is bound by compute";
  const double saving = kv_share * (1 - 34.0 / 64.0);
  if (account.kv_is_f16)
    line += saving >= 0.005
                ? fmt::format("; --kv-type q8_0 would save {:.0f} % of the bytes", 100 * saving)
                : "; --kv-type q8_0 would save under 1 % of the bytes";
  return line;
}

std::string share_text(double share, const char* of_what) {
  if (share <= 0) return "";
  return fmt::format("{:>4.0f} % of the {} limit", 100 * share, of_what);
}

std::string phase_line(const char* name, const Phase& phase, const std::string& share,
                       const std::string& detail) {
  return fmt::format("        {:<8}{:>6} {:<6} {:>7} tok/s {:<32}{}\n", name, phase.n_tokens,
                     phase.n_tokens == 1 ? "token" : "tokens", format_rate(phase.tokens_per_s()),
                     share, detail.empty() ? "" : "(" + detail + ")");
}

std::string draft_line(const DraftShare& draft, double decode_s) {
  const engine::DraftModel::Totals& totals = draft.totals;
  if (totals.seconds() == 0) return "        draft        no guesses\n";
  return fmt::format(
      "        draft   {:>6} {:<6} {:>7} each, {:.0f} MB; {} read in {}: {} of decode's {}, not in "
      "its share\n",
      totals.n_steps, totals.n_steps == 1 ? "guess" : "guesses", format_seconds(draft.step_s()),
      draft.step_bytes / 1e6, format_tokens(totals.n_read_tokens), format_seconds(totals.read_s),
      format_seconds(totals.seconds()), format_seconds(decode_s));
}

// null: there is no draft model.
nlohmann::ordered_json draft_json(const std::optional<DraftShare>& draft) {
  if (!draft) return nullptr;
  return {{"model", draft->model},
          {"guesses", draft->totals.n_steps},
          {"guess_s", draft->step_s()},
          {"bytes_per_guess", draft->step_bytes},
          {"read_tokens", draft->totals.n_read_tokens},
          {"read_s", draft->totals.read_s},
          {"seconds", draft->totals.seconds()}};
}

}  // namespace

std::string account_text(const Account& a) {
  std::string text = fmt::format("answer  {} in {}, the first after {}; loaded in {}\n",
                                 format_tokens(a.n_answer), format_seconds(a.answer_s),
                                 format_seconds(a.first_token_s), format_seconds(a.load_s));
  text += phase_line(
      "prefill", a.prefill, share_text(a.prefill_share(), "compute"),
      fmt::format("{}, {} thread{}{}", a.compute_kind, a.n_threads, a.n_threads == 1 ? "" : "s",
                  a.n_reused ? ", " + format_tokens(a.n_reused) + " reused" : ""));
  if (a.decode.n_tokens > 0)
    text +=
        phase_line("decode", a.decode, share_text(a.decode_share(), "bandwidth"),
                   a.decode_limit_bytes_per_s > 0
                       ? fmt::format("{:.0f} MB/token from {} at {:.1f} of {:.1f} GB/s measured",
                                     a.decode_token_bytes / 1e6, a.memory_level,
                                     a.decode_bytes_per_s() / 1e9, a.decode_limit_bytes_per_s / 1e9)
                       : "the limit could not be measured");
  if (a.n_proposed > 0)
    text +=
        fmt::format("        guessed {:>6} {:<6} {:>6.0f} % accepted   {} in {} decode steps\n",
                    a.n_proposed, a.n_proposed == 1 ? "token" : "tokens",
                    100.0 * static_cast<double>(a.n_accepted) / static_cast<double>(a.n_proposed),
                    format_tokens(a.decode.n_tokens), a.n_decode_steps);
  if (a.draft) text += draft_line(*a.draft, a.decode.seconds);
  const auto mib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  text += fmt::format(
      "memory  weights {:.1f} MiB   kv {:.1f} of {:.1f} MiB   activations {:.1f} MiB   runtime "
      "{:.1f} "
      "MiB\n        predicted {:.1f} MiB   observed {}\n",
      mib(a.weights_bytes), mib(a.kv_used_bytes), mib(a.kv_bytes), mib(a.activations_bytes),
      mib(a.predicted_runtime_bytes), mib(a.predicted_bytes),
      a.observed_bytes ? fmt::format("{:.1f} MiB", mib(*a.observed_bytes))
                       : "not observable here: " + a.observed_reason);
  for (const AdapterShare& adapter : a.adapters)
    text += fmt::format("        adapter {} at {}: {:.1f} MiB of the weights\n", adapter.name,
                        adapter.scale, mib(adapter.n_bytes));
  std::string limits = limits_line(a);
  if (const size_t at = limits.find("; "); at != std::string::npos)
    limits.replace(at, 2, ";\n        ");
  text += fmt::format("limits  {}\n", limits);
  return text;
}

std::string account_json(const Account& a) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"answer_tokens", a.n_answer},
      {"answer_s", a.answer_s},
      {"first_token_s", a.first_token_s},
      {"load_s", a.load_s},
      {"threads", a.n_threads},
      {"kernels", a.kernels},
      {"prefill",
       {{"tokens", a.prefill.n_tokens},
        {"reused_tokens", a.n_reused},
        {"seconds", a.prefill.seconds},
        {"tokens_per_s", a.prefill.tokens_per_s()},
        {"compute_kind", a.compute_kind},
        {"ops", a.prefill_ops},
        {"limit_ops_per_s", a.prefill_limit_ops_per_s},
        {"share_of_limit", a.prefill_share()}}},
      {"decode",
       {{"tokens", a.decode.n_tokens},
        {"seconds", a.decode.seconds},
        {"seconds_of_draft", a.draft ? a.draft->totals.seconds() : 0},
        {"tokens_per_s", a.decode.tokens_per_s()},
        {"bytes_per_token", a.decode_token_bytes},
        {"kv_bytes_per_token", a.decode_kv_token_bytes},
        {"memory_level", a.memory_level},
        {"limit_bytes_per_s", a.decode_limit_bytes_per_s},
        {"share_of_limit", a.decode_share()}}},
      {"speculation",
       {{"on", a.speculates},
        {"proposed_tokens", a.n_proposed},
        {"accepted_tokens", a.n_accepted},
        {"decode_steps", a.n_decode_steps},
        {"draft", draft_json(a.draft)}}},
      {"memory",
       {{"weights_bytes", a.weights_bytes},
        {"kv_used_bytes", a.kv_used_bytes},
        {"kv_bytes", a.kv_bytes},
        {"activations_bytes", a.activations_bytes},
        {"runtime_predicted_bytes", a.predicted_runtime_bytes},
        {"predicted_bytes", a.predicted_bytes}}},
      {"limits", limits_line(a)},
  };
  json["adapters"] = Json::array();
  for (const AdapterShare& adapter : a.adapters)
    json["adapters"].push_back(
        {{"file", adapter.name}, {"scale", adapter.scale}, {"bytes", adapter.n_bytes}});
  if (a.observed_bytes)
    json["memory"]["observed_bytes"] = *a.observed_bytes;
  else
    json["memory"]["observed_bytes"] = nullptr, json["memory"]["not_observed"] = a.observed_reason;
  return json.dump();
}

}  // namespace hwtv::app
