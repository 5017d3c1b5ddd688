#include "tests/ops/naive.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "ops/dequantize.h"
#include "ops/quantize.h"

namespace hwtv::test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Rows decode_weight(const ops::WeightDecl& decl, const std::vector<std::byte>& bytes) {
  Rows rows;
  std::vector<float> row(static_cast<size_t>(decl.width));
  for (int64_t i = 0; i < decl.n_experts * decl.n_rows; ++i) {
    ops::dequantize_row(decl.dtype, bytes.data() + i * dtype_bytes(decl.dtype, decl.width),
                        row.data(), decl.width);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

// What is left of a row that has been in the cache.
Row through_cache(const Row& row, DType dtype) {
  std::vector<float> floats(row.begin(), row.end());
  const auto n = static_cast<int64_t>(floats.size());
  std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(dtype, n)));
  ops::quantize_row(dtype, floats.data(), bytes.data(), n);
  ops::dequantize_row(dtype, bytes.data(), floats.data(), n);
  return {floats.begin(), floats.end()};
}

double dot(const double* a, const double* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

class Evaluation {
 public:
  explicit Evaluation(const OpCase& op_case)
      : case_(op_case), program_(op_case.program), values_(op_case.program.values.size()) {
    for (size_t i = 0; i < program_.weights.size(); ++i)
      weights_.push_back(decode_weight(program_.weights[i], op_case.weights[i]));
  }

  std::vector<std::vector<double>> step(const CaseStep& step, const CaseInput& input) {
    step_ = &step;
    input_ = &input;
    for (const ops::NamedOp& named : program_.ops)
      std::visit([this](const auto& op) { evaluate(op); }, named.op);
    std::vector<std::vector<double>> outputs;
    for (const ops::Output& output : program_.outputs) {
      std::vector<double>& flat = outputs.emplace_back();
      for (const Row& row : value(output.value)) flat.insert(flat.end(), row.begin(), row.end());
    }
    return outputs;
  }

 private:
  Rows& value(ops::ValueId id) { return values_[static_cast<size_t>(id)]; }
  const Rows& weight(ops::WeightId id) const { return weights_[static_cast<size_t>(id)]; }

  // each(slice, index in input, row, position) for every token.
  template <typename Each>
  void for_each_token(const Each& each) const {
    for (size_t s = 0; s < step_->size(); ++s) {
      const ops::SliceInput& slice = input_->slices[s];
      for (int64_t i = 0; i < slice.n_tokens; ++i)
        each((*step_)[s].sequence, static_cast<size_t>(slice.first_row + i),
             slice.first_position + i);
    }
  }

  void evaluate(const ops::Embed& op) {
    value(op.out).clear();
    for_each_token([&](int32_t, size_t row, int64_t position) {
      int64_t at = input_->tokens[row];
      if (op.by == ops::EmbedBy::position) at = position;
      if (op.by == ops::EmbedBy::nothing) at = 0;
      Row values = weight(op.weight)[static_cast<size_t>(at)];
      for (double& x : values) x *= static_cast<double>(op.scale);
      value(op.out).push_back(std::move(values));
    });
  }

  void evaluate(const ops::RmsNorm& op) {
    const Row& gain = weight(op.weight)[0];
    value(op.out) = value(op.x);
    for (Row& row : value(op.out))
      for (size_t first = 0; first < row.size(); first += gain.size()) {
        double* x = row.data() + first;
        const double mean = dot(x, x, gain.size()) / static_cast<double>(gain.size());
        for (size_t i = 0; i < gain.size(); ++i)
          x[i] = x[i] / std::sqrt(mean + static_cast<double>(op.eps)) * gain[i];
      }
  }

  void evaluate(const ops::LayerNorm& op) {
    value(op.out) = value(op.x);
    for (Row& row : value(op.out)) {
      const auto n = static_cast<double>(row.size());
      double mean = 0, variance = 0;
      for (const double x : row) mean += x / n;
      for (const double x : row) variance += (x - mean) * (x - mean) / n;
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / std::sqrt(variance + static_cast<double>(op.eps)) *
                     weight(op.weight)[0][i] +
                 weight(op.bias)[0][i];
    }
  }

  void evaluate(const ops::MatMul& op) {
    Rows out;
    for (const Row& x : value(op.x)) {
      Row& y = out.emplace_back();
      for (const Row& w : weight(op.weight)) y.push_back(dot(x.data(), w.data(), x.size()));
      if (op.bias != ops::kNoWeight)
        for (size_t i = 0; i < y.size(); ++i) y[i] += weight(op.bias)[0][i];
    }
    value(op.out) = std::move(out);
  }

  void evaluate(const ops::Lora& op) {
    const bool is_output = program_.value(op.x).rows == ops::Rows::n_outputs;
    Rows out = value(op.base);
    for (size_t row = 0; row < out.size(); ++row) {
      const int64_t token = is_output ? input_->output_rows[row] : static_cast<int64_t>(row);
      for (const ops::SliceInput& slice : input_->slices) {
        if (token < slice.first_row || token >= slice.first_row + slice.n_tokens) continue;
        for (const ops::LoraPair& pair : op.pairs)
          if (std::ranges::count(slice.adapters, pair.adapter) > 0)
            add_pair(pair, value(op.x)[row], out[row]);
      }
    }
    value(op.out) = std::move(out);
  }
  void add_pair(const ops::LoraPair& pair, const Row& x, Row& out) const {
    Row inner;
    for (const Row& a : weight(pair.a)) inner.push_back(dot(x.data(), a.data(), x.size()));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] += static_cast<double>(pair.scale) *
                dot(inner.data(), weight(pair.b)[i].data(), inner.size());
  }

  void evaluate(const ops::Rope& op) {
    value(op.out) = value(op.x);
    const auto head_dim = static_cast<size_t>(op.head_dim);
    const auto n_pairs = static_cast<size_t>(op.rope.n_rotated / 2);
    std::vector<float> factors;
    if (op.factors != ops::kNoWeight)
      factors.assign(weight(op.factors)[0].begin(), weight(op.factors)[0].end());
    // Part of the interface, rounding included; rope_test.cc holds it against the formulas.
    const std::vector<float> frequencies = ops::rope_frequencies(op.rope, factors);
    for_each_token([&](int32_t, size_t row, int64_t position) {
      Row& x = value(op.out)[row];
      const double contexts =
          std::floor(static_cast<double>(position) / static_cast<double>(op.rope.growth_tokens));
      const double magnitude = op.rope.magnitude * (1 + op.rope.growth * std::log(1 + contexts));
      for (size_t head = 0; head < x.size(); head += head_dim)
        for (size_t pair = 0; pair < n_pairs; ++pair) {
          const double angle =
              static_cast<double>(position) * static_cast<double>(frequencies[pair]);
          const bool adjacent = op.rope.pairs == ops::RopeConfig::Pairs::adjacent;
          double& a = x[head + (adjacent ? 2 * pair : pair)];
          double& b = x[head + (adjacent ? 2 * pair + 1 : pair + n_pairs)];
          const double rotated = a * std::cos(angle) - b * std::sin(angle);
          b = (a * std::sin(angle) + b * std::cos(angle)) * magnitude;
          a = rotated * magnitude;
        }
    });
  }

  // Keys and values by position, by head, of one layer and sequence.
  struct Past {
    std::vector<Rows> keys;
    std::vector<Rows> values;
  };
  Past& past(int32_t group, int32_t layer, int32_t sequence) {
    return past_[{group, layer, sequence}];
  }

  static Rows heads_of(const Row& row, int64_t head_dim, DType dtype) {
    Rows heads;
    for (auto at = row.begin(); at != row.end(); at += head_dim)
      heads.push_back(through_cache(Row(at, at + head_dim), dtype));
    return heads;
  }

  void evaluate(const ops::KvWrite& op) {
    const ops::KvGroup& kv = program_.kv_groups[static_cast<size_t>(op.kv_group)];
    for_each_token([&](int32_t sequence, size_t row, int64_t) {
      Past& cache = past(op.kv_group, op.layer, sequence);
      cache.keys.push_back(heads_of(value(op.k)[row], kv.head_dim, case_.limits.k_dtype));
      cache.values.push_back(heads_of(value(op.v)[row], kv.value_dim, case_.limits.v_dtype));
    });
  }

  void evaluate(const ops::Attention& op) {
    const ops::KvGroup& kv = program_.kv_groups[static_cast<size_t>(op.kv_group)];
    const auto n_heads = static_cast<size_t>(op.n_heads);
    const size_t shared = n_heads / static_cast<size_t>(kv.n_kv_heads);
    const auto head_dim = static_cast<size_t>(kv.head_dim);
    value(op.out).assign(value(op.q).size(), {});
    for_each_token([&](int32_t sequence, size_t row, int64_t position) {
      const Past& cache = past(op.kv_group, op.layer, sequence);
      for (size_t head = 0; head < n_heads; ++head) {
        const double* q = value(op.q)[row].data() + head * head_dim;
        Row weights(op.causal ? static_cast<size_t>(position + 1) : cache.keys.size());
        double sum = 0;
        for (size_t t = 0; t < weights.size(); ++t) {
          const size_t n_later = weights.size() - t;
          if (kv.window_tokens > 0 && n_later > static_cast<size_t>(kv.window_tokens)) continue;
          double score =
              dot(q, cache.keys[t][head / shared].data(), head_dim) * static_cast<double>(op.scale);
          if (op.softcap > 0) score = soft_capped(score, op.softcap);
          weights[t] = std::exp(score);
          sum += weights[t];
        }
        if (op.sinks != ops::kNoWeight) sum += std::exp(weight(op.sinks)[0][head]);
        Row out(static_cast<size_t>(kv.value_dim));
        for (size_t t = 0; t < weights.size(); ++t)
          for (size_t d = 0; d < out.size(); ++d)
            out[d] += weights[t] / sum * cache.values[t][head / shared][d];
        Row& all_heads = value(op.out)[row];
        all_heads.insert(all_heads.end(), out.begin(), out.end());
      }
    });
  }

  void evaluate(const ops::Glu& op) {
    value(op.out) = value(op.up);
    for (size_t row = 0; row < value(op.out).size(); ++row)
      for (size_t i = 0; i < value(op.out)[row].size(); ++i) {
        double& y = value(op.out)[row][i];
        if (op.activation == ops::Activation::clamped_swish) y = (y > 7 ? 7 : y < -7 ? -7 : y) + 1;
        y *= activated(op.activation, value(op.gate)[row][i]);
      }
  }

  void evaluate(const ops::Activate& op) {
    value(op.out) = value(op.x);
    for (Row& row : value(op.out))
      for (double& x : row) x = activated(op.activation, x);
  }

  static double activated(ops::Activation activation, double x) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3));
    if (activation == ops::Activation::silu) return x * sigmoid(x);
    if (activation == ops::Activation::gelu_tanh) return x / 2 * (1 + std::tanh(inner));
    if (activation == ops::Activation::gelu) return x / 2 * (1 + std::erf(x / std::sqrt(2)));
    const double gate = x > 7 ? 7 : x;
    return gate * sigmoid(1.702 * gate);
  }

  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  void evaluate(const ops::SigmoidGate& op) {
    value(op.out) = value(op.x);
    for (size_t row = 0; row < value(op.out).size(); ++row) {
      const Row& gate = value(op.gate)[row];
      const size_t n_neighbours = value(op.out)[row].size() / gate.size();
      for (size_t i = 0; i < value(op.out)[row].size(); ++i)
        value(op.out)[row][i] *= sigmoid(gate[i / n_neighbours]);
    }
  }

  void evaluate(const ops::Pick& op) {
    value(op.out).clear();
    const auto stride = static_cast<size_t>(op.stride);
    for (const Row& x : value(op.x)) {
      Row& out = value(op.out).emplace_back();
      for (size_t i = 0; i < x.size(); ++i)
        if (i % stride >= static_cast<size_t>(op.first) &&
            i % stride < static_cast<size_t>(op.first + op.n))
          out.push_back(x[i]);
    }
  }

  void evaluate(const ops::L2Norm& op) {
    value(op.out) = value(op.x);
    const auto n = static_cast<size_t>(op.head_dim);
    for (Row& row : value(op.out))
      for (size_t first = 0; first < row.size(); first += n) {
        double* x = row.data() + first;
        const double length = std::sqrt(dot(x, x, n) + static_cast<double>(op.eps));
        for (size_t i = 0; i < n; ++i) x[i] /= length;
      }
  }

  void evaluate(const ops::CausalConv& op) {
    const Rows& kernels = weight(op.weight);
    value(op.out) = value(op.x);
    for_each_token([&](int32_t sequence, size_t row, int64_t) {
      Rows& seen = states_[{op.kv_group, op.layer, sequence}];
      seen.push_back(value(op.x)[row]);
      for (size_t channel = 0; channel < kernels.size(); ++channel) {
        double sum = 0;
        for (size_t back = 0; back < kernels[channel].size() && back < seen.size(); ++back)
          sum += kernels[channel][kernels[channel].size() - 1 - back] *
                 seen[seen.size() - 1 - back][channel];
        value(op.out)[row][channel] = sum * sigmoid(sum);
      }
    });
  }

  void evaluate(const ops::DeltaGates& op) {
    value(op.out) = value(op.alpha);
    for (size_t row = 0; row < value(op.out).size(); ++row) {
      Row& out = value(op.out)[row];
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = std::exp(weight(op.a)[0][i] *
                          std::log(1 + std::exp(out[i] + weight(op.dt_bias)[0][i])));
      for (const double beta : value(op.beta)[row]) out.push_back(sigmoid(beta));
    }
  }

  void evaluate(const ops::DeltaNet& op) {
    value(op.out) = value(op.v);
    const auto n_heads = static_cast<size_t>(op.n_heads);
    const auto n_key_heads = static_cast<size_t>(op.n_key_heads);
    for_each_token([&](int32_t sequence, size_t row, int64_t) {
      const Row &qk = value(op.qk)[row], &gates = value(op.gates)[row];
      const size_t key_dim = qk.size() / 2 / n_key_heads;
      const size_t value_dim = value(op.v)[row].size() / n_heads;
      Rows& columns = states_[{op.kv_group, op.layer, sequence}];  // (n_heads * value_dim, key_dim)
      columns.resize(n_heads * value_dim, Row(key_dim));
      for (size_t at = 0; at < columns.size(); ++at) {
        const size_t head = at / value_dim;
        const size_t key_head = op.interleaved ? head % n_key_heads : head * n_key_heads / n_heads;
        const double* q = qk.data() + key_head * key_dim;
        const double* k = q + n_key_heads * key_dim;
        Row& state = columns[at];
        for (double& x : state) x *= gates[head];
        const double change =
            gates[n_heads + head] * (value(op.v)[row][at] - dot(k, state.data(), key_dim));
        for (size_t i = 0; i < key_dim; ++i) state[i] += k[i] * change;
        value(op.out)[row][at] = static_cast<double>(op.scale) * dot(q, state.data(), key_dim);
      }
    });
  }

  void evaluate(const ops::Route& op) {
    value(op.out).clear();
    for (const Row& logits : value(op.logits)) {
      Row shares;
      double all = 0, chosen = 0;
      for (const double logit : logits)
        shares.push_back(op.routing == ops::Routing::softmax ? std::exp(logit) : sigmoid(logit));
      for (const double share : shares) all += share;
      for (size_t i = 0; i < shares.size(); ++i) {
        int64_t n_before = 0;
        for (size_t j = 0; j < shares.size(); ++j)
          n_before += logits[j] > logits[i] || (logits[j] == logits[i] && j < i);
        if (n_before >= op.n_used) shares[i] = 0;
        chosen += shares[i];
      }
      if (op.routing == ops::Routing::sigmoid) all = 1;
      for (double& share : shares)
        share *= static_cast<double>(op.scale) / (op.normalized ? chosen : all);
      value(op.out).push_back(std::move(shares));
    }
  }

  void evaluate(const ops::ExpertMatMul& op) {
    const ops::WeightDecl& decl = program_.weight(op.weight);
    const auto n_out = static_cast<size_t>(decl.n_rows), n_in = static_cast<size_t>(decl.width);
    value(op.out).clear();
    for (size_t row = 0; row < value(op.x).size(); ++row) {
      const Row& x = value(op.x)[row];
      Row& out = value(op.out).emplace_back();
      size_t slot = 0;
      for (size_t expert = 0; expert < value(op.shares)[row].size(); ++expert) {
        if (value(op.shares)[row][expert] == 0) continue;
        const double* from = x.data() + (x.size() > n_in ? slot * n_in : 0);
        for (size_t i = 0; i < n_out; ++i) {
          out.push_back(dot(from, weight(op.weight)[expert * n_out + i].data(), n_in));
          if (op.bias != ops::kNoWeight) out.back() += weight(op.bias)[expert][i];
        }
        ++slot;
      }
    }
  }

  void evaluate(const ops::ExpertSum& op) {
    value(op.out).clear();
    for (size_t row = 0; row < value(op.x).size(); ++row) {
      const Row& x = value(op.x)[row];
      Row& out = value(op.out).emplace_back(x.size() / static_cast<size_t>(op.n_used));
      size_t slot = 0;
      for (const double share : value(op.shares)[row]) {
        if (share == 0) continue;
        for (size_t i = 0; i < out.size(); ++i) out[i] += share * x[slot * out.size() + i];
        ++slot;
      }
    }
  }

  void evaluate(const ops::Add& op) {
    value(op.out) = value(op.a);
    for (size_t row = 0; row < value(op.out).size(); ++row)
      for (size_t i = 0; i < value(op.out)[row].size(); ++i)
        value(op.out)[row][i] += value(op.b)[row][i];
  }

  static double soft_capped(double x, float cap) {
    return static_cast<double>(cap) * std::tanh(x / static_cast<double>(cap));
  }

  void evaluate(const ops::Softcap& op) {
    value(op.out) = value(op.x);
    for (Row& row : value(op.out))
      for (double& x : row) x = soft_capped(x, op.cap);
  }

  void evaluate(const ops::SelectOutputs& op) {
    value(op.out).clear();
    for (const int32_t row : input_->output_rows)
      value(op.out).push_back(value(op.x)[static_cast<size_t>(row)]);
  }

  const OpCase& case_;
  const ops::Program& program_;
  std::vector<Rows> weights_;  // by WeightId
  std::vector<Rows> values_;   // by ValueId
  std::map<std::tuple<int32_t, int32_t, int32_t>, Past> past_;
  // By kv_group, layer and sequence, likewise: what a state has to remember.
  std::map<std::tuple<int32_t, int32_t, int32_t>, Rows> states_;
  const CaseStep* step_ = nullptr;
  const CaseInput* input_ = nullptr;
};

}  // namespace

NaiveOutputs evaluate_naively(const OpCase& op_case) {
  Evaluation evaluation(op_case);
  const CaseInputs inputs(op_case);
  NaiveOutputs outputs;
  for (size_t i = 0; i < op_case.steps.size(); ++i)
    outputs.push_back(evaluation.step(op_case.steps[i], inputs.steps()[i]));
  return outputs;
}

}  // namespace hwtv::test
