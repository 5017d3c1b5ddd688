// bench_ops [--tiny] [FILTER]: the CPU backend's kernels on the shapes of real models, one line each:
// median and spread over the repetitions, bandwidth, operations, share of what this machine was
// measured to do at best.  HWTV_ISA chooses the kernels.  --tiny: a run of a second, without shares.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "backends/cpu/cpu_backend.h"
#include "base/units.h"
#include "bench/ops/op_bench.h"
#include "hw/device_context.h"

namespace hwtv::bench {
namespace {

struct Options {
  bool tiny = false;
  std::string_view filter;
};

std::vector<OpBench> benches(const Options& options) {
  const int64_t working_set_bytes = options.tiny ? 1 : int64_t{96} << 20;
  const int64_t n_prefill_tokens = options.tiny ? 5 : 512;
  std::vector<OpBench> all;
  const auto add_mat_mul = [&](std::string name, DType dtype, int64_t n_out, int64_t n_in,
                               int64_t n_tokens, int64_t bytes) {
    name += fmt::format(" {} x {}", dtype_name(dtype), n_tokens);
    if (name.find(options.filter) != std::string::npos)
      all.push_back(mat_mul_bench(name, dtype, n_out, n_in, n_tokens, bytes));
  };
  size_t n_types = 0;
  const DTypeInfo* types = dtype_table(&n_types);
  for (size_t i = 0; i < n_types; ++i) {
    const DType dtype = types[i].dtype;
    if (dtype == DType::I32) continue;
    // Llama-3.2-1B's ffn_up; at 256 wide where all should run in a second.
    const int64_t n_in = options.tiny ? 256 : 2048, n_out = options.tiny ? 48 : 8192;
    for (const int64_t n_tokens : {int64_t{1}, n_prefill_tokens})
      add_mat_mul("mat_mul", dtype, n_out, n_in, n_tokens, n_tokens == 1 ? working_set_bytes : 1);
  }
  if (!options.tiny) {  // SmolLM2-135M: small matrices show what handing out the work costs
    add_mat_mul("smollm2 ffn_up", DType::Q4_1, 1536, 576, 1, working_set_bytes);
    add_mat_mul("smollm2 attn_k", DType::Q4_1, 192, 576, 1, working_set_bytes / 16);
    add_mat_mul("smollm2 output", DType::Q8_0, 49152, 576, 1, working_set_bytes);
  }
  const int64_t context = options.tiny ? 300 : 4096;
  for (const DType dtype : {DType::F16, DType::Q8_0})
    for (const int64_t n_tokens : {int64_t{1}, n_prefill_tokens}) {
      const std::string name =
          fmt::format("attention {} x {} after {}", dtype_name(dtype), n_tokens, context);
      if (name.find(options.filter) != std::string::npos)  // Llama-3.2-1B's heads
        all.push_back(
            attention_bench(name, dtype, 32, 8, 64, n_tokens, context, n_tokens == 1 ? 8 : 1));
    }
  return all;
}

void print(const OpBench& bench, const Measured& measured, const hw::Rates* rates,
           std::string_view isa) {
  const double bytes_per_s = measured.work.moved_bytes() / measured.median_s;
  std::string line = fmt::format("{:28} {:28} {:>9} +-{:3.0f} % {:>10} {:8.1f} Gop/s", bench.name,
                                 measured.kernel, format_seconds(measured.median_s),
                                 50 * measured.spread, format_bandwidth(bytes_per_s),
                                 measured.work.n_ops() / measured.median_s / 1e9);
  if (rates) {
    const hw::Peak peak = rates->peak(measured.working_set_bytes, isa);
    line += fmt::format(" {:4.0f} % of peak",
                        100 * hw::seconds(peak, measured.work) / measured.median_s);
  }
  std::puts(line.c_str());
  std::fflush(stdout);
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what.c_str(), error.advice.c_str());
  return 1;
}

int run(const Options& options) {
  const auto device = hw::DeviceContext::open_cpu();
  const hw::Rates* rates = nullptr;
  if (!options.tiny) {
    const auto measured = device->rates();
    if (!measured) return fail_with(measured.error());
    rates = *measured;
  }
  for (const OpBench& bench : benches(options)) {
    // A backend for each: its weights go with it.
    const auto backend = cpu::CpuBackend::make(*device);
    if (!backend) return fail_with(backend.error());
    const auto measured = measure(bench, **backend, options.tiny ? 2 : 9);
    if (!measured) return fail_with(measured.error());
    print(bench, *measured, rates, (*backend)->isa());
  }
  return 0;
}

}  // namespace
}  // namespace hwtv::bench

int main(int argc, char** argv) {
  hwtv::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--tiny")
      options.tiny = true;
    else
      options.filter = argv[i];
  }
  return hwtv::bench::run(options);
}
