#include "backends/cpu/kernel_trial.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/cpu/row_chain.h"
#include "backends/cpu/step.h"
#include "base/check.h"

namespace hwtv::cpu {
namespace {

// A sample takes at least about this long by the rule's table: long against reading the clock and
// against one piece of work that is handed out late.
constexpr double kSample_s = 0.5e-3;
constexpr int64_t kMostSampleProducts = 1024;
// A candidate that first took this many times the rule's seconds is not asked again.
constexpr double kHopeless = 1.5;

// The rows of the first weight are the input, so that they are as many and as varied as needed.
ops::Program program_of(const ProductGroup& group) {
  ops::Program program;
  const ops::ValueId x = program.add_value("x", ops::Rows::n_tokens, group.key.n_in);
  for (const Weight* weight : group.weights) {
    const ops::WeightId id = program.add_weight(weight->decl);
    if (id == 0) program.add_op("input", ops::Embed{id, x});
    const ops::ValueId out = program.add_value("out", ops::Rows::n_tokens, group.key.n_out);
    program.add_op("product", ops::MatMul{x, id, ops::kNoWeight, out});
  }
  return program;
}

std::vector<int32_t> tokens_of(const ProductGroup& group) {
  std::vector<int32_t> tokens;
  for (int64_t row = 0; row < group.n_rows; ++row)
    tokens.push_back(static_cast<int32_t>(row % group.key.n_out));
  return tokens;
}

// Takes samples of a group's products; each goes on with the weight after the last one's.
class Sampler {
 public:
  static Result<std::unique_ptr<Sampler>> make(const ProductGroup& group, const TrialSetup& setup) {
    std::unique_ptr<Sampler> sampler(new Sampler(group, setup));
    const ops::Limits limits = {.n_tokens_max = group.n_rows};
    const Packing packing = group.key.is_packed ? Packing::tiles : Packing::none;
    HWTV_TRY(sampler->executable_,
             CpuExecutable::make(sampler->program_, limits, group.weights,
                                 *setup.candidates.front(), packing, setup.ledger));
    sampler->warm_up();
    return sampler;
  }

  // Seconds of one product, the mean of a sample.
  double sample_s(const Kernels& kernels) {
    executable_->choose_kernels({{key_, &kernels}});
    const double start_s = clock_.now_s();
    for (int64_t i = 0; i < n_products_; ++i) multiply_next(false);
    return (clock_.now_s() - start_s) / static_cast<double>(n_products_);
  }

 private:
  Sampler(const ProductGroup& group, const TrialSetup& setup)
      : key_(group.key),
        program_(program_of(group)),
        tokens_(tokens_of(group)),
        team_(setup.team),
        clock_(setup.clock) {
    for (const ops::NamedOp& named : program_.ops)
      if (const auto* product = std::get_if<ops::MatMul>(&named.op)) products_.push_back(product);
  }

  void multiply_next(bool quantize) {
    run_mat_muls({&products_[at_], 1}, quantize, Step{team_, *executable_, input_});
    at_ = (at_ + 1) % products_.size();
  }

  // Computes the input, and how many products make a sample.
  void warm_up() {
    run_row_chain(0, 1, -1, Step{team_, *executable_, input_});  // the Embed
    multiply_next(is_quantized(key_.dtype));
    n_products_ = 1;
    const double product_s = std::max(1e-9, sample_s(executable_->table()));
    n_products_ =
        std::clamp<int64_t>(static_cast<int64_t>(kSample_s / product_s), 1, kMostSampleProducts);
  }

  const ProductKey key_;
  const ops::Program program_;
  const std::vector<int32_t> tokens_;
  const ops::StepInput input_ = {tokens_, {}, {}};
  ThreadTeam& team_;
  Clock& clock_;
  std::vector<const ops::MatMul*> products_;
  std::unique_ptr<CpuExecutable> executable_;
  size_t at_ = 0;
  int64_t n_products_ = 1;
};

// The value below which a share of a list lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// seconds[candidate][round], the rule's first.  A hopeless candidate has one round alone.
KernelTime time_of(const Kernels* kernels, const std::vector<double>& rule_seconds,
                   const std::vector<double>& seconds) {
  std::vector<double> gains;
  for (size_t round = 0; round < seconds.size(); ++round)
    gains.push_back(rule_seconds[round] / std::max(1e-12, seconds[round]));
  return {kernels, quantile(seconds, 0.5), quantile(std::move(gains), 0.25)};
}

}  // namespace

std::vector<ProductGroup> product_groups(const CpuExecutable& executable) {
  std::vector<ProductGroup> groups;
  const ops::Program& program = executable.program();
  for (const ops::NamedOp& named : program.ops) {
    const auto* product = std::get_if<ops::MatMul>(&named.op);
    if (!product) continue;
    const Weight& weight = executable.weight(product->weight);
    const bool is_output = program.value(product->x).rows == ops::Rows::n_outputs;
    for (const RowsClass rows : {RowsClass::one, RowsClass::many}) {
      const ProductKey key = product_key(weight, rows);
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const ProductGroup& other) { return other.key == key; });
      if (group == groups.end()) group = groups.insert(groups.end(), {key, 1, {}});
      group->weights.push_back(&weight);
      if (rows == RowsClass::many)
        group->n_rows = std::max(group->n_rows, is_output ? kBatchRows : kPromptRows);
    }
  }
  return groups;
}

Result<KernelTrial> try_kernels(const ProductGroup& group, const TrialSetup& setup) {
  CHECK(!setup.candidates.empty() && !group.weights.empty());
  HWTV_TRY(const auto sampler, Sampler::make(group, setup));
  const size_t n = setup.candidates.size();
  const double end_s = setup.clock.now_s() + kTrial_s;
  std::vector<std::vector<double>> seconds(n);
  std::vector<bool> is_hopeless(n, false);
  for (size_t i = 0; i < n; ++i) {
    // The best of three: a single one may be held up by whatever else the machine does.
    const Kernels& table = *setup.candidates[i];
    seconds[i].push_back(
        std::min({sampler->sample_s(table), sampler->sample_s(table), sampler->sample_s(table)}));
    is_hopeless[i] = seconds[i][0] > kHopeless * seconds[0][0];
  }
  for (int round = 1; round < kMostRounds; ++round) {
    if (round >= kLeastRounds && setup.clock.now_s() > end_s) break;
    for (size_t turn = 0; turn < n; ++turn) {  // another one begins each round
      const size_t i = (turn + static_cast<size_t>(round)) % n;
      if (!is_hopeless[i]) seconds[i].push_back(sampler->sample_s(*setup.candidates[i]));
    }
  }
  KernelTrial trial{group.key, group.n_rows, setup.date, {}};
  for (size_t i = 0; i < n; ++i)
    trial.times.push_back(time_of(setup.candidates[i], seconds[0], seconds[i]));
  return trial;
}

}  // namespace hwtv::cpu
