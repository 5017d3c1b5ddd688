#include "ops/program.h"

#include <utility>

#include "base/check.h"

namespace hwtv::ops {
namespace {

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace

std::string_view weight_role_name(WeightRole role) {
  switch (role) {
    case WeightRole::embedding:
      return "embedding";
    case WeightRole::output:
      return "output";
    case WeightRole::tied_embedding:
      return "tied embedding";
    case WeightRole::matrix:
      return "matrix";
    case WeightRole::norm:
      return "norm";
    case WeightRole::bias:
      return "bias";
    case WeightRole::sinks:
      return "attention sinks";
    case WeightRole::rope_factors:
      return "rope factors";
    case WeightRole::convolution:
      return "convolution";
    case WeightRole::adapter:
      return "adapter";
  }
  return "unknown";
}

std::string_view op_name(const Op& op) {
  return std::visit(
      Match{[](const Embed&) { return "Embed"; }, [](const RmsNorm&) { return "RmsNorm"; },
            [](const LayerNorm&) { return "LayerNorm"; }, [](const MatMul&) { return "MatMul"; },
            [](const Rope&) { return "Rope"; }, [](const KvWrite&) { return "KvWrite"; },
            [](const Attention&) { return "Attention"; }, [](const Glu&) { return "Glu"; },
            [](const Activate&) { return "Activate"; }, [](const Add&) { return "Add"; },
            [](const Softcap&) { return "Softcap"; },
            [](const SigmoidGate&) { return "SigmoidGate"; }, [](const Pick&) { return "Pick"; },
            [](const L2Norm&) { return "L2Norm"; }, [](const CausalConv&) { return "CausalConv"; },
            [](const DeltaGates&) { return "DeltaGates"; },
            [](const DeltaNet&) { return "DeltaNet"; }, [](const Route&) { return "Route"; },
            [](const ExpertMatMul&) { return "ExpertMatMul"; },
            [](const ExpertSum&) { return "ExpertSum"; }, [](const Lora&) { return "Lora"; },
            [](const SelectOutputs&) { return "SelectOutputs"; }},
      op);
}

std::vector<ValueId> op_inputs(const Op& op) {
  using Ids = std::vector<ValueId>;
  return std::visit(
      Match{[](const Embed&) { return Ids{}; }, [](const RmsNorm& o) { return Ids{o.x}; },
            [](const LayerNorm& o) { return Ids{o.x}; }, [](const MatMul& o) { return Ids{o.x}; },
            [](const Rope& o) { return Ids{o.x}; },
            [](const KvWrite& o) {
              return Ids{o.k, o.v};
            },
            [](const Attention& o) { return Ids{o.q}; },
            [](const Glu& o) {
              return Ids{o.gate, o.up};
            },
            [](const Activate& o) { return Ids{o.x}; },
            [](const Add& o) {
              return Ids{o.a, o.b};
            },
            [](const Softcap& o) { return Ids{o.x}; },
            [](const SigmoidGate& o) {
              return Ids{o.x, o.gate};
            },
            [](const Pick& o) { return Ids{o.x}; }, [](const L2Norm& o) { return Ids{o.x}; },
            [](const CausalConv& o) { return Ids{o.x}; },
            [](const DeltaGates& o) {
              return Ids{o.alpha, o.beta};
            },
            [](const DeltaNet& o) {
              return Ids{o.qk, o.v, o.gates};
            },
            [](const Route& o) { return Ids{o.logits}; },
            [](const ExpertMatMul& o) {
              return Ids{o.x, o.shares};
            },
            [](const ExpertSum& o) {
              return Ids{o.x, o.shares};
            },
            [](const Lora& o) {
              return Ids{o.x, o.base};
            },
            [](const SelectOutputs& o) { return Ids{o.x}; }},
      op);
}

ValueId op_output(const Op& op) {
  return std::visit(
      Match{[](const KvWrite&) { return ValueId{-1}; }, [](const auto& o) { return o.out; }}, op);
}

WeightId product_weight(const Op& op) {
  return std::visit(
      Match{[](const MatMul& o) { return o.weight; },
            [](const ExpertMatMul& o) { return o.weight; }, [](const auto&) { return kNoWeight; }},
      op);
}

WeightId Program::add_weight(WeightDecl weight) {
  weights.push_back(std::move(weight));
  return static_cast<WeightId>(weights.size() - 1);
}

ValueId Program::add_value(std::string name, Rows rows, int64_t width) {
  values.push_back({std::move(name), rows, width});
  return static_cast<ValueId>(values.size() - 1);
}

void Program::add_op(std::string name, Op op) { ops.push_back({std::move(name), std::move(op)}); }

namespace {

// Checks the shapes of one op against the program's declarations.
class ShapeCheck {
 public:
  explicit ShapeCheck(const Program& program) : program_(program) {}

  void operator()(const Embed& o) const { same(o.out, Rows::n_tokens, weight(o.weight).width); }
  void operator()(const RmsNorm& o) const {
    CHECK(weight(o.weight).n_rows == 1);
    CHECK(value(o.x).width % weight(o.weight).width == 0);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const LayerNorm& o) const {
    for (const WeightId id : {o.weight, o.bias})
      CHECK(weight(id).n_rows == 1 && weight(id).width == value(o.x).width);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const MatMul& o) const {
    CHECK(value(o.x).width == weight(o.weight).width && weight(o.weight).n_experts == 1);
    if (o.bias != kNoWeight) {
      CHECK(weight(o.bias).n_rows == 1 && weight(o.bias).width == weight(o.weight).n_rows);
    }
    same(o.out, value(o.x).rows, weight(o.weight).n_rows);
  }
  void operator()(const Rope& o) const {
    CHECK(o.head_dim > 0 && value(o.x).width % o.head_dim == 0);
    CHECK(o.rope.n_rotated > 0 && o.rope.n_rotated <= o.head_dim && o.rope.n_rotated % 2 == 0);
    CHECK(o.rope.growth_tokens > 0);
    if (o.factors != kNoWeight) CHECK(weight(o.factors).width == o.rope.n_rotated / 2);
    same(o.out, Rows::n_tokens, value(o.x).width);
  }
  void operator()(const KvWrite& o) const {
    const KvGroup& kv = group(o.kv_group, o.layer);
    same(o.k, Rows::n_tokens, kv.n_kv_heads * kv.head_dim);
    same(o.v, Rows::n_tokens, kv.n_kv_heads * kv.value_dim);
  }
  void operator()(const Attention& o) const {
    const KvGroup& kv = group(o.kv_group, o.layer);
    CHECK(o.n_heads % kv.n_kv_heads == 0);
    CHECK(o.softcap >= 0);
    CHECK(o.causal || kv.window_tokens == 0);
    if (o.sinks != kNoWeight)
      CHECK(weight(o.sinks).n_rows == 1 && weight(o.sinks).width == o.n_heads);
    same(o.q, Rows::n_tokens, o.n_heads * kv.head_dim);
    same(o.out, Rows::n_tokens, o.n_heads * kv.value_dim);
  }
  void operator()(const Glu& o) const {
    same(o.up, value(o.gate).rows, value(o.gate).width);
    same(o.out, value(o.gate).rows, value(o.gate).width);
  }
  void operator()(const Activate& o) const {
    CHECK(o.activation != Activation::clamped_swish);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const Add& o) const {
    same(o.b, value(o.a).rows, value(o.a).width);
    same(o.out, value(o.a).rows, value(o.a).width);
  }
  void operator()(const Softcap& o) const {
    CHECK(o.cap > 0);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const SigmoidGate& o) const {
    CHECK(value(o.gate).rows == value(o.x).rows);
    CHECK(value(o.gate).width >= 1 && value(o.x).width % value(o.gate).width == 0);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const Pick& o) const {
    CHECK(o.first >= 0 && o.n >= 1 && o.first + o.n <= o.stride);
    CHECK(value(o.x).width % o.stride == 0);
    same(o.out, value(o.x).rows, value(o.x).width / o.stride * o.n);
  }
  void operator()(const L2Norm& o) const {
    CHECK(o.head_dim >= 1 && value(o.x).width % o.head_dim == 0);
    same(o.out, value(o.x).rows, value(o.x).width);
  }
  void operator()(const CausalConv& o) const {
    const WeightDecl& channels = weight(o.weight);
    CHECK(channels.n_rows == value(o.x).width && channels.width >= 1);
    CHECK(state(o.kv_group, o.layer) == (channels.width - 1) * channels.n_rows);
    same(o.x, Rows::n_tokens, channels.n_rows);
    same(o.out, Rows::n_tokens, channels.n_rows);
  }
  void operator()(const DeltaGates& o) const {
    const int64_t n_heads = value(o.alpha).width;
    CHECK(weight(o.a).n_rows == 1 && weight(o.a).width == n_heads);
    CHECK(weight(o.dt_bias).n_rows == 1 && weight(o.dt_bias).width == n_heads);
    same(o.beta, value(o.alpha).rows, n_heads);
    same(o.out, value(o.alpha).rows, 2 * n_heads);
  }
  void operator()(const DeltaNet& o) const {
    CHECK(o.n_key_heads >= 1 && o.n_heads >= 1 && o.n_heads % o.n_key_heads == 0);
    CHECK(value(o.qk).width % (2 * o.n_key_heads) == 0 && value(o.v).width % o.n_heads == 0);
    const int64_t key_dim = value(o.qk).width / (2 * o.n_key_heads);
    CHECK(state(o.kv_group, o.layer) == key_dim * value(o.v).width);
    same(o.qk, Rows::n_tokens, value(o.qk).width);
    same(o.v, Rows::n_tokens, value(o.v).width);
    same(o.gates, Rows::n_tokens, 2 * o.n_heads);
    same(o.out, Rows::n_tokens, value(o.v).width);
  }
  void operator()(const Route& o) const {
    CHECK(o.n_used >= 1 && o.n_used <= value(o.logits).width && o.scale > 0);
    same(o.out, value(o.logits).rows, value(o.logits).width);
  }
  void operator()(const ExpertMatMul& o) const {
    const WeightDecl& matrices = weight(o.weight);
    CHECK(o.n_used >= 1 && o.n_used <= matrices.n_experts);
    CHECK(value(o.x).width == matrices.width || value(o.x).width == o.n_used * matrices.width);
    if (o.bias != kNoWeight) {
      CHECK(weight(o.bias).n_rows == matrices.n_experts);
      CHECK(weight(o.bias).width == matrices.n_rows);
    }
    same(o.shares, value(o.x).rows, matrices.n_experts);
    same(o.out, value(o.x).rows, o.n_used * matrices.n_rows);
  }
  void operator()(const ExpertSum& o) const {
    CHECK(o.n_used >= 1 && o.n_used <= value(o.shares).width);
    CHECK(value(o.shares).rows == value(o.x).rows);
    CHECK(value(o.x).width % o.n_used == 0);
    same(o.out, value(o.x).rows, value(o.x).width / o.n_used);
  }
  void operator()(const Lora& o) const {
    std::vector<bool> has_pair(static_cast<size_t>(program_.n_adapters), false);
    for (const LoraPair& pair : o.pairs) {
      CHECK(pair.adapter >= 0 && pair.adapter < program_.n_adapters);
      CHECK(!has_pair[static_cast<size_t>(pair.adapter)]);
      has_pair[static_cast<size_t>(pair.adapter)] = true;
      CHECK(weight(pair.a).width == value(o.x).width);
      CHECK(weight(pair.b).width == weight(pair.a).n_rows);
      CHECK(weight(pair.b).n_rows == value(o.base).width);
    }
    CHECK(value(o.x).rows == value(o.base).rows);
    same(o.out, value(o.base).rows, value(o.base).width);
  }
  void operator()(const SelectOutputs& o) const {
    CHECK(value(o.x).rows == Rows::n_tokens);
    same(o.out, Rows::n_outputs, value(o.x).width);
  }

 private:
  const Value& value(ValueId id) const {
    CHECK(id >= 0 && static_cast<size_t>(id) < program_.values.size());
    return program_.value(id);
  }
  const WeightDecl& weight(WeightId id) const {
    CHECK(id >= 0 && static_cast<size_t>(id) < program_.weights.size());
    return program_.weight(id);
  }
  // Floats of one layer of a group of states.
  int64_t state(int32_t kv_group, int32_t layer) const {
    const KvGroup& states = group(kv_group, layer);
    CHECK(states.is_state());
    return states.state_floats;
  }
  const KvGroup& group(int32_t id, int32_t layer) const {
    CHECK(id >= 0 && static_cast<size_t>(id) < program_.kv_groups.size());
    const KvGroup& kv = program_.kv_groups[static_cast<size_t>(id)];
    CHECK(layer >= 0 && layer < kv.n_layers);
    return kv;
  }
  void same(ValueId id, Rows rows, int64_t width) const {
    CHECK(value(id).rows == rows);
    CHECK(value(id).width == width);
  }

  const Program& program_;
};

}  // namespace

void check_program(const Program& program) {
  std::vector<bool> written(program.values.size(), false);
  for (const NamedOp& named : program.ops) {
    std::visit(ShapeCheck(program), named.op);
    for (const ValueId id : op_inputs(named.op)) CHECK(written[static_cast<size_t>(id)]);
    if (const ValueId out = op_output(named.op); out >= 0) {
      CHECK(!written[static_cast<size_t>(out)]);
      written[static_cast<size_t>(out)] = true;
    }
  }
  for (const Output& output : program.outputs) {
    CHECK(output.value >= 0 && static_cast<size_t>(output.value) < program.values.size());
    CHECK(written[static_cast<size_t>(output.value)]);
    CHECK(program.value(output.value).rows == Rows::n_outputs);
  }
}

}  // namespace hwtv::ops
