#include "hw/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "base/units.h"

namespace hwtv::hw {

void Buffer::Unmap::operator()(std::byte* bytes) const { ::munmap(bytes, n_bytes); }

Result<Buffer> Buffer::allocate_untouched(Ledger& ledger, Use use, std::string name,
                                          int64_t n_bytes) {
  Buffer buffer;
  HWTV_TRY(buffer.reservation_, ledger.reserve(use, name, n_bytes));
  if (n_bytes == 0) return buffer;
  const auto size = static_cast<size_t>(n_bytes);
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return fail(ErrorCode::out_of_memory,
                fmt::format("the operating system refused {} for {}",
                            format_bytes(static_cast<double>(n_bytes)), name),
                "use a smaller model or context, or end other programs");
  ::madvise(at, size, MADV_HUGEPAGE);  // where refused, ordinary pages do
  buffer.bytes_ = {static_cast<std::byte*>(at), Unmap{size}};
  return buffer;
}

Result<Buffer> Buffer::allocate(Ledger& ledger, Use use, std::string name, int64_t n_bytes) {
  HWTV_TRY(Buffer buffer, allocate_untouched(ledger, use, std::move(name), n_bytes));
  if (n_bytes > 0) std::memset(buffer.data(), 0, static_cast<size_t>(n_bytes));
  return buffer;
}

}  // namespace hwtv::hw
