#include "hw/buffer.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/units.h"

namespace hwtv::hw {

Result<Buffer> Buffer::allocate(Ledger& ledger, Use use, std::string name, int64_t n_bytes) {
  Buffer buffer;
  HWTV_TRY(buffer.reservation_, ledger.reserve(use, name, n_bytes));
  const size_t rounded = (static_cast<size_t>(n_bytes) + 63) / 64 * 64;
  buffer.bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  if (!buffer.bytes_ && n_bytes > 0)
    return fail(ErrorCode::out_of_memory,
                fmt::format("the operating system refused {} for {}",
                            format_bytes(static_cast<double>(n_bytes)), name),
                "use a smaller model or context, or end other programs");
  if (n_bytes > 0) std::memset(buffer.bytes_.get(), 0, rounded);
  return buffer;
}

}  // namespace hwtv::hw
