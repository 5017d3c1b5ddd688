// What `hwtv kernels` tells: the table chosen for each shape of weight, why, and how the others
// did.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/kernel_trial.h"

namespace hwtv::app {

// The products of one key.
struct ProductChoice {
  cpu::ProductKey key;
  int64_t n_products;
  int64_t n_rows;                      // of the trial
  std::string chosen;                  // "avx512vnni"
  std::string why;                     // "rule", "trial of 2026-12-02: 1.21 x the rule's"
  std::vector<cpu::KernelTime> times;  // the rule's first; empty: nothing was tried

  double weight_bytes() const;
  // Of one product: 2 for each weight and row.
  double n_ops() const;
};

// The other ops that one kernel computes: by rule, nothing is tried.
struct OtherKernel {
  std::string kernel;  // "attention_f16_f16_avx512vnni"
  int64_t n_ops;
};

struct KernelList {
  std::string model;
  std::string fingerprint;
  int n_threads;
  std::string rule;         // the table
  std::string rule_reason;  // why it is
  std::vector<ProductChoice> products;
  std::vector<OtherKernel> others;
};

std::string kernel_list_text(const KernelList& list);
std::string kernel_list_json(const KernelList& list);

}  // namespace hwtv::app
