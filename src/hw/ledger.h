// Who holds which bytes of one device.  Every long-lived byte is reserved here by use and name
// before it exists; predicted, reserved and OS-observed bytes stand side by side.  Any thread may
// call it.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hwtv::hw {

enum class Use { weights, packed_weights, kv, activations, staging, caches, runtime };
inline constexpr int kNUses = 7;
std::string_view use_name(Use use);  // "packed_weights"

class Ledger;

// Bytes held until this object is destroyed.  Requires: the Ledger outlives it.
class [[nodiscard]] Reservation {
 public:
  Reservation() = default;  // holds nothing
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  int64_t size_bytes() const { return size_bytes_; }
  void release();

 private:
  friend class Ledger;
  Reservation(Ledger* ledger, uint64_t id, int64_t size_bytes)
      : ledger_(ledger), id_(id), size_bytes_(size_bytes) {}
  Ledger* ledger_ = nullptr;
  uint64_t id_ = 0;
  int64_t size_bytes_ = 0;
};

class Ledger {
 public:
  struct Holding {
    Use use;
    std::string name;  // "token_embedding", "arena"
    int64_t size_bytes;
  };
  struct Row {
    int64_t predicted_bytes = 0;  // what `plan` said before anything was allocated
    int64_t reserved_bytes = 0;   // now
    int64_t peak_bytes = 0;       // the most ever reserved at once
  };
  struct Report {
    std::array<Row, kNUses> by_use;  // indexed by Use
    Row total;
    int64_t budget_bytes = 0;
    std::optional<int64_t> observed_bytes;  // what the operating system says is held
  };

  // Requires: budget_bytes >= 0.  `device` is the name that messages carry: "cpu:0".
  Ledger(std::string device, int64_t budget_bytes);
  ~Ledger();  // Requires: nothing is reserved any more.
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Errors: out_of_memory, when more than free_bytes(), with both numbers.  Requires: bytes >= 0.
  Result<Reservation> reserve(Use use, std::string name, int64_t bytes);

  void set_predicted(Use use, int64_t bytes);
  void set_observed(int64_t bytes);

  const std::string& device() const { return device_; }
  int64_t budget_bytes() const { return budget_bytes_; }
  int64_t reserved_bytes() const;
  int64_t reserved_bytes(Use use) const;
  int64_t free_bytes() const;
  Report report() const;
  std::vector<Holding> holdings() const;  // largest first

 private:
  friend class Reservation;
  struct Entry {
    uint64_t id;
    Holding holding;
  };
  void release(uint64_t id);
  tl::unexpected<Error> refusal(Use use, int64_t bytes) const;  // Requires: mutex_ is held.

  const std::string device_;
  const int64_t budget_bytes_;
  mutable std::mutex mutex_;
  uint64_t next_id_ = 1;
  std::vector<Entry> entries_;
  Report report_;
};

}  // namespace hwtv::hw
