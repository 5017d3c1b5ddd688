// How a Program is run on one kind of device.  A backend owns the layout of its weights,
// activations and cache; everything is decided and allocated in prepare(), nothing in a step.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/program.h"
#include "ops/work.h"

namespace hwtv::ops {

// The sizes a Program is prepared for.
struct Limits {
  int64_t n_tokens_max = 512;        // tokens of one step
  int64_t n_seqs_max = 1;            // slices of one step
  int64_t n_outputs_max = 1;         // output rows of one step
  int64_t context_tokens_max = 512;  // longest sequence
  int64_t kv_block_tokens = 32;
  std::vector<int64_t> n_kv_blocks = {};  // for each KvGroup: blocks of its pool
  DType k_dtype = DType::F16;
  DType v_dtype = DType::F16;
};

// Bytes that prepare() and import() will take, by use; the names are those of hw::Ledger.
struct BytesByUse {
  int64_t weights = 0;         // read in place from the file's mapping
  int64_t packed_weights = 0;  // re-laid copies
  int64_t kv = 0;
  int64_t activations = 0;
  int64_t staging = 0;  // scratch of kernels, output rows

  int64_t total() const { return weights + packed_weights + kv + activations + staging; }
};

// Pure: answers without a device, so that a plan predicts with the code that reserves.
class BackendSpec {
 public:
  virtual ~BackendSpec() = default;
  virtual std::string_view name() const = 0;  // "cpu", "ref"
  // Errors: unsupported, naming the op, weight and dtype that cannot be run.
  virtual Result<void> supports(const Program& program, const Limits& limits) const = 0;
  virtual BytesByUse memory(const Program& program, const Limits& limits) const = 0;
};

// One of n equal parts of a weight (tensor parallelism); {0, 1} is the whole.
struct Shard {
  int rank = 0;
  int n = 1;
};

using WeightHandle = int32_t;

// Where a weight's bytes lie.  They stay valid as long as the backend (a mapping) and may be used
// in place; `release` is told of pieces that were copied and will not be read again.
struct WeightSource {
  std::span<const std::byte> bytes;
  std::function<void(std::span<const std::byte>)> release = {};

  template <std::convertible_to<std::span<const std::byte>> Bytes>
  WeightSource(const Bytes& where) : bytes(where) {}
  WeightSource(std::span<const std::byte> where,
               std::function<void(std::span<const std::byte>)> on_release)
      : bytes(where), release(std::move(on_release)) {}
};

// One sequence's tokens in this step.
struct SliceInput {
  int64_t first_row = 0;       // of StepInput::tokens
  int64_t n_tokens = 0;        // >= 1; decode is 1
  int64_t first_position = 0;  // tokens already in the cache
  // For each KvGroup: the sequence's kv_block ids; block b holds positions [b, b + 1) *
  // block_tokens.
  std::vector<std::span<const int32_t>> block_tables;
  // Of Program::n_adapters, each once: what its Lora ops add, in this order.
  std::span<const int32_t> adapters = {};
};

struct StepInput {
  std::span<const int32_t> tokens;  // (n_tokens), slices one after the other
  std::span<const SliceInput> slices;
  std::span<const int32_t> output_rows;  // rows of `tokens`, ascending
  bool profile = false;                  // fill StepResult::spans
};

// The time of one op of the Program in one step.
struct OpSpan {
  int32_t op;  // index in Program::ops
  const char* kernel;
  double seconds;
};

// Valid until the next submit() of the same Executable.
struct StepResult {
  std::vector<std::span<const float>> outputs;  // one for each Program::outputs: (n_outputs, width)
  std::span<const OpSpan> spans;
};

// A Program made ready: kernels chosen, arena laid out, cache allocated.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual BytesByUse reserved() const = 0;
  // The kernel chosen for each op, by index in Program::ops.
  virtual std::vector<std::string> kernels() const = 0;
};

struct Ticket {
  uint64_t step = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendSpec& spec() const = 0;

  // Takes a weight over into the backend's own layout.  Errors: unsupported, out_of_memory.
  virtual Result<WeightHandle> import(const WeightDecl& weight, const WeightSource& source,
                                      Shard shard) = 0;

  // Requires: weights[i] is the handle of program.weights[i]; `program` outlives the Executable.
  // Errors: unsupported, out_of_memory.
  virtual Result<std::unique_ptr<Executable>> prepare(const Program& program, const Limits& limits,
                                                      std::span<const WeightHandle> weights) = 0;

  // Runs one step.  The input must stay valid until wait() has returned.
  // Requires: within the Executable's Limits; token ids inside the vocabulary; block tables cover
  // first_position + n_tokens.
  virtual Ticket submit(Executable& executable, const StepInput& input) = 0;
  // Errors: device_lost.
  virtual Result<StepResult> wait(Executable& executable, Ticket ticket) = 0;

  // Copies one kv_block of a group onto another (copy-on-write, prefix reuse).
  virtual void copy_block(Executable& executable, int32_t kv_group, int32_t from, int32_t to) = 0;
};

}  // namespace hwtv::ops
