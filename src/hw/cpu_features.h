// What g++ 12 and clang 16 both cannot ask a CPU by __builtin_cpu_supports.
#pragma once

namespace hwtv::hw {

// VNNI's dot product on 256-bit registers, without AVX-512.
bool has_avx_vnni();

// The matrix unit (Intel AMX, int8): the CPU has it, and the operating system lets this process keep
// its registers (8 KiB for each thread). Linux wants to be asked before the first use: here.
bool can_use_amx_int8();

}  // namespace hwtv::hw
