#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <span>
#include <utility>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/kernel_list.h"
#include "app/note.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/session.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel_trials_file.h"

namespace hwtv::app {
namespace {

struct KernelsOptions {
  SessionOptions session;
  bool rule = false, json = false;
};

using Trials = std::vector<cpu::KernelTrial>;
using Groups = std::vector<cpu::ProductGroup>;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// Of the session's backend, which is "cpu".
const cpu::CpuExecutable& executable_of(const Session& session) {
  return static_cast<const cpu::CpuExecutable&>(session.engine().executable());
}

const cpu::KernelTrial* trial_of(const Trials& trials, const cpu::ProductKey& key) {
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [&](const cpu::KernelTrial& trial) { return trial.key == key; });
  return found == trials.end() ? nullptr : &*found;
}

Result<Trials> try_all(Session& session, const Groups& groups, bool quiet) {
  const cpu::TrialSetup setup = {session.device().team(), session.device().ledger(),
                                 session.clock(), cpu::candidates(executable_of(session).table()),
                                 today()};
  Trials trials;
  int64_t n_bytes = 0, n_done_bytes = 0;
  const auto bytes_of = [](const cpu::ProductGroup& group) {
    int64_t n = 0;
    for (const cpu::Weight* weight : group.weights) n += weight->decl.n_bytes();
    return n;
  };
  for (const cpu::ProductGroup& group : groups) n_bytes += bytes_of(group);
  Progress progress("trying kernels on", n_bytes, quiet);
  for (const cpu::ProductGroup& group : groups) {
    progress.show(n_done_bytes);
    HWTV_TRY(cpu::KernelTrial trial, cpu::try_kernels(group, setup));
    trials.push_back(std::move(trial));
    n_done_bytes += bytes_of(group);
  }
  return trials;
}

// The same shapes, packed or not.
bool same_shape(cpu::ProductKey a, const cpu::ProductKey& b) {
  a.is_packed = b.is_packed;
  return a == b;
}

// Puts `trials` in the place of those that are kept for the same shapes.
// Errors: io; there may be no cache folder.
Result<void> keep(Session& session, const Groups& groups, const Trials& trials) {
  const std::string& folder = session.device().rates_folder();
  if (folder.empty())
    return fail(ErrorCode::io, "there is no cache folder", "set HWTV_CACHE to a folder");
  const cpu::TrialsKey key = cpu::trials_key(session.device(), executable_of(session).table());
  Trials kept;
  if (auto read = cpu::read_trials(folder, key))
    kept = *std::move(read);
  else if (read.error().code != ErrorCode::io)
    note("hwtv: what was kept is dropped: {}\n", read.error().what);
  else if (trials.empty())
    return {};
  for (const cpu::ProductGroup& group : groups)
    std::erase_if(kept, [&](const cpu::KernelTrial& trial) {
      return trials.empty() ? same_shape(trial.key, group.key) : trial.key == group.key;
    });
  kept.insert(kept.end(), trials.begin(), trials.end());
  return cpu::keep_trials(folder, key, kept);
}

ProductChoice choice_of(const cpu::ProductGroup& group, const cpu::KernelTrial* trial,
                        const cpu::Kernels& rule) {
  ProductChoice choice = {group.key, static_cast<int64_t>(group.weights.size()), group.n_rows,
                          rule.name, cpu::is_isa_forced() ? "HWTV_ISA" : "rule", {}};
  if (!trial) return choice;
  choice.times = trial->times;
  choice.chosen = trial->best().kernels->name;
  if (!trial->rule_holds())
    choice.why = fmt::format("trial of {}: {:.2f} x the rule's", trial->date, trial->best().gain);
  else if (trial->times.size() > 1)
    choice.why = fmt::format("rule: in the trial of {} none was {:.0f} % faster", trial->date,
                             100 * (cpu::kLeastGain - 1));
  return choice;
}

std::vector<OtherKernel> other_kernels(const cpu::CpuExecutable& executable) {
  std::vector<OtherKernel> others;
  const std::vector<std::string> names = executable.kernels();
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::holds_alternative<ops::MatMul>(executable.program().ops[i].op)) continue;
    const auto other = std::find_if(others.begin(), others.end(), [&](const OtherKernel& known) {
      return known.kernel == names[i];
    });
    if (other == others.end())
      others.push_back({names[i], 1});
    else
      ++other->n_ops;
  }
  return others;
}

KernelList list_of(Session& session, const Groups& groups, const Trials& trials) {
  const cpu::CpuExecutable& executable = executable_of(session);
  const std::string& path = session.model().file().path();
  KernelList list = {
      path.substr(path.rfind('/') + 1),
      session.device().machine().fingerprint,
      session.device().n_threads(),
      executable.table().name,
      cpu::is_isa_forced() ? "which HWTV_ISA names" : "the best instruction set of this machine",
      {},
      other_kernels(executable)};
  for (const cpu::ProductGroup& group : groups)
    list.products.push_back(choice_of(group, trial_of(trials, group.key), executable.table()));
  return list;
}

Result<int> kernels(const KernelsOptions& options) {
  if (options.rule && cpu::is_isa_forced())
    return fail(ErrorCode::invalid_request,
                "--rule has nothing to forget while HWTV_ISA forces a set of kernels",
                "unset HWTV_ISA, or leave --rule out");
  SessionOptions session_options = options.session;
  session_options.context = 1;  // a trial lays out its own rows
  session_options.quiet = options.json;
  HWTV_TRY(const auto session, Session::open(session_options));
  const Groups groups = cpu::product_groups(executable_of(*session));
  Trials trials;
  if (!options.rule && !cpu::is_isa_forced()) {
    HWTV_TRY(trials, try_all(*session, groups, options.json));
  }
  if (!cpu::is_isa_forced()) {
    const auto kept = keep(*session, groups, trials);
    if (!kept && options.rule) return fail(kept.error());
    if (!kept) note("hwtv: the trials are not kept: {}\n", kept.error().what);
  }
  const KernelList list = list_of(*session, groups, trials);
  Output output;
  HWTV_TRY_VOID(output.write(options.json ? kernel_list_json(list) : kernel_list_text(list)));
  return kExitOk;
}

}  // namespace

Command make_kernels_command() {
  auto options = std::make_shared<KernelsOptions>();
  Command command;
  command.name = "kernels";
  command.summary = "Choose the kernel of each weight shape by a timed trial, and keep the choice";
  command.example =
      "hwtv kernels model.Q4_0.gguf\n"
      "  hwtv kernels model.Q4_0.gguf --threads 4 --json\n"
      "  hwtv kernels model.Q4_0.gguf --rule";
  command.positionals = {
      {"MODEL", "a GGUF file, or a name that `hwtv list` shows", &options->session.model}};
  command.options = {
      {"--rule", "", "forget what was kept for this model's shapes, and try nothing",
       &options->rule},
      {"--json", "", "print one JSON object", &options->json},
  };
  for (Option& option : session_flags(options->session))
    if (option.flags == "--threads" || option.flags == "--no-pack")
      command.options.push_back(option);
  command.run = [options] { return kernels(*options); };
  return command;
}

}  // namespace hwtv::app
