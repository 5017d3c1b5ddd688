// Memory that is in the ledger before it exists: how backends hold weights, caches, activations and
// staging.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "hw/ledger.h"

namespace hwtv::hw {

class Buffer {
 public:
  Buffer() = default;  // holds nothing

  // 64-byte aligned and zeroed, huge pages asked for where they fit: every page is touched here, so
  // that no step waits for one and what is reserved is what the operating system sees.
  // Errors: out_of_memory, from the ledger or from the operating system.  Requires: n_bytes >= 0.
  static Result<Buffer> allocate(Ledger& ledger, Use use, std::string name, int64_t n_bytes);
  // The same, but nothing is touched: whoever fills it first decides on which NUMA node it lies.
  static Result<Buffer> allocate_untouched(Ledger& ledger, Use use, std::string name,
                                           int64_t n_bytes);

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  float* floats() { return reinterpret_cast<float*>(bytes_.get()); }
  const float* floats() const { return reinterpret_cast<const float*>(bytes_.get()); }
  int64_t size_bytes() const { return reservation_.size_bytes(); }

 private:
  struct Unmap {
    size_t n_bytes;
    void operator()(std::byte* bytes) const;
  };
  Reservation reservation_;
  std::unique_ptr<std::byte[], Unmap> bytes_;
};

}  // namespace hwtv::hw
