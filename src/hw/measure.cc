#include "hw/measure.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <numeric>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "hw/cpu_features.h"
#include "hw/peak_kernels.h"

namespace hwtv::hw {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kHugePageBytes = 2 * kMiB;

std::vector<const PeakKernels*> runnable_kernels() {
  std::vector<const PeakKernels*> kernels;
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  if (vnni && can_use_amx_int8()) kernels.push_back(&kPeakAmx);
  if (vnni) kernels.push_back(&kPeakAvx512Vnni);
  if (avx512) kernels.push_back(&kPeakAvx512);
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && has_avx_vnni()) kernels.push_back(&kPeakAvxVnni);
  if (avx2) kernels.push_back(&kPeakAvx2);
#endif
  kernels.push_back(&kPeakScalar);
  return kernels;
}

// Keeps the compiler from dropping a computation whose result nobody wants.
template <typename T>
void keep(const T& value) {
  asm volatile("" ::"m"(value) : "memory");
}

// Anonymous memory that begins at a multiple of the huge page's size.
class PageBuffer {
 public:
  static Result<PageBuffer> make(int64_t n_bytes, Pages pages) {
    const int64_t mapped = (n_bytes + 2 * kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    void* at = ::mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      return fail(ErrorCode::out_of_memory,
                  fmt::format("a bandwidth probe needs {} of address space",
                              format_bytes(static_cast<double>(mapped))),
                  "probe a smaller buffer, or raise the limit (ulimit -v)");
    if (pages == Pages::huge) ::madvise(at, static_cast<size_t>(mapped), MADV_HUGEPAGE);
    return PageBuffer(static_cast<char*>(at), mapped);
  }
  PageBuffer(PageBuffer&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), mapped_(other.mapped_) {}
  PageBuffer& operator=(PageBuffer&&) = delete;
  ~PageBuffer() {
    if (at_) ::munmap(at_, static_cast<size_t>(mapped_));
  }

  char* data() const {
    const auto address = reinterpret_cast<uintptr_t>(at_);
    const auto page = static_cast<uintptr_t>(kHugePageBytes);
    return at_ + ((address + page - 1) / page * page - address);
  }

 private:
  PageBuffer(char* at, int64_t mapped) : at_(at), mapped_(mapped) {}
  char* at_;
  int64_t mapped_;
};

// Member `member`'s slice of a buffer; cut at cache lines.
struct Slice {
  int64_t begin, end;
  Slice(int64_t n_bytes, int member, int n_members)
      : begin(cut(n_bytes, member, n_members)), end(cut(n_bytes, member + 1, n_members)) {}
  size_t size() const { return static_cast<size_t>(end - begin); }

 private:
  static int64_t cut(int64_t n_bytes, int member, int n_members) {
    return member == n_members ? n_bytes : n_bytes / n_members * member / 64 * 64;
  }
};

// Seconds of one run of the team in which every member reads its slice n_passes times.
double time_reads(ThreadTeam& team, const char* data, int64_t n_bytes, int64_t n_passes,
                  const PeakKernels& kernels) {
  SteadyClock clock;
  const double start_s = clock.now_s();
  team.run([&](int member) {
    const Slice slice(n_bytes, member, team.n_threads());
    for (int64_t pass = 0; pass < n_passes; ++pass)
      keep(kernels.read(data + slice.begin, slice.size()));
  });
  return clock.now_s() - start_s;
}

// Doubles the amount until a run takes long enough for the clock and for waking the team.  The best
// of three counts: on a busy machine any single run may take long for no reason of its own.
template <typename Run>
int64_t amount_for(double at_least_s, const Run& seconds_of) {
  for (int64_t amount = 1;; amount *= 2) {
    const double best_s = std::min({seconds_of(amount), seconds_of(amount), seconds_of(amount)});
    if (best_s >= at_least_s || amount >= int64_t{1} << 40) return amount;
  }
}

// What all members together can compute: each finds the best of many slices too short to be
// preempted in (0.25 ms), while the others do the same.
template <typename Loop>
double best_rate(ThreadTeam& team, double ops_per_round, const Loop& loop) {
  std::vector<double> rates(static_cast<size_t>(team.n_threads()));
  team.run([&](int member) {
    SteadyClock clock;
    const auto seconds_of = [&](int64_t n_rounds) {
      const double start_s = clock.now_s();
      keep(loop(n_rounds));
      return clock.now_s() - start_s;
    };
    const int64_t n_rounds = amount_for(0.00025, seconds_of);
    double best_s = seconds_of(n_rounds);
    for (int slice = 0; slice < 40; ++slice) best_s = std::min(best_s, seconds_of(n_rounds));
    rates[static_cast<size_t>(member)] = static_cast<double>(n_rounds) * ops_per_round / best_s;
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// CPU seconds that this process has used.
double used_s() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

IsaPeak peak_of(ThreadTeam& team, const PeakKernels& kernels) {
  return {kernels.isa, best_rate(team, kernels.flops_per_round, kernels.multiply_add),
          best_rate(team, kernels.int8_ops_per_round, kernels.dot_int8)};
}

std::vector<int64_t> buffer_sizes(const Device& device) {
  int64_t l2_bytes = 2 * kMiB;
  for (const CacheLevel& cache : device.caches)
    if (cache.name == "L2") l2_bytes = cache.total_bytes;
  const int64_t most = std::max(device.available_bytes / 8, kMiB);
  std::vector<int64_t> sizes;
  for (const int64_t size : {l2_bytes / 2, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB})
    if (size <= most && (sizes.empty() || size > sizes.back())) sizes.push_back(size);
  if (sizes.empty()) sizes.push_back(most);
  return sizes;
}

}  // namespace

std::vector<std::string> runnable_isas() {
  std::vector<std::string> isas;
  for (const PeakKernels* kernels : runnable_kernels()) isas.emplace_back(kernels->isa);
  return isas;
}

Result<ReadBandwidth> measure_read_bandwidth(ThreadTeam& team, int64_t n_bytes, Pages pages,
                                             double at_least_s) {
  CHECK(n_bytes > 0);
  HWTV_TRY(const PageBuffer buffer, PageBuffer::make(n_bytes, pages));
  char* const data = buffer.data();
  team.run([&](int member) {
    const Slice slice(n_bytes, member, team.n_threads());
    std::memset(data + slice.begin, 1, slice.size());
  });
  const PeakKernels& kernels = *runnable_kernels().front();
  const auto seconds_of = [&](int64_t n_passes) {
    return time_reads(team, data, n_bytes, n_passes, kernels);
  };
  const int64_t n_passes = amount_for(0.002, seconds_of);  // the first pass also warms up
  std::vector<double> times_s;
  double total_s = 0;
  while (times_s.size() < 3 || total_s < at_least_s) {
    times_s.push_back(seconds_of(n_passes));
    total_s += times_s.back();
  }
  std::sort(times_s.begin(), times_s.end());
  const double run_bytes = static_cast<double>(n_bytes) * static_cast<double>(n_passes);
  ReadBandwidth read;
  read.buffer_bytes = n_bytes;
  read.bytes_per_s = run_bytes / times_s.front();
  read.median_bytes_per_s = run_bytes / times_s[times_s.size() / 2];
  read.n_passes = static_cast<int64_t>(times_s.size()) * n_passes;
  return read;
}

IsaPeak measure_peak(ThreadTeam& team, std::string_view isa) {
  const auto all = runnable_kernels();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const PeakKernels* one) { return one->isa == isa; });
  CHECK(found != all.end());
  return peak_of(team, **found);
}

Result<Rates> measure_rates(ThreadTeam& team, const Device& device) {
  SteadyClock clock;
  const double start_s = clock.now_s(), start_used_s = used_s();
  Rates rates;
  rates.n_threads = team.n_threads();
  for (const PeakKernels* kernels : runnable_kernels())
    rates.isas.push_back(peak_of(team, *kernels));
  for (const int64_t n_bytes : buffer_sizes(device)) {
    HWTV_TRY(ReadBandwidth read, measure_read_bandwidth(team, n_bytes, Pages::ordinary, 0.05));
    read.level = memory_level(device, static_cast<double>(n_bytes));
    rates.read.push_back(std::move(read));
  }
  rates.measured_in_s = clock.now_s() - start_s;
  const double granted = device.quota_cpus > 0
                             ? std::min<double>(device.quota_cpus, team.n_threads())
                             : team.n_threads();
  rates.cpu_share = (used_s() - start_used_s) / (rates.measured_in_s * granted);
  return rates;
}

}  // namespace hwtv::hw
