#include "bench/ops/op_bench.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ops/work.h"
#include "tests/ops/random_blocks.h"

namespace hwtv::bench {
namespace {

constexpr int64_t kVocabSize = 64;

// A Program that starts from an embedding of `width`; the value is its output.
ops::ValueId start(OpBench& bench, int64_t width, test::Random& random) {
  const ops::WeightId embedding = bench.program.add_weight(
      {"embedding", DType::F32, kVocabSize, width, ops::WeightRole::embedding});
  bench.weights.push_back(test::random_weight(DType::F32, kVocabSize, width, random));
  const ops::ValueId x = bench.program.add_value("x", ops::Rows::n_tokens, width);
  bench.program.add_op("embed", ops::Embed{embedding, x});
  return x;
}

void finish(OpBench& bench, int64_t n_tokens, int64_t first_position, ops::ValueId last) {
  const int64_t width = bench.program.value(last).width;
  const ops::ValueId out = bench.program.add_value("out", ops::Rows::n_outputs, width);
  bench.program.add_op("select", ops::SelectOutputs{last, out});
  bench.program.outputs.push_back({ops::OutputKind::embedding, out});
  bench.n_tokens = n_tokens;
  bench.first_position = first_position;
  bench.limits.n_tokens_max = n_tokens;
  bench.limits.context_tokens_max = first_position + n_tokens;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

OpBench mat_mul_bench(const std::string& name, DType dtype, int64_t n_out, int64_t n_in,
                      int64_t n_tokens, int64_t working_set_bytes) {
  OpBench bench;
  bench.name = name;
  test::Random random(1);
  const ops::ValueId x = start(bench, n_in, random);
  const std::vector<std::byte> bytes = test::random_weight(dtype, n_out, n_in, random);
  const auto n_bytes = static_cast<int64_t>(bytes.size());
  ops::ValueId out = x;
  for (int64_t i = 0; i < std::max<int64_t>(1, working_set_bytes / n_bytes); ++i) {
    const ops::WeightId weight =
        bench.program.add_weight({"matrix", dtype, n_out, n_in, ops::WeightRole::matrix});
    bench.weights.push_back(bytes);
    out = bench.program.add_value("out", ops::Rows::n_tokens, n_out);
    bench.program.add_op("timed", ops::MatMul{x, weight, ops::kNoWeight, out});
  }
  bench.op = "timed";
  finish(bench, n_tokens, 0, out);
  return bench;
}

OpBench attention_bench(const std::string& name, DType kv_dtype, int64_t n_heads, int64_t n_kv_heads,
                        int64_t head_dim, int64_t n_tokens, int64_t first_position,
                        int64_t n_layers) {
  OpBench bench;
  bench.name = name;
  test::Random random(1);
  const ops::ValueId q = start(bench, n_heads * head_dim, random);
  const ops::ValueId k = start(bench, n_kv_heads * head_dim, random);
  bench.program.kv_groups.push_back({.n_layers = static_cast<int32_t>(n_layers),
                                     .n_kv_heads = n_kv_heads,
                                     .head_dim = head_dim,
                                     .value_dim = head_dim});
  ops::ValueId out = q;
  for (int32_t layer = 0; layer < n_layers; ++layer) {
    bench.program.add_op("kv", ops::KvWrite{k, k, 0, layer});
    out = bench.program.add_value("out", ops::Rows::n_tokens, n_heads * head_dim);
    bench.program.add_op("timed", ops::Attention{q, 0, layer, n_heads, 0.125f, out});
  }
  bench.op = "timed";
  bench.limits.k_dtype = bench.limits.v_dtype = kv_dtype;
  finish(bench, n_tokens, first_position, out);
  const int64_t context = bench.limits.context_tokens_max;
  bench.limits.n_kv_blocks = {(context + bench.limits.kv_block_tokens - 1) /
                              bench.limits.kv_block_tokens};
  return bench;
}

Result<Measured> measure(const OpBench& bench, ops::Backend& backend, int n_steps) {
  HWTV_TRY_VOID(backend.spec().supports(bench.program, bench.limits));
  std::vector<ops::WeightHandle> handles;
  for (size_t i = 0; i < bench.weights.size(); ++i) {
    HWTV_TRY(const ops::WeightHandle handle,
             backend.import(bench.program.weights[i], bench.weights[i], {}));
    handles.push_back(handle);
  }
  HWTV_TRY(const auto executable, backend.prepare(bench.program, bench.limits, handles));

  std::vector<int32_t> tokens(static_cast<size_t>(bench.n_tokens));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i % kVocabSize);
  std::vector<int32_t> block_table(
      bench.program.kv_groups.empty() ? 0 : static_cast<size_t>(bench.limits.n_kv_blocks[0]));
  std::iota(block_table.begin(), block_table.end(), 0);
  ops::SliceInput slice;
  slice.n_tokens = bench.n_tokens;
  slice.first_position = bench.first_position;
  if (!block_table.empty()) slice.block_tables = {block_table};
  const std::vector<int32_t> output_rows = {0};
  const ops::StepInput input{tokens, {&slice, 1}, output_rows, true};

  std::vector<double> seconds;
  Measured measured;
  for (int step = -1; step < n_steps; ++step) {  // the first one warms up
    HWTV_TRY(const ops::StepResult result,
             backend.wait(*executable, backend.submit(*executable, input)));
    for (const ops::OpSpan& span : result.spans) {
      if (step < 0 || bench.program.ops[static_cast<size_t>(span.op)].name != bench.op) continue;
      seconds.push_back(span.seconds);
      measured.kernel = span.kernel;
    }
  }
  std::sort(seconds.begin(), seconds.end());
  measured.median_s = percentile(seconds, 0.5);
  measured.spread = (percentile(seconds, 0.9) - percentile(seconds, 0.1)) / measured.median_s;

  const ops::SliceSize slice_size{bench.first_position, bench.n_tokens};
  const ops::StepSizes sizes{.n_tokens = bench.n_tokens,
                             .n_outputs = 1,
                             .n_seqs = 1,
                             .slices = {&slice_size, 1},
                             .k_dtype = bench.limits.k_dtype,
                             .v_dtype = bench.limits.v_dtype};
  for (const ops::NamedOp& named : bench.program.ops) {
    if (named.name != bench.op) continue;
    measured.work = ops::work(bench.program, named.op, sizes);
    measured.working_set_bytes += measured.work.read_bytes;
  }
  return measured;
}

}  // namespace hwtv::bench
