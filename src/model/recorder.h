// Records a model's Program from its file: each weight with the shape that the config calls for. An
// architecture reads as a plain list of ops, since errors are kept until finish().
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/file.h"
#include "model/adapter.h"
#include "ops/program.h"

namespace hwtv::model {

// Where a layer's keys and values are kept.
struct KvLayer {
  int32_t group = 0;  // in Program::kv_groups
  int32_t layer = 0;  // within the group
};

// The names of a layer's tensor, as GGUF has it, and of an op.
std::string tensor_name(int32_t layer, std::string_view part);
std::string op_name(int32_t layer, std::string_view part);

// A tensor of several matrices, one below the other, and the first row that is not taken yet.
struct StackedRows {
  std::string tensor;
  int64_t n_rows;
  int64_t next = 0;
};

class Recorder {
 public:
  // Requires: `file` and `adapters` outlive the Recorder.
  explicit Recorder(const gguf::File& file, std::span<const Adapter> adapters = {});

  ops::Program& program() { return program_; }

  bool has(std::string_view tensor) const { return file_.find_tensor(tensor) != nullptr; }

  // A weight the model cannot do without.  n_out rows of n_in; a vector is (1, width).
  ops::WeightId matrix(const std::string& name, int64_t n_out, int64_t n_in,
                       ops::WeightRole role = ops::WeightRole::matrix);
  ops::WeightId vector(const std::string& name, int64_t width, ops::WeightRole role);
  // Rows [first, first + n_out) of a tensor of n_rows rows.  All its rows are to be declared.
  ops::WeightId matrix_rows(const std::string& name, int64_t n_rows, int64_t first, int64_t n_out,
                            int64_t n_in);
  // Those of all experts, as one tensor.
  ops::WeightId expert_matrices(const std::string& name, int64_t n_experts, int64_t n_out,
                                int64_t n_in);
  // The tensor's dimensions, the contiguous one first; empty where there is none.
  std::vector<int64_t> shape_of(std::string_view tensor) const;
  // kNoWeight where the file has no such tensor.
  ops::WeightId optional_vector(const std::string& name, int64_t width, ops::WeightRole role);

  // Ops; each names its output after itself.
  ops::ValueId embed(ops::WeightId weight, float scale = 1);
  ops::ValueId embed(const std::string& name, ops::WeightId weight, ops::EmbedBy by);
  ops::ValueId layer_norm(const std::string& name, ops::ValueId x, ops::WeightId weight,
                          ops::WeightId bias, float eps);
  ops::ValueId activate(const std::string& name, ops::ValueId x, ops::Activation activation);
  ops::ValueId rms_norm(const std::string& name, ops::ValueId x, ops::WeightId weight, float eps);
  // With what the adapters add to it.
  ops::ValueId matmul(const std::string& name, ops::ValueId x, ops::WeightId weight,
                      ops::WeightId bias = ops::kNoWeight);
  // By the next n_out of the rows.
  ops::ValueId matmul_next(StackedRows& rows, const std::string& name, ops::ValueId x,
                           int64_t n_out);
  ops::ValueId rope(const std::string& name, ops::ValueId x, ops::WeightId factors,
                    int64_t head_dim, const ops::RopeConfig& rope);
  void kv_write(const std::string& name, ops::ValueId k, ops::ValueId v, KvLayer layer);
  struct Scores {
    float scale;        // of q . k
    float softcap = 0;  // 0: none
    ops::WeightId sinks = ops::kNoWeight;
    bool causal = true;
  };
  ops::ValueId attention(const std::string& name, ops::ValueId q, KvLayer layer, int64_t n_heads,
                         const Scores& scores);
  ops::ValueId glu(const std::string& name, ops::ValueId gate, ops::ValueId up,
                   ops::Activation activation);
  ops::ValueId add(const std::string& name, ops::ValueId a, ops::ValueId b);
  ops::ValueId softcap(const std::string& name, ops::ValueId x, float cap);
  ops::ValueId sigmoid_gate(const std::string& name, ops::ValueId x, ops::ValueId gate);
  ops::ValueId pick(const std::string& name, ops::ValueId x, int64_t first, int64_t n,
                    int64_t stride);
  ops::ValueId l2_norm(const std::string& name, ops::ValueId x, int64_t head_dim, float eps);
  ops::ValueId causal_conv(const std::string& name, ops::ValueId x, ops::WeightId weight,
                           KvLayer layer);
  ops::ValueId delta_gates(const std::string& name, ops::ValueId alpha, ops::ValueId beta,
                           ops::WeightId a, ops::WeightId dt_bias);
  // `net` but for its state and what it gives.
  ops::ValueId delta_net(const std::string& name, KvLayer layer, ops::DeltaNet net);
  // `route` but for its values.
  ops::ValueId route(const std::string& name, ops::ValueId logits, ops::Route route);
  ops::ValueId expert_matmul(const std::string& name, ops::ValueId x, ops::ValueId shares,
                             int64_t n_used, ops::WeightId weight,
                             ops::WeightId bias = ops::kNoWeight);
  ops::ValueId expert_sum(const std::string& name, ops::ValueId x, ops::ValueId shares,
                          int64_t n_used);
  ops::ValueId select_outputs(ops::ValueId x);

  // A tensor that the file must hold, and that only other settings would use.
  void leave_out(const std::string& name, int64_t width);
  // The same for one that the file may hold.
  void skip(const std::string& name) { mark_used(name); }

  // The Program, or the first error met.  Errors: corrupt_file (a tensor missing or of another
  // shape); unsupported (a tensor type, or a tensor that no op used: the model is then more than
  // what was recorded; an adapter of what is no plain product).
  Result<ops::Program> finish() &&;

 private:
  ops::WeightId weight(const std::string& name, std::vector<int64_t> shape, ops::WeightRole role);
  void mark_used(const std::string& name);
  Result<DType> check_tensor(const std::string& name, const std::vector<int64_t>& shape) const;
  Result<void> check_all_used() const;
  Result<void> check_adapted() const;
  ops::ValueId adapted(const std::string& name, ops::ValueId x, ops::WeightId weight,
                       ops::ValueId base);
  ops::LoraPair add_pair(size_t adapter, const Adapter::Pair& pair, const ops::WeightDecl& base);
  // The pair's lora_a as it was declared; kNoWeight: it was not.
  ops::WeightId find_reduction(int32_t adapter, const Adapter::Pair& pair) const;
  ops::ValueId like(const std::string& name, ops::ValueId x, int64_t width);

  const gguf::File& file_;
  const std::span<const Adapter> adapters_;
  ops::Program program_;
  std::vector<bool> used_;  // by index in File::tensors()
  std::optional<Error> error_;
};

}  // namespace hwtv::model
