#include "hw/cpu_features.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace hwtv::hw {

#if defined(__x86_64__) && defined(__linux__)
bool has_avx_vnni() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1u << 4)) != 0;  // [Intel SDM, CPUID]
}

bool can_use_amx_int8() {
  constexpr unsigned kTile = 1u << 24, kInt8 = 1u << 25;  // of EDX, leaf 7 [Intel SDM, CPUID]
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM [Linux, x86/xstate]
  unsigned a, b, c, d;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kTile) == 0 || (d & kInt8) == 0) return false;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool has_avx_vnni() { return false; }
bool can_use_amx_int8() { return false; }
#endif

}  // namespace hwtv::hw
