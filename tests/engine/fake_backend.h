// A backend without arithmetic: its cache holds token ids, and a token's logits are a hash of every
// token that the block tables reach up to its position, each with the adapters that it was computed
// with.  A wrong table, position, chunk or adapter shows at once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "ops/backend.h"

namespace hwtv::engine {

class FakeSpec final : public ops::BackendSpec {
 public:
  std::string_view name() const override { return "fake"; }
  Result<void> supports(const ops::Program&, const ops::Limits&) const override { return {}; }
  ops::BytesByUse memory(const ops::Program&, const ops::Limits&) const override { return {}; }
};

class FakeExecutable final : public ops::Executable {
 public:
  ops::BytesByUse reserved() const override { return {}; }
  std::vector<std::string> kernels() const override { return {}; }

  ops::Limits limits;
  int64_t vocab_size = 0;
  std::vector<int32_t> cache;  // (n_kv_blocks * kv_block_tokens)
  std::vector<float> logits;   // (n_outputs, vocab_size)
  int64_t n_steps = 0;
  int64_t n_tokens = 0;
};

class FakeBackend final : public ops::Backend {
 public:
  const ops::BackendSpec& spec() const override { return spec_; }

  Result<ops::WeightHandle> import(const ops::WeightDecl&, const ops::WeightSource&,
                                   ops::Shard) override {
    return 0;
  }

  Result<std::unique_ptr<ops::Executable>> prepare(const ops::Program& program,
                                                   const ops::Limits& limits,
                                                   std::span<const ops::WeightHandle>) override {
    auto made = std::make_unique<FakeExecutable>();
    made->limits = limits;
    made->vocab_size = program.value(program.outputs[0].value).width;
    made->cache.assign(static_cast<size_t>(limits.n_kv_blocks[0] * limits.kv_block_tokens), -1);
    executable = made.get();
    return made;
  }

  ops::Ticket submit(ops::Executable& base, const ops::StepInput& input) override {
    auto& self = static_cast<FakeExecutable&>(base);
    self.logits.clear();
    size_t next_output = 0;
    for (const ops::SliceInput& slice : input.slices) {
      int32_t adapters = 0;
      for (const int32_t adapter : slice.adapters) adapters = 8 * adapters + adapter + 1;
      for (int64_t i = 0; i < slice.n_tokens; ++i) {
        const int64_t row = slice.first_row + i, position = slice.first_position + i;
        cell(self, slice, position) = input.tokens[static_cast<size_t>(row)] + 1000 * adapters;
        if (next_output < input.output_rows.size() && input.output_rows[next_output] == row) {
          append_logits(self, slice, position);
          ++next_output;
        }
      }
    }
    if (clock) clock->advance_s(step_s + token_s * static_cast<double>(input.tokens.size()));
    ++self.n_steps;
    self.n_tokens += static_cast<int64_t>(input.tokens.size());
    return {};
  }

  Result<ops::StepResult> wait(ops::Executable& base, ops::Ticket) override {
    return ops::StepResult{{std::span<const float>(static_cast<FakeExecutable&>(base).logits)}, {}};
  }

  void copy_block(ops::Executable&, int32_t, int32_t, int32_t) override {}

  FakeExecutable* executable = nullptr;
  FakeClock* clock = nullptr;  // moved by each step, if there is one
  double step_s = 0, token_s = 0;
  int64_t other_every = 0;  // at every so many positions the logits are others; 0: at none

 private:
  static int32_t& cell(FakeExecutable& self, const ops::SliceInput& slice, int64_t position) {
    const int64_t block_tokens = self.limits.kv_block_tokens;
    const int64_t block = slice.block_tables[0][static_cast<size_t>(position / block_tokens)];
    return self.cache[static_cast<size_t>(block * block_tokens + position % block_tokens)];
  }

  void append_logits(FakeExecutable& self, const ops::SliceInput& slice, int64_t position) const {
    uint64_t hash = 1469598103934665603ull;
    for (int64_t p = 0; p <= position; ++p)
      hash = (hash ^ static_cast<uint64_t>(cell(self, slice, p) + 1)) * 1099511628211ull;
    if (other_every > 0 && position % other_every == 0) hash = ~hash;
    for (int64_t token = 0; token < self.vocab_size; ++token) {
      hash ^= hash >> 29;
      hash *= 0xbf58476d1ce4e5b9ull;
      self.logits.push_back(static_cast<float>(hash >> 40) * 0x1.0p-22f);
    }
  }

  FakeSpec spec_;
};

}  // namespace hwtv::engine
