// The kept trials as arbitrary bytes: refused, or trials that choose one of the candidates.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernel_trials_file.h"
#include "base/check.h"

namespace hwtv::cpu {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TrialsKey key{"0123456789abcdef", 2, {}};
  for (const Isa& isa : isas()) key.candidates.push_back(isa.kernels);
  const auto trials = parse_trials(text, key);
  if (!trials) return 0;
  for (const KernelTrial& trial : *trials) {
    const auto& tables = key.candidates;
    CHECK(std::find(tables.begin(), tables.end(), trial.best().kernels) != tables.end());
    CHECK(trial.n_rows >= 1 && trial.key.n_out >= 1 && trial.key.n_in >= 1);
  }
  CHECK(choices_of(*trials).size() <= trials->size());
  CHECK(parse_trials(trials_document(*trials, key), key));
  return 0;
}

}  // namespace hwtv::cpu
