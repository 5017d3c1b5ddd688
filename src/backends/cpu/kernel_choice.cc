#include "backends/cpu/kernel_choice.h"

#include "backends/cpu/isa.h"

namespace hwtv::cpu {

ProductKey product_key(const Weight& weight, RowsClass rows) {
  return {weight.decl.dtype, weight.is_packed, weight.decl.n_rows, weight.decl.width, rows};
}

std::vector<const Kernels*> candidates(const Kernels& rule) {
  const Kernels* const scalar = isas().back().kernels;
  std::vector<const Kernels*> tables = {&rule};
  for (const Isa& isa : isas())
    if (&rule != scalar && isa.kernels != &rule && isa.kernels != scalar && isa.can_run())
      tables.push_back(isa.kernels);
  return tables;
}

const KernelTime& KernelTrial::best() const {
  const KernelTime* best = times.data();
  for (const KernelTime& time : times)
    if (time.gain >= kLeastGain && time.gain > best->gain) best = &time;
  return *best;
}

KernelChoices choices_of(std::span<const KernelTrial> trials) {
  KernelChoices choices;
  for (const KernelTrial& trial : trials)
    if (!trial.rule_holds()) choices[trial.key] = trial.best().kernels;
  return choices;
}

}  // namespace hwtv::cpu
