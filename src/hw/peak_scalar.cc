// What the compiler makes of plain loops for the baseline of the program: SSE4.2 or NEON.
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

typedef float F32x4 __attribute__((vector_size(16)));
typedef uint64_t U64x2 __attribute__((vector_size(16), aligned(8)));

constexpr size_t kBlockBytes = 256, kAheadBytes = 4096;
constexpr int kAccumulators = 8, kDotBytes = 1024;

uint64_t read(const void* data, size_t n_bytes) {
  const char* at = static_cast<const char*>(data);
  const char* const end = at + n_bytes;
  U64x2 sum[4] = {};
  for (; end - at >= static_cast<ptrdiff_t>(kBlockBytes); at += kBlockBytes) {
    for (size_t line = 0; line < kBlockBytes; line += 64)
      __builtin_prefetch(at + kAheadBytes + line);
#pragma GCC unroll 16
    for (size_t i = 0; i < kBlockBytes / sizeof(U64x2); ++i)
      sum[i % 4] += reinterpret_cast<const U64x2*>(at)[i];
  }
  const U64x2 all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  uint64_t total = all[0] + all[1];
  for (; at < end; ++at) total += static_cast<unsigned char>(*at);
  return total;
}

// As if the value came from elsewhere: equal chains would be computed once.
void make_opaque(F32x4& value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(value));
#endif
}

float multiply_add(int64_t n_rounds) {
  F32x4 sum[kAccumulators] = {};
  F32x4 a = {1, 1, 1, 1}, b = {1e-9f, 1e-9f, 1e-9f, 1e-9f};
  for (F32x4& part : sum) make_opaque(part);
  make_opaque(a);
  make_opaque(b);
  for (int64_t round = 0; round < n_rounds; ++round)
#pragma GCC unroll 8
    for (int i = 0; i < kAccumulators; ++i) sum[i] = sum[i] * a + b;
  F32x4 all = {};
  for (const F32x4& part : sum) all += part;
  return all[0] + all[1] + all[2] + all[3];
}

int32_t dot_int8(int64_t n_rounds) {
  int8_t a[kDotBytes], b[kDotBytes];
  for (int i = 0; i < kDotBytes; ++i) a[i] = static_cast<int8_t>(i), b[i] = 1;
  uint32_t total = 0;
  for (int64_t round = 0; round < n_rounds; ++round) {
    asm volatile("" ::"r"(a), "r"(b) : "memory");  // as if they had changed
    int32_t sum = 0;
    for (int i = 0; i < kDotBytes; ++i) sum += a[i] * b[i];
    total += static_cast<uint32_t>(sum);
  }
  return static_cast<int32_t>(total);
}

}  // namespace

const PeakKernels kPeakScalar = {"scalar",     read, multiply_add, dot_int8, kAccumulators * 4 * 2,
                                 kDotBytes * 2};

}  // namespace hwtv::hw
