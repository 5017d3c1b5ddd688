#include "hw/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace hwtv::hw {
std::string_view use_name(Use use) {
  switch (use) {
    case Use::weights:
      return "weights";
    case Use::packed_weights:
      return "packed_weights";
    case Use::kv:
      return "kv";
    case Use::activations:
      return "activations";
    case Use::staging:
      return "staging";
    case Use::caches:
      return "caches";
    case Use::runtime:
      return "runtime";
  }
  CHECK(false);
}

Reservation::Reservation(Reservation&& other) noexcept { *this = std::move(other); }

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  ledger_ = std::exchange(other.ledger_, nullptr);
  id_ = std::exchange(other.id_, 0);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

void Reservation::release() {
  if (ledger_) ledger_->release(id_);
  ledger_ = nullptr;
  size_bytes_ = 0;
}

Ledger::Ledger(std::string device, int64_t budget_bytes)
    : device_(std::move(device)), budget_bytes_(budget_bytes) {
  CHECK(budget_bytes >= 0);
  report_.budget_bytes = budget_bytes;
}

Ledger::~Ledger() { CHECK(entries_.empty()); }

Result<Reservation> Ledger::reserve(Use use, std::string name, int64_t bytes) {
  CHECK(bytes >= 0);
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > budget_bytes_ - report_.total.reserved_bytes) return refusal(use, bytes);
  for (Row* row : {&report_.by_use[static_cast<size_t>(use)], &report_.total}) {
    row->reserved_bytes += bytes;
    row->peak_bytes = std::max(row->peak_bytes, row->reserved_bytes);
  }
  entries_.push_back({next_id_, {use, std::move(name), bytes}});
  return Reservation(this, next_id_++, bytes);
}

tl::unexpected<Error> Ledger::refusal(Use use, int64_t bytes) const {
  const auto largest = std::max_element(
      entries_.begin(), entries_.end(),
      [](const Entry& a, const Entry& b) { return a.holding.size_bytes < b.holding.size_bytes; });
  const int64_t left = budget_bytes_ - report_.total.reserved_bytes;
  std::string advice = fmt::format("ask for at most {}", format_bytes(left));
  if (largest != entries_.end())
    advice += fmt::format(", or free some of the {} that {} ({}) holds",
                          format_bytes(largest->holding.size_bytes), largest->holding.name,
                          use_name(largest->holding.use));
  return fail(ErrorCode::out_of_memory,
              fmt::format("{} needs {} on {}, {} left of {}", use_name(use), format_bytes(bytes),
                          device_, format_bytes(left), format_bytes(budget_bytes_)),
              std::move(advice));
}

void Ledger::release(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [id](const Entry& candidate) { return candidate.id == id; });
  CHECK(entry != entries_.end());
  const Holding& held = entry->holding;
  report_.by_use[static_cast<size_t>(held.use)].reserved_bytes -= held.size_bytes;
  report_.total.reserved_bytes -= held.size_bytes;
  entries_.erase(entry);
}

void Ledger::set_predicted(Use use, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  Row& row = report_.by_use[static_cast<size_t>(use)];
  report_.total.predicted_bytes += bytes - row.predicted_bytes;
  row.predicted_bytes = bytes;
}

void Ledger::set_observed(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  report_.observed_bytes = bytes;
}

int64_t Ledger::reserved_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return report_.total.reserved_bytes;
}

int64_t Ledger::reserved_bytes(Use use) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return report_.by_use[static_cast<size_t>(use)].reserved_bytes;
}

int64_t Ledger::free_bytes() const { return budget_bytes_ - reserved_bytes(); }

Ledger::Report Ledger::report() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return report_;
}

std::vector<Ledger::Holding> Ledger::holdings() const {
  std::vector<Holding> holdings;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) holdings.push_back(entry.holding);
  }
  std::stable_sort(holdings.begin(), holdings.end(),
                   [](const Holding& a, const Holding& b) { return a.size_bytes > b.size_bytes; });
  return holdings;
}

}  // namespace hwtv::hw
