#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "app/bench_measure.h"
#include "app/bench_report.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/note.h"
#include "app/output.h"
#include "app/run_journal.h"
#include "app/version.h"
#include "base/units.h"
#include "store/model_cache.h"

namespace hwtv::app {
namespace {

struct BenchOptions {
  SessionOptions session;
  BenchFlags flags;
  int64_t n_repetitions = 3;
  bool json = false, csv = false;
};

// A progress line on a terminal, nothing elsewhere.
class BenchProgress {
 public:
  ~BenchProgress() {
    if (on_) note("\r\033[K");
  }
  void begin(std::string what) { what_ = std::move(what), n_steps_ = 0, show(); }
  void step() { ++n_steps_, show(); }

 private:
  void show() {
    if (!on_ || clock_.now_s() < next_s_) return;
    next_s_ = clock_.now_s() + 0.1;
    note("\r{}  step {}\033[K", what_, n_steps_);
  }

  const bool on_ = ::isatty(STDERR_FILENO);
  SteadyClock clock_;
  double next_s_ = 0;
  std::string what_;
  int64_t n_steps_ = 0;
};

void skip(const BenchTest& test, std::string why, std::vector<BenchResult>& skipped) {
  BenchResult result;
  result.test = test;
  result.skipped = std::move(why);
  skipped.push_back(std::move(result));
}

// Takes out what the model was not trained for.
Result<void> keep_trained(const std::string& name, std::vector<BenchTest>& tests,
                          std::vector<BenchResult>& skipped) {
  HWTV_TRY(const std::string path, store::resolve_model(name));
  HWTV_TRY(const model::Model model, model::Model::open(path));
  const int64_t trained = model.config().context_tokens_max;
  std::erase_if(tests, [&](const BenchTest& test) {
    if (test.context_tokens() <= trained) return false;
    skip(test, fmt::format("the model was trained for {} tokens", trained), skipped);
    return true;
  });
  return {};
}

// The session that holds the largest of `tests`.
Result<std::unique_ptr<Session>> open_for(const std::vector<BenchTest>& tests,
                                          SessionOptions options) {
  options.context = 1;
  for (const BenchTest& test : tests) {
    options.context = std::max(options.context, test.context_tokens());
    options.kv_pool_tokens = std::max(options.kv_pool_tokens, test.pool_tokens());
    options.n_seqs = std::max(options.n_seqs, test.n_seqs);
  }
  return Session::open(options);
}

// The same, leaving out the largest tests until the others fit into memory.
Result<std::unique_ptr<Session>> open_what_fits(const SessionOptions& options,
                                                std::vector<BenchTest>& tests,
                                                std::vector<BenchResult>& skipped) {
  while (true) {
    auto session = open_for(tests, options);
    if (session || session.error().code != ErrorCode::out_of_memory || tests.size() <= 1)
      return session;
    const auto largest = std::max_element(
        tests.begin(), tests.end(),
        [](const BenchTest& a, const BenchTest& b) { return a.pool_tokens() < b.pool_tokens(); });
    skip(*largest, session.error().what, skipped);
    tests.erase(largest);
  }
}

Result<std::unique_ptr<Session>> load(const BenchOptions& options, std::vector<BenchTest>& tests,
                                      BenchReport& report) {
  SessionOptions session_options = options.session;
  session_options.quiet = options.json || options.csv;
  HWTV_TRY(auto session, open_what_fits(session_options, tests, report.results));
  report.load_s.push_back(session->load_s());
  double spent_s = session->load_s();
  while (static_cast<int64_t>(report.load_s.size()) < options.n_repetitions &&
         spent_s < BenchMeasure::kLongTest_s) {
    session.reset();
    HWTV_TRY(session, open_for(tests, session_options));
    report.load_s.push_back(session->load_s());
    spent_s += session->load_s();
  }
  return session;
}

void describe(Session& session, BenchReport& report) {
  const gguf::File& file = session.model().file();
  report.version = version();
  report.fingerprint = session.device().machine().fingerprint;
  report.cpu = session.device().machine().cpu().model;
  report.model = file.path().substr(file.path().rfind('/') + 1);
  report.model_bytes = file.size_bytes();
  report.kernel = main_kernel(session);
  report.kv_type = dtype_name(session.engine().config().k_dtype);
  report.n_threads = session.device().n_threads();
  report.chunk_tokens = session.engine().config().n_tokens_max;
}

// Whether all were measured; false: Ctrl-C came first.
Result<bool> measure_all(Session& session, const std::vector<BenchTest>& tests,
                         int64_t n_repetitions, BenchReport& report) {
  BenchProgress progress;
  BenchMeasure measure(session, n_repetitions, [&] { progress.step(); });
  progress.begin("warm-up");
  HWTV_TRY_VOID(measure.warm_up());
  for (const BenchTest& test : tests) {
    progress.begin(
        fmt::format("{} of {}: {}", &test - tests.data() + 1, tests.size(), test.name()));
    auto result = measure.measure(test);
    if (!result && result.error().code == ErrorCode::cancelled) return false;
    if (!result) return fail(std::move(result.error()));
    report.results.push_back(std::move(*result));
  }
  return true;
}

// In the order in which they were asked for; those that were skipped were found first.
void sort_results(const std::vector<BenchTest>& asked, std::vector<BenchResult>& results) {
  const auto place = [&](const BenchResult& result) {
    return std::find(asked.begin(), asked.end(), result.test) - asked.begin();
  };
  std::stable_sort(results.begin(), results.end(),
                   [&](const BenchResult& a, const BenchResult& b) { return place(a) < place(b); });
}

Result<int> bench(const BenchOptions& options) {
  if (options.json && options.csv)
    return fail(ErrorCode::invalid_request, "--json and --csv exclude each other",
                "use one of them");
  if (options.n_repetitions < 1 || options.n_repetitions > 1000)
    return fail(ErrorCode::invalid_request,
                fmt::format("--repetitions is {}", options.n_repetitions),
                "give --repetitions a number from 1 to 1000");
  HWTV_TRY(const std::vector<BenchTest> asked, bench_tests(options.flags));
  std::vector<BenchTest> tests = asked;
  BenchReport report;
  HWTV_TRY_VOID(keep_trained(options.session.model, tests, report.results));
  HWTV_TRY(const auto session, load(options, tests, report));
  describe(*session, report);
  HWTV_TRY(const bool complete, measure_all(*session, tests, options.n_repetitions, report));
  sort_results(asked, report.results);
  if (complete) keep_run("bench", *session, bench_json(report));
  Output output;
  HWTV_TRY_VOID(output.write(options.json  ? bench_json(report)
                             : options.csv ? bench_csv(report)
                                           : bench_markdown(report)));
  return complete ? kExitOk : exit_code(ErrorCode::cancelled);
}

}  // namespace

Command make_bench_command() {
  auto options = std::make_shared<BenchOptions>();
  Command command;
  command.name = "bench";
  command.summary = "Measure a model's speed as a share of this machine's limits";
  command.example =
      "hwtv bench model.Q4_0.gguf\n"
      "  hwtv bench model.Q4_0.gguf --prefill 512 --decode 64 --depth 0,2048 --csv\n"
      "  hwtv bench model.Q4_0.gguf --batch 1,4,16 --repetitions 5 --json";
  command.positionals = {
      {"MODEL", "a GGUF file, or a name that `hwtv list` shows", &options->session.model}};
  command.options = {
      {"--prefill", "LIST", "prompt lengths (default 128,512,2048)", &options->flags.prefill},
      {"--decode", "N", "tokens that one repetition decodes (default 64; of a batch, 32 for each)",
       &options->flags.n_decode},
      {"--depth", "LIST", "tokens in the cache before decode begins (default 0,2048,8192)",
       &options->flags.depth},
      {"--batch", "LIST", "sequences that decode together (default 1,2,4,8,16,32)",
       &options->flags.batch},
      {"--repetitions", "N", "runs of each test, as far as they take under 20 s (default 3)",
       &options->n_repetitions},
      {"--csv", "", "print CSV instead of Markdown", &options->csv},
      {"--json", "", "print one JSON object instead of Markdown", &options->json},
  };
  command.options.push_back(adapter_flag(options->session));
  for (Option& option : session_flags(options->session))
    if (option.flags != "--ctx") command.options.push_back(option);  // the tests ask for theirs
  command.run = [options] { return bench(*options); };
  return command;
}

}  // namespace hwtv::app
