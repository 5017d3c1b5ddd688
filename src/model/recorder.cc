#include "model/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/metadata.h"

namespace hwtv::model {
namespace {

// Shapes as the file gives them, the contiguous dimension first: "(576, 1536)".
std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (const int64_t size : shape) text += fmt::format("{}{}", text == "(" ? "" : ", ", size);
  return text + ")";
}

}  // namespace

std::string tensor_name(int32_t layer, std::string_view part) {
  return fmt::format("blk.{}.{}.weight", layer, part);
}

std::string op_name(int32_t layer, std::string_view part) {
  return fmt::format("layer {} {}", layer, part);
}

Recorder::Recorder(const gguf::File& file, std::span<const Adapter> adapters)
    : file_(file), adapters_(adapters), used_(file.tensors().size(), false) {
  program_.n_adapters = static_cast<int32_t>(adapters.size());
}

Result<DType> Recorder::check_tensor(const std::string& name,
                                     const std::vector<int64_t>& shape) const {
  const gguf::TensorInfo* tensor = file_.find_tensor(name);
  if (tensor == nullptr)
    return fail(ErrorCode::corrupt_file,
                fmt::format("tensor {} of shape {} is missing", name, shape_text(shape)),
                kFetchAgain);
  std::vector<int64_t> found = tensor->shape;
  while (found.size() > shape.size() && found.back() == 1) found.pop_back();
  if (found != shape)
    return fail(ErrorCode::corrupt_file,
                fmt::format("tensor {} has the shape {}, expected {} from the metadata", name,
                            shape_text(tensor->shape), shape_text(shape)),
                kFetchAgain);
  return tensor->require_dtype();
}

ops::WeightId Recorder::weight(const std::string& name, std::vector<int64_t> shape,
                               ops::WeightRole role) {
  const Result<DType> dtype = check_tensor(name, shape);
  if (!dtype && !error_) error_ = dtype.error();
  mark_used(name);
  // After an error the shape that was asked for goes on, so that what follows fits together.
  return program_.add_weight({.name = name,
                              .dtype = dtype.value_or(DType::F32),
                              .n_rows = shape.size() > 1 ? shape[1] : 1,
                              .width = shape[0],
                              .role = role,
                              .n_experts = shape.size() > 2 ? shape[2] : 1});
}

void Recorder::mark_used(const std::string& name) {
  if (const gguf::TensorInfo* tensor = file_.find_tensor(name))
    used_[static_cast<size_t>(tensor - file_.tensors().data())] = true;
}

void Recorder::leave_out(const std::string& name, int64_t width) {
  const Result<DType> dtype = check_tensor(name, {width});
  if (!dtype && !error_) error_ = dtype.error();
  mark_used(name);
}

std::vector<int64_t> Recorder::shape_of(std::string_view tensor) const {
  const gguf::TensorInfo* info = file_.find_tensor(tensor);
  return info ? info->shape : std::vector<int64_t>();
}

ops::WeightId Recorder::matrix(const std::string& name, int64_t n_out, int64_t n_in,
                               ops::WeightRole role) {
  return weight(name, {n_in, n_out}, role);
}

ops::WeightId Recorder::expert_matrices(const std::string& name, int64_t n_experts, int64_t n_out,
                                        int64_t n_in) {
  return weight(name, {n_in, n_out, n_experts}, ops::WeightRole::matrix);
}

ops::WeightId Recorder::matrix_rows(const std::string& name, int64_t n_rows, int64_t first,
                                    int64_t n_out, int64_t n_in) {
  CHECK(first >= 0 && n_out >= 1 && first + n_out <= n_rows);
  const ops::WeightId id = weight(name, {n_in, n_rows}, ops::WeightRole::matrix);
  ops::WeightDecl& decl = program_.weights[static_cast<size_t>(id)];
  decl.first_row = first;
  decl.n_rows = n_out;
  return id;
}

ops::WeightId Recorder::vector(const std::string& name, int64_t width, ops::WeightRole role) {
  return weight(name, {width}, role);
}

ops::WeightId Recorder::optional_vector(const std::string& name, int64_t width,
                                        ops::WeightRole role) {
  return has(name) ? vector(name, width, role) : ops::kNoWeight;
}

ops::ValueId Recorder::like(const std::string& name, ops::ValueId x, int64_t width) {
  return program_.add_value(name, program_.value(x).rows, width);
}

ops::ValueId Recorder::embed(ops::WeightId weight_id, float scale) {
  const ops::ValueId out =
      program_.add_value("embedding", ops::Rows::n_tokens, program_.weight(weight_id).width);
  program_.add_op("embedding", ops::Embed{weight_id, out, scale});
  return out;
}

ops::ValueId Recorder::embed(const std::string& name, ops::WeightId weight_id, ops::EmbedBy by) {
  const ops::ValueId out =
      program_.add_value(name, ops::Rows::n_tokens, program_.weight(weight_id).width);
  program_.add_op(name, ops::Embed{weight_id, out, 1, by});
  return out;
}

ops::ValueId Recorder::layer_norm(const std::string& name, ops::ValueId x, ops::WeightId weight_id,
                                  ops::WeightId bias, float eps) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::LayerNorm{x, weight_id, bias, eps, out});
  return out;
}

ops::ValueId Recorder::activate(const std::string& name, ops::ValueId x,
                                ops::Activation activation) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::Activate{x, activation, out});
  return out;
}

ops::ValueId Recorder::rms_norm(const std::string& name, ops::ValueId x, ops::WeightId weight_id,
                                float eps) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::RmsNorm{x, weight_id, eps, out});
  return out;
}

ops::ValueId Recorder::matmul(const std::string& name, ops::ValueId x, ops::WeightId weight_id,
                              ops::WeightId bias) {
  const ops::ValueId out = like(name, x, program_.weight(weight_id).n_rows);
  program_.add_op(name, ops::MatMul{x, weight_id, bias, out});
  return adapted(name, x, weight_id, out);
}

// `base` is the product of x with the weight.
ops::ValueId Recorder::adapted(const std::string& name, ops::ValueId x, ops::WeightId weight_id,
                               ops::ValueId base) {
  const ops::WeightDecl decl = program_.weight(weight_id);
  std::vector<ops::LoraPair> pairs;
  for (size_t i = 0; i < adapters_.size(); ++i)
    if (const Adapter::Pair* pair = adapters_[i].find(decl.name))
      pairs.push_back(add_pair(i, *pair, decl));
  if (pairs.empty()) return base;
  const ops::ValueId out = like(name + " lora", base, decl.n_rows);
  program_.add_op(name + " lora", ops::Lora{x, base, std::move(pairs), out});
  return out;
}

// Where the base is some rows of a tensor, b has the same rows, and a is declared once.
ops::LoraPair Recorder::add_pair(size_t adapter, const Adapter::Pair& pair,
                                 const ops::WeightDecl& base) {
  const auto index = static_cast<int32_t>(adapter);
  const auto declare = [&](const gguf::TensorInfo& tensor, int64_t first_row, int64_t n_rows) {
    return program_.add_weight({.name = std::string(tensor.name),
                                .dtype = *tensor.dtype,
                                .n_rows = n_rows,
                                .width = tensor.shape[0],
                                .role = ops::WeightRole::adapter,
                                .first_row = first_row,
                                .adapter = index});
  };
  ops::WeightId a = find_reduction(index, pair);
  if (a == ops::kNoWeight) a = declare(*pair.a, 0, pair.rank());
  return {index, a, declare(*pair.b, base.first_row, base.n_rows), pair.scale};
}

ops::WeightId Recorder::find_reduction(int32_t adapter, const Adapter::Pair& pair) const {
  const std::vector<ops::WeightDecl>& weights = program_.weights;
  const auto at = std::ranges::find_if(weights, [&](const ops::WeightDecl& decl) {
    return decl.adapter == adapter && decl.name == pair.a->name;
  });
  return at == weights.end() ? ops::kNoWeight : static_cast<ops::WeightId>(at - weights.begin());
}

ops::ValueId Recorder::matmul_next(StackedRows& rows, const std::string& name, ops::ValueId x,
                                   int64_t n_out) {
  const int64_t n_in = program_.value(x).width;
  const ops::WeightId weight_id = matrix_rows(rows.tensor, rows.n_rows, rows.next, n_out, n_in);
  rows.next += n_out;
  return matmul(name, x, weight_id);
}

ops::ValueId Recorder::rope(const std::string& name, ops::ValueId x, ops::WeightId factors,
                            int64_t head_dim, const ops::RopeConfig& rope) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::Rope{x, factors, head_dim, rope, out});
  return out;
}

void Recorder::kv_write(const std::string& name, ops::ValueId k, ops::ValueId v, KvLayer layer) {
  program_.add_op(name, ops::KvWrite{k, v, layer.group, layer.layer});
}

ops::ValueId Recorder::attention(const std::string& name, ops::ValueId q, KvLayer layer,
                                 int64_t n_heads, const Scores& scores) {
  const ops::KvGroup& group = program_.kv_groups[static_cast<size_t>(layer.group)];
  const ops::ValueId out = like(name, q, n_heads * group.value_dim);
  program_.add_op(name, ops::Attention{q, layer.group, layer.layer, n_heads, scores.scale, out,
                                       scores.softcap, scores.sinks, scores.causal});
  return out;
}

ops::ValueId Recorder::glu(const std::string& name, ops::ValueId gate, ops::ValueId up,
                           ops::Activation activation) {
  const ops::ValueId out = like(name, gate, program_.value(gate).width);
  program_.add_op(name, ops::Glu{gate, up, activation, out});
  return out;
}

ops::ValueId Recorder::add(const std::string& name, ops::ValueId a, ops::ValueId b) {
  const ops::ValueId out = like(name, a, program_.value(a).width);
  program_.add_op(name, ops::Add{a, b, out});
  return out;
}

ops::ValueId Recorder::softcap(const std::string& name, ops::ValueId x, float cap) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::Softcap{x, cap, out});
  return out;
}

ops::ValueId Recorder::sigmoid_gate(const std::string& name, ops::ValueId x, ops::ValueId gate) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::SigmoidGate{x, gate, out});
  return out;
}

ops::ValueId Recorder::pick(const std::string& name, ops::ValueId x, int64_t first, int64_t n,
                            int64_t stride) {
  const ops::ValueId out = like(name, x, program_.value(x).width / stride * n);
  program_.add_op(name, ops::Pick{x, first, n, stride, out});
  return out;
}

ops::ValueId Recorder::l2_norm(const std::string& name, ops::ValueId x, int64_t head_dim,
                               float eps) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::L2Norm{x, head_dim, eps, out});
  return out;
}

ops::ValueId Recorder::causal_conv(const std::string& name, ops::ValueId x, ops::WeightId weight_id,
                                   KvLayer layer) {
  const ops::ValueId out = like(name, x, program_.value(x).width);
  program_.add_op(name, ops::CausalConv{x, weight_id, layer.group, layer.layer, out});
  return out;
}

ops::ValueId Recorder::delta_gates(const std::string& name, ops::ValueId alpha, ops::ValueId beta,
                                   ops::WeightId a, ops::WeightId dt_bias) {
  const ops::ValueId out = like(name, alpha, 2 * program_.value(alpha).width);
  program_.add_op(name, ops::DeltaGates{alpha, beta, a, dt_bias, out});
  return out;
}

ops::ValueId Recorder::delta_net(const std::string& name, KvLayer layer, ops::DeltaNet net) {
  net.kv_group = layer.group;
  net.layer = layer.layer;
  net.out = like(name, net.v, program_.value(net.v).width);
  program_.add_op(name, net);
  return net.out;
}

ops::ValueId Recorder::route(const std::string& name, ops::ValueId logits, ops::Route route) {
  route.logits = logits;
  route.out = like(name, logits, program_.value(logits).width);
  program_.add_op(name, route);
  return route.out;
}

ops::ValueId Recorder::expert_matmul(const std::string& name, ops::ValueId x, ops::ValueId shares,
                                     int64_t n_used, ops::WeightId weight_id, ops::WeightId bias) {
  const ops::ValueId out = like(name, x, n_used * program_.weight(weight_id).n_rows);
  program_.add_op(name, ops::ExpertMatMul{x, shares, weight_id, bias, n_used, out});
  return out;
}

ops::ValueId Recorder::expert_sum(const std::string& name, ops::ValueId x, ops::ValueId shares,
                                  int64_t n_used) {
  const ops::ValueId out = like(name, x, program_.value(x).width / n_used);
  program_.add_op(name, ops::ExpertSum{x, shares, n_used, out});
  return out;
}

ops::ValueId Recorder::select_outputs(ops::ValueId x) {
  const ops::ValueId out =
      program_.add_value("outputs", ops::Rows::n_outputs, program_.value(x).width);
  program_.add_op("select outputs", ops::SelectOutputs{x, out});
  return out;
}

Result<void> Recorder::check_all_used() const {
  size_t n_unused = 0;
  std::string_view first;
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    if (n_unused++ == 0) first = file_.tensors()[i].name;
  }
  if (n_unused == 0) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("the file has {} tensor{} that its architecture does not use here, first "
                          "{}: answers without them would be wrong",
                          n_unused, n_unused == 1 ? "" : "s", first),
              "convert the model again, or use another one");
}

Result<void> Recorder::check_adapted() const {
  for (size_t i = 0; i < adapters_.size(); ++i)
    for (const Adapter::Pair& pair : adapters_[i].pairs()) {
      if (find_reduction(static_cast<int32_t>(i), pair) == ops::kNoWeight)
        return fail(
            ErrorCode::unsupported,
            fmt::format("{} adapts {}, which is no matrix of a plain product here",
                        adapters_[i].name(), pair.tensor),
            "use an adapter of the matrices of attention and of dense feed-forward networks");
    }
  return {};
}

Result<ops::Program> Recorder::finish() && {
  if (error_) return fail(std::move(*error_));
  HWTV_TRY_VOID(check_all_used());
  HWTV_TRY_VOID(check_adapted());
  ops::check_program(program_);
  return std::move(program_);
}

}  // namespace hwtv::model
