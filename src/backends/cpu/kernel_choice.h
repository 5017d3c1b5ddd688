// Which kernel table multiplies weights of one shape: the rule's (the best one that this machine
// runs), or another that a trial found faster here.  All candidates give the same bits, so a choice
// changes how long a product takes and nothing else.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/weight.h"
#include "base/dtype.h"

namespace hwtv::cpu {

// Rows of activations that share one pass over a weight: one (decode), or many (a prompt, a batch).
enum class RowsClass : uint8_t { one, many };
inline RowsClass rows_class(int64_t n_rows) {
  return n_rows <= 1 ? RowsClass::one : RowsClass::many;
}

// The products that share one choice.
struct ProductKey {
  DType dtype;
  bool is_packed;
  int64_t n_out;
  int64_t n_in;
  RowsClass rows;

  auto operator<=>(const ProductKey&) const = default;
};
ProductKey product_key(const Weight& weight, RowsClass rows);

// The tables that may multiply in place of the rule's, which comes first: all that run here and
// give its bits.  "scalar" rounds float products twice and is far slower, so it only stands for
// itself.
std::vector<const Kernels*> candidates(const Kernels& rule);

struct KernelTime {
  const Kernels* kernels;
  double seconds;  // of one product: the median of all rounds
  double gain;     // the rule's seconds over these in one round: reached by three rounds of four
};

// How the candidates did on one key.
struct KernelTrial {
  ProductKey key;
  int64_t n_rows;                 // that each product had
  std::string date;               // "2026-12-02"
  std::vector<KernelTime> times;  // the rule's first

  // The one that gains most, if that is at least kLeastGain; else the rule's.
  const KernelTime& best() const;
  bool rule_holds() const { return &best() == times.data(); }
};
inline constexpr double kLeastGain = 1.03;

// Where another table than the rule's multiplies.
using KernelChoices = std::map<ProductKey, const Kernels*>;
KernelChoices choices_of(std::span<const KernelTrial> trials);

}  // namespace hwtv::cpu
