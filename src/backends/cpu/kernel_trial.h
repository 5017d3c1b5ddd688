// Times the products of one weight shape with each candidate table, in turns, through the very code
// that a step runs.  Called by `hwtv kernels` after a model is loaded; nothing else may run then.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/executable.h"
#include "backends/cpu/kernel_choice.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/thread_team.h"
#include "hw/ledger.h"

namespace hwtv::cpu {

// All products of a program that share a key: one after the other they read what a step reads of
// them, so a weight is out of the cache again when its turn comes, as far as the model is large.
struct ProductGroup {
  ProductKey key;
  int64_t n_rows;  // that a trial multiplies: 1, a prompt's, or a batch's where outputs are chosen
  std::vector<const Weight*> weights;  // of each product, in the program's order
};
inline constexpr int64_t kPromptRows = 256, kBatchRows = 16;

// In the order of their first product, one row before many.
std::vector<ProductGroup> product_groups(const CpuExecutable& executable);

struct TrialSetup {
  ThreadTeam& team;
  hw::Ledger& ledger;
  Clock& clock;
  std::vector<const Kernels*> candidates;  // the rule's first
  std::string date;
};

// Takes about kTrial_s, longer where kLeastRounds of the candidates do.  Errors: out_of_memory, for
// the activations of n_rows rows.
Result<KernelTrial> try_kernels(const ProductGroup& group, const TrialSetup& setup);
inline constexpr double kTrial_s = 0.15;
inline constexpr int kLeastRounds = 9, kMostRounds = 41;

}  // namespace hwtv::cpu
