#include "app/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace hwtv::app {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(BenchTest::Kind kind) {
  switch (kind) {
    case BenchTest::Kind::prefill:
      return "prefill";
    case BenchTest::Kind::decode:
      return "decode";
    case BenchTest::Kind::batch:
      return "batch";
  }
  return "";
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string limit_text(const BenchResult& result) {
  if (result.share() <= 0) return "could not be measured";
  if (result.bound_by_compute())
    return fmt::format("{:.0f} Gop/s {}", result.compute_limit_ops_per_s / 1e9,
                       compute_kind(result.work));
  return fmt::format("{} from {}", format_bandwidth(result.read_limit_bytes_per_s),
                     result.read_level);
}

std::string energy_text(const BenchResult& result) {
  return result.joules_per_token ? fmt::format("{:.3g}", *result.joules_per_token)
                                 : "not observable here";
}

std::string markdown_row(const BenchResult& result) {
  if (!result.skipped.empty())
    return fmt::format("| {} | skipped: {} | | | | | |\n", result.test.name(), result.skipped);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", result.test.name(),
                     format_rate(result.tokens_per_s()), percent(result.spread()),
                     result.seconds.size(), percent(result.share()), limit_text(result),
                     energy_text(result));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const BenchReport& report, const BenchResult& result) {
  const BenchTest& test = result.test;
  std::string row = fmt::format("{},{},{},{},{},{},{},{},", csv_cell(report.model),
                                csv_cell(report.fingerprint), report.n_threads, report.kv_type,
                                kind_name(test.kind), test.n_prompt, test.n_decode, test.n_seqs);
  if (!result.skipped.empty()) return row + ",,0,,,,," + csv_cell(result.skipped) + "\n";
  return row + fmt::format(
                   "{:.6g},{:.4f},{},{:.4f},{:.6g},{:.6g},{},\n", result.tokens_per_s(),
                   result.spread(), result.seconds.size(), result.share(),
                   result.compute_limit_ops_per_s, result.read_limit_bytes_per_s,
                   result.joules_per_token ? fmt::format("{:.6g}", *result.joules_per_token) : "");
}

Json result_json(const BenchResult& result) {
  const BenchTest& test = result.test;
  Json json = {{"test", kind_name(test.kind)},
               {"prompt_tokens", test.n_prompt},
               {"decode_tokens", test.n_decode},
               {"sequences", test.n_seqs}};
  if (!result.skipped.empty()) {
    json["skipped"] = result.skipped;
    return json;
  }
  json["tokens_per_s"] = result.tokens_per_s();
  json["spread"] = result.spread();
  json["seconds"] = result.seconds;
  json["ops"] = result.work.n_ops();
  json["compute_kind"] = compute_kind(result.work);
  json["step_bytes"] = test.n_decode > 0 ? Json(result.step_bytes) : Json(nullptr);
  json["share_of_limit"] = result.share();
  json["bound_by"] = result.bound_by_compute() ? "compute" : "bandwidth";
  json["limit_ops_per_s"] = result.compute_limit_ops_per_s;
  json["limit_bytes_per_s"] = result.read_limit_bytes_per_s;
  json["memory_level"] = result.read_level;
  json["joules_per_token"] =
      result.joules_per_token ? Json(*result.joules_per_token) : Json(nullptr);
  if (!result.joules_per_token) json["not_observed"] = result.not_observed;
  return json;
}

// Of several, the one that comparisons between engines use: prefill 512, decode at depth 0.
const BenchResult* main_result(const BenchReport& report, BenchTest::Kind kind, int64_t n_prompt) {
  const BenchResult* found = nullptr;
  for (const BenchResult& result : report.results)
    if (result.test.kind == kind && result.skipped.empty() &&
        (!found || result.test.n_prompt == n_prompt))
      found = &result;
  return found;
}

}  // namespace

std::string bench_markdown(const BenchReport& report) {
  std::string text = fmt::format(
      "{}: {}, {} thread{}, chunks of {}, kv {}, kernel {}\n{}, machine {}, hwtv {}\n\n",
      report.model, format_bytes(static_cast<double>(report.model_bytes)), report.n_threads,
      report.n_threads == 1 ? "" : "s", report.chunk_tokens, report.kv_type, report.kernel,
      report.cpu, report.fingerprint, report.version);
  text +=
      "| test | tok/s | spread | runs | of limit | limit | J/token |\n"
      "|---|---:|---:|---:|---:|---|---|\n";
  text += fmt::format("| load | {} | {} | {} | | | |\n", format_seconds(median(report.load_s)),
                      percent(spread(report.load_s)), report.load_s.size());
  for (const BenchResult& result : report.results) text += markdown_row(result);
  return text;
}

std::string bench_csv(const BenchReport& report) {
  std::string text =
      "model,machine,threads,kv_type,test,prompt_tokens,decode_tokens,sequences,tokens_per_s,"
      "spread,runs,share_of_limit,limit_ops_per_s,limit_bytes_per_s,joules_per_token,skipped\n";
  for (const BenchResult& result : report.results) text += csv_row(report, result);
  return text;
}

std::string bench_json(const BenchReport& report) {
  Json json = {{"model", report.model},
               {"model_bytes", report.model_bytes},
               {"version", report.version},
               {"fingerprint", report.fingerprint},
               {"cpu", report.cpu},
               {"threads", report.n_threads},
               {"kernels", report.kernel},
               {"kv_type", report.kv_type},
               {"chunk_tokens", report.chunk_tokens},
               {"load_s", median(report.load_s)},
               {"load_spread", spread(report.load_s)}};
  if (const BenchResult* prefill = main_result(report, BenchTest::Kind::prefill, 512))
    json["prefill"] = {{"tokens", prefill->n_tokens},
                       {"tokens_per_s", prefill->tokens_per_s()},
                       {"limit_ops_per_s", prefill->compute_limit_ops_per_s},
                       {"share_of_limit", prefill->share()}};
  if (const BenchResult* decode = main_result(report, BenchTest::Kind::decode, 1))
    json["decode"] = {{"tokens", decode->n_tokens},
                      {"tokens_per_s", decode->tokens_per_s()},
                      {"limit_bytes_per_s", decode->read_limit_bytes_per_s},
                      {"share_of_limit", decode->share()}};
  json["bench"] = Json::array();
  for (const BenchResult& result : report.results) json["bench"].push_back(result_json(result));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hwtv::app
