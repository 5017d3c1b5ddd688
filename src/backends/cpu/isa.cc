#include "backends/cpu/isa.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "hw/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hwtv::cpu {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvxVnniKernels;
extern const Kernels kAvx512Kernels;
extern const Kernels kAvx512VnniKernels;
extern const Kernels kAmxKernels;
#endif

namespace {

#if defined(__x86_64__)
bool has_f16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
bool can_run_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool can_run_avxvnni() { return can_run_avx2() && hw::has_avx_vnni(); }
bool can_run_avx512() {
  return can_run_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}
bool can_run_avx512vnni() { return can_run_avx512() && __builtin_cpu_supports("avx512vnni"); }
bool can_run_amx() { return can_run_avx512vnni() && hw::can_use_amx_int8(); }
#endif

constexpr Isa kIsas[] = {
#if defined(__x86_64__)
    {&kAmxKernels, can_run_amx},
    {&kAvx512VnniKernels, can_run_avx512vnni},
    {&kAvx512Kernels, can_run_avx512},
    {&kAvxVnniKernels, can_run_avxvnni},
    {&kAvx2Kernels, can_run_avx2},
#endif
    {&kScalarKernels, [] { return true; }},
};

std::string runnable_names() {
  std::string names;
  for (const Isa& isa : kIsas) {
    if (!isa.can_run()) continue;
    if (!names.empty()) names += ", ";
    names += isa.name();
  }
  return names;
}

}  // namespace

std::span<const Isa> isas() { return kIsas; }

Result<const Kernels*> kernels_named(std::string_view name) {
  for (const Isa& isa : kIsas) {
    if (isa.name() != name) continue;
    if (isa.can_run()) return isa.kernels;
    return fail(ErrorCode::unsupported,
                fmt::format("this machine cannot run the instruction set {}", name),
                fmt::format("use one of {}", runnable_names()));
  }
  return fail(ErrorCode::invalid_request,
              fmt::format("there are no kernels for the instruction set \"{}\"", name),
              fmt::format("use one of {}", runnable_names()));
}

bool is_isa_forced() {
  const char* const name = std::getenv("HWTV_ISA");
  return name && *name;
}

Result<const Kernels*> chosen_kernels() {
  if (is_isa_forced()) {
    auto kernels = kernels_named(std::getenv("HWTV_ISA"));
    if (!kernels) {
      Error& error = kernels.error();
      error.what = "HWTV_ISA: " + error.what;
      error.advice += ", or unset HWTV_ISA";
    }
    return kernels;
  }
  for (const Isa& isa : kIsas)
    if (isa.can_run()) return isa.kernels;
  return &kScalarKernels;
}

}  // namespace hwtv::cpu
