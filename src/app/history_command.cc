#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "base/units.h"
#include "journal/journal.h"

namespace hwtv::app {
namespace {

using Json = nlohmann::ordered_json;

struct HistoryOptions {
  std::string first, second;
  int64_t n = 20;
  bool json = false;
};

std::string time_text(double time_s) {
  const std::time_t seconds = static_cast<std::time_t>(time_s);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

// A number deep in an account; nullopt where the run has none.
std::optional<double> number(const Json& account, const char* pointer) {
  const Json::json_pointer at{std::string(pointer)};
  if (!account.contains(at) || !account.at(at).is_number()) return std::nullopt;
  return account.at(at).get<double>();
}

Json account_of(const journal::RunRecord& run) {
  Json account = Json::parse(run.account, nullptr, false);
  return account.is_discarded() ? Json::object() : account;
}

Json run_json(const journal::RunRecord& run) {
  return {{"id", run.id},
          {"time_s", run.time_s},
          {"version", run.version},
          {"fingerprint", run.fingerprint},
          {"command", run.command},
          {"model", run.model},
          {"model_id", run.model_id},
          {"account", account_of(run)}};
}

struct ComparedRow {
  const char* name;
  const char* pointer;
  double scale;
  const char* unit;
};
constexpr ComparedRow kCompared[] = {
    {"prefill", "/prefill/tokens_per_s", 1, "tok/s"},
    {"prefill share", "/prefill/share_of_limit", 100, "%"},
    {"decode", "/decode/tokens_per_s", 1, "tok/s"},
    {"decode share", "/decode/share_of_limit", 100, "%"},
    {"bandwidth limit", "/decode/limit_bytes_per_s", 1e-9, "GB/s"},
    {"compute limit", "/prefill/limit_ops_per_s", 1e-9, "Gop/s"},
    {"first token", "/first_token_s", 1e3, "ms"},
    {"load", "/load_s", 1e3, "ms"},
    {"predicted", "/memory/predicted_bytes", 1.0 / (1 << 20), "MiB"},
    {"observed", "/memory/observed_bytes", 1.0 / (1 << 20), "MiB"},
};

std::string comparison(const journal::RunRecord& a, const journal::RunRecord& b) {
  const Json first = account_of(a), second = account_of(b);
  std::string text = fmt::format("{:<16} {:>22} {:>22} {:>8}\n", "", fmt::format("run {}", a.id),
                                 fmt::format("run {}", b.id), "ratio");
  const auto words = [&](const char* name, const std::string& x, const std::string& y) {
    text += fmt::format("{:<16} {:>22} {:>22} {}\n", name, x.substr(0, 22), y.substr(0, 22),
                        x == y ? "" : "  differs");
  };
  words("time", time_text(a.time_s), time_text(b.time_s));
  words("machine", a.fingerprint, b.fingerprint);
  words("version", a.version, b.version);
  words("model", a.model_id, b.model_id);
  for (const ComparedRow& row : kCompared) {
    const auto x = number(first, row.pointer), y = number(second, row.pointer);
    const auto cell = [&](const std::optional<double>& value) {
      return value ? fmt::format("{} {}", format_rate(*value * row.scale), row.unit)
                   : std::string("not recorded");
    };
    text += fmt::format("{:<16} {:>22} {:>22} {:>8}\n", row.name, cell(x), cell(y),
                        x && y && *x != 0 ? fmt::format("{:.3f}", *y / *x) : "");
  }
  return text;
}

Result<std::string> list_text(const journal::Journal& journal,
                              const std::vector<journal::RunRecord>& runs) {
  std::string text = fmt::format("{:>5} {:<16} {:<11} {:<34} {:>9} {:>9} {:>7}\n", "id", "time",
                                 "command", "model", "prefill", "decode", "share");
  for (const journal::RunRecord& run : runs) {
    HWTV_TRY(const journal::RunRecord whole, journal.get(run.id));
    const Json account = account_of(whole);
    const auto cell = [&](const char* pointer, double scale, const char* suffix) {
      const auto value = number(account, pointer);
      return value ? format_rate(*value * scale) + suffix : std::string("-");
    };
    text +=
        fmt::format("{:>5} {:<16} {:<11} {:<34} {:>9} {:>9} {:>7}\n", run.id, time_text(run.time_s),
                    run.command, run.model.substr(0, 34), cell("/prefill/tokens_per_s", 1, ""),
                    cell("/decode/tokens_per_s", 1, ""), cell("/decode/share_of_limit", 100, " %"));
  }
  text += runs.size() >= 2
              ? fmt::format("prefill and decode in tok/s; compare two: hwtv history {} {}\n",
                            runs[1].id, runs[0].id)
              : "prefill and decode in tok/s\n";
  return text;
}

Result<int64_t> run_id(const std::string& word) {
  char* end = nullptr;
  const long long id = std::strtoll(word.c_str(), &end, 10);
  if (*end == 0 && id > 0) return id;
  return fail(ErrorCode::invalid_request, fmt::format("'{}' is no run's id", word),
              "`hwtv history` shows the ids");
}

Result<std::string> history_text(const HistoryOptions& options, const journal::Journal& journal) {
  if (options.first.empty()) {
    HWTV_TRY(const auto runs, journal.list(static_cast<int>(options.n)));
    if (!options.json) {
      if (runs.empty()) return std::string("no runs yet; `hwtv run MODEL -p TEXT` makes one\n");
      return list_text(journal, runs);
    }
    Json json = Json::array();
    for (const journal::RunRecord& run : runs) {
      HWTV_TRY(const journal::RunRecord whole, journal.get(run.id));
      json.push_back(run_json(whole));
    }
    return json.dump(2) + "\n";
  }
  HWTV_TRY(const int64_t first_id, run_id(options.first));
  HWTV_TRY(const journal::RunRecord first, journal.get(first_id));
  if (options.second.empty()) return run_json(first).dump(2) + "\n";
  HWTV_TRY(const int64_t second_id, run_id(options.second));
  HWTV_TRY(const journal::RunRecord second, journal.get(second_id));
  if (options.json) return Json{run_json(first), run_json(second)}.dump(2) + "\n";
  return comparison(first, second);
}

Result<int> history(const HistoryOptions& options) {
  if (options.n < 1 || options.n > 100000)
    return fail(ErrorCode::invalid_request, fmt::format("-n is {}", options.n),
                "give -n a number from 1 to 100000");
  HWTV_TRY(const journal::Journal journal, journal::Journal::open_default());
  if (!journal.notice().empty()) note("hwtv: {}\n", journal.notice());
  HWTV_TRY(const std::string text, history_text(options, journal));
  Output output;
  HWTV_TRY_VOID(output.write(text));
  return kExitOk;
}

}  // namespace

Command make_history_command() {
  auto options = std::make_shared<HistoryOptions>();
  Command command;
  command.name = "history";
  command.summary = "Show journalled runs, or two of them side by side";
  command.example = "hwtv history\n  hwtv history 3 7";
  command.positionals = {{"RUN", "a run's id: shows it whole", &options->first, false},
                         {"OTHER", "another id: shows both side by side", &options->second, false}};
  command.options = {
      {"-n", "N", "most runs to list (default 20)", &options->n},
      {"--json", "", "print JSON", &options->json},
  };
  command.run = [options] { return history(*options); };
  return command;
}

}  // namespace hwtv::app
