#include "app/measured_limits.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "app/backend_choice.h"
#include "hw/measure.h"

namespace hwtv::app {

double step_weight_bytes(const ops::Program& program) {
  double n_bytes = 0;
  std::vector<bool> whole(program.weights.size(), false);
  for (const ops::NamedOp& named : program.ops)
    if (const auto* product = std::get_if<ops::MatMul>(&named.op)) {
      whole[static_cast<size_t>(product->weight)] = true;
      if (product->bias != ops::kNoWeight) whole[static_cast<size_t>(product->bias)] = true;
    } else if (const auto* experts = std::get_if<ops::ExpertMatMul>(&named.op)) {
      const ops::WeightDecl& weight = program.weight(experts->weight);
      const int64_t bias_bytes =
          experts->bias == ops::kNoWeight ? 0 : program.weight(experts->bias).matrix_bytes();
      n_bytes += static_cast<double>(experts->n_used * weight.matrix_bytes() +
                                     experts->n_used * bias_bytes / weight.n_experts);
    } else if (const auto* norm = std::get_if<ops::RmsNorm>(&named.op)) {
      whole[static_cast<size_t>(norm->weight)] = true;
    } else if (const auto* lora = std::get_if<ops::Lora>(&named.op)) {
      for (const ops::LoraPair& pair : lora->pairs)
        whole[static_cast<size_t>(pair.a)] = whole[static_cast<size_t>(pair.b)] = true;
    }
  for (size_t i = 0; i < whole.size(); ++i)
    if (whole[i]) n_bytes += static_cast<double>(program.weights[i].n_bytes());
  for (const ops::NamedOp& named : program.ops)
    if (const auto* embed = std::get_if<ops::Embed>(&named.op)) {
      const ops::WeightDecl& weight = program.weight(embed->weight);
      n_bytes += static_cast<double>(dtype_bytes(weight.dtype, weight.width));
    }
  return n_bytes;
}

double kv_token_bytes(const ops::Program& program, const engine::EngineConfig& config) {
  double n_bytes = 0;
  for (const ops::KvGroup& group : program.kv_groups)
    n_bytes += static_cast<double>(ops::kv_token_bytes(group, config.k_dtype, config.v_dtype));
  return n_bytes;
}

double kv_token_bytes(const Session& session) {
  return kv_token_bytes(session.model().program(), session.engine().config());
}

double mean_context_tokens(int64_t n_prompt, int64_t n_decoded) {
  return static_cast<double>(n_prompt) + (static_cast<double>(n_decoded) + 1) / 2;
}

double cache_step_bytes(const Session& session, int64_t n_prompt, int64_t n_decoded) {
  double state_bytes = 0;
  for (const ops::KvGroup& group : session.model().program().kv_groups)
    state_bytes += 2 * static_cast<double>(ops::kv_state_bytes(group));
  return state_bytes + kv_token_bytes(session) * mean_context_tokens(n_prompt, n_decoded);
}

std::string main_kernel(const Session& session) {
  const ops::Program& program = session.model().program();
  const std::vector<std::string> kernels = session.engine().executable().kernels();
  std::vector<std::pair<double, std::string>> by_name;
  for (size_t i = 0; i < program.ops.size() && i < kernels.size(); ++i) {
    const ops::WeightId product = ops::product_weight(program.ops[i].op);
    if (product == ops::kNoWeight) continue;
    const double n_bytes = static_cast<double>(program.weight(product).n_bytes());
    const auto at = std::find_if(by_name.begin(), by_name.end(),
                                 [&](const auto& entry) { return entry.second == kernels[i]; });
    if (at == by_name.end())
      by_name.emplace_back(n_bytes, kernels[i]);
    else
      at->first += n_bytes;
  }
  return by_name.empty() ? "" : std::max_element(by_name.begin(), by_name.end())->second;
}

const char* compute_kind(const hw::Work& work) {
  return work.int8_ops > work.flops ? "int8" : "f32";
}

double measure_compute_limit(Session& session, std::string_view kind) {
  const hw::IsaPeak peak =
      hw::measure_peak(session.device().team(), instruction_set(session.options().backend));
  return kind == "int8" ? peak.int8_ops_per_s : peak.flops_per_s;
}

BandwidthLimit measure_bandwidth_limit(Session& session, double n_bytes) {
  if (n_bytes < 1) return {};
  // Such pages as most of the weights lie in: the file's, or those that tiles ask for.
  const ops::BytesByUse held = session.engine().executable().reserved();
  const auto pages = held.packed_weights > held.weights ? hw::Pages::huge : hw::Pages::ordinary;
  const auto read = session.device().measure_read(static_cast<int64_t>(n_bytes), pages);
  if (!read) return {};
  return {read->bytes_per_s, read->median_bytes_per_s, read->level};
}

}  // namespace hwtv::app
