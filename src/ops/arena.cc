#include "ops/arena.h"

#include <algorithm>

#include "base/check.h"

namespace hwtv::ops {
namespace {

struct Lifetime {
  int64_t first = -1;  // stage that writes it
  int64_t last = -1;   // stage that reads it last
};

struct Placed {
  int64_t begin, end;  // bytes
  Lifetime life;
};

int64_t value_bytes(const Value& value, const Limits& limits) {
  const int64_t rows = value.rows == Rows::n_tokens ? limits.n_tokens_max : limits.n_outputs_max;
  return (rows * value.width * 4 + 63) / 64 * 64;
}

std::vector<Lifetime> lifetimes(const Program& program, std::span<const int32_t> stages) {
  std::vector<Lifetime> lives(program.values.size());
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const int64_t at = stages.empty() ? static_cast<int64_t>(i) : stages[i];
    for (const ValueId id : op_inputs(program.ops[i].op)) lives[static_cast<size_t>(id)].last = at;
    const ValueId out = op_output(program.ops[i].op);
    if (out >= 0) lives[static_cast<size_t>(out)] = {at, at};
  }
  for (const Output& output : program.outputs)
    lives[static_cast<size_t>(output.value)].last = static_cast<int64_t>(program.ops.size());
  return lives;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The lowest gap of n_bytes among the placed values that live at the same time.
int64_t first_fit(std::vector<Placed>& placed, const Lifetime& life, int64_t n_bytes) {
  int64_t at = 0;
  for (const Placed& other : placed) {  // sorted by begin
    if (!overlap(life, other.life) || other.end <= at) continue;
    if (other.begin >= at + n_bytes) break;
    at = other.end;
  }
  return at;
}

}  // namespace

ArenaPlan plan_arena(const Program& program, const Limits& limits,
                     std::span<const int32_t> stages) {
  CHECK(stages.empty() || stages.size() == program.ops.size());
  const std::vector<Lifetime> lives = lifetimes(program, stages);
  ArenaPlan plan;
  plan.offsets.assign(program.values.size(), -1);
  std::vector<Placed> placed;
  for (const NamedOp& named : program.ops) {
    const ValueId out = op_output(named.op);
    if (out < 0) continue;
    const Lifetime& life = lives[static_cast<size_t>(out)];
    const int64_t n_bytes = value_bytes(program.value(out), limits);
    const int64_t at = first_fit(placed, life, n_bytes);
    plan.offsets[static_cast<size_t>(out)] = at;
    plan.n_bytes = std::max(plan.n_bytes, at + n_bytes);
    const Placed entry{at, at + n_bytes, life};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
        entry);
  }
  return plan;
}

}  // namespace hwtv::ops
