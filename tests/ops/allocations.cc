#include "tests/ops/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> n_calls{0};

void* allocate(std::size_t n_bytes, std::size_t alignment) {
  n_calls.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (n_bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (!memory) std::abort();
  return memory;
}

}  // namespace

// The array forms are defined by the library in terms of these.  The nothrow form (stable_sort uses
// it) is ours too: under the address sanitizer the library's would not go with our delete.
void* operator new(std::size_t n_bytes) { return allocate(n_bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t n_bytes, const std::nothrow_t&) noexcept {
  return allocate(n_bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t n_bytes, std::align_val_t alignment) {
  return allocate(n_bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace hwtv::test {

int64_t n_allocations() { return n_calls.load(); }

}  // namespace hwtv::test
