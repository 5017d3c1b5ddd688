#include "hw/ledger.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace hwtv::hw {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(Ledger, ReservesAndReleasesByUse) {
  Ledger ledger("cpu:0", 100);
  {
    auto weights = ledger.reserve(Use::weights, "token_embedding", 60);
    ASSERT_TRUE(weights);
    auto kv = ledger.reserve(Use::kv, "blocks", 40);
    ASSERT_TRUE(kv);
    EXPECT_EQ(ledger.free_bytes(), 0);
    EXPECT_EQ(ledger.reserved_bytes(Use::weights), 60);
    EXPECT_EQ(ledger.holdings().at(0).name, "token_embedding");
    EXPECT_TRUE(ledger.reserve(Use::runtime, "nothing", 0));
  }
  EXPECT_EQ(ledger.free_bytes(), 100);
  const Ledger::Report report = ledger.report();
  EXPECT_EQ(report.total.peak_bytes, 100);
  EXPECT_EQ(report.by_use[static_cast<size_t>(Use::kv)].peak_bytes, 40);
  EXPECT_EQ(report.by_use[static_cast<size_t>(Use::kv)].reserved_bytes, 0);
}

TEST(Ledger, ARefusalHasBothNumbersAndAWayOut) {
  Ledger ledger("cpu:0", 20 * kGiB);
  const auto weights = ledger.reserve(Use::weights, "model", 20 * kGiB - kGiB / 2);
  const auto kv = ledger.reserve(Use::kv, "blocks", 6 * kGiB);
  ASSERT_FALSE(kv);
  EXPECT_EQ(kv.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(kv.error().what, "kv needs 6.00 GiB on cpu:0, 512.0 MiB left of 20.00 GiB");
  EXPECT_EQ(kv.error().advice,
            "ask for at most 512.0 MiB, or free some of the 19.50 GiB that model (weights) holds");
  EXPECT_EQ(ledger.reserved_bytes(Use::kv), 0);
}

TEST(Ledger, ARequestNearTheEndOfInt64IsRefusedNotWrapped) {
  Ledger ledger("cpu:0", 100);
  const auto some = ledger.reserve(Use::kv, "blocks", 50);
  EXPECT_FALSE(ledger.reserve(Use::kv, "more", INT64_MAX));
}

TEST(Ledger, AMovedReservationIsReleasedOnce) {
  Ledger ledger("cpu:0", 100);
  Reservation outer;
  {
    auto inner = ledger.reserve(Use::staging, "a", 30);
    ASSERT_TRUE(inner);
    outer = std::move(*inner);
  }
  EXPECT_EQ(ledger.reserved_bytes(), 30);
  auto other = ledger.reserve(Use::staging, "b", 20);
  outer = std::move(*other);  // releases "a"
  EXPECT_EQ(ledger.reserved_bytes(), 20);
  EXPECT_EQ(outer.size_bytes(), 20);
  outer.release();
  EXPECT_EQ(ledger.reserved_bytes(), 0);
  EXPECT_EQ(outer.size_bytes(), 0);
}

TEST(Ledger, PredictedReservedObservedSideBySide) {
  Ledger ledger("cpu:0", 1000);
  ledger.set_predicted(Use::weights, 500);
  ledger.set_predicted(Use::weights, 400);  // replaces
  ledger.set_predicted(Use::kv, 100);
  EXPECT_FALSE(ledger.report().observed_bytes);
  ledger.set_observed(512);
  const Ledger::Report report = ledger.report();
  EXPECT_EQ(report.total.predicted_bytes, 500);
  EXPECT_EQ(*report.observed_bytes, 512);
  EXPECT_EQ(report.budget_bytes, 1000);
}

TEST(Ledger, ThreadsNeverPassTheBudget) {
  constexpr int64_t kBudget = 1000;
  Ledger ledger("cpu:0", kBudget);
  std::vector<std::thread> threads;
  std::atomic<int> n_granted{0}, n_refused{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const auto held = ledger.reserve(static_cast<Use>(t % kNUses), "x", 200 + 10 * t);
        held ? ++n_granted : ++n_refused;
        const Ledger::Report report = ledger.report();
        int64_t sum = 0;
        for (const Ledger::Row& row : report.by_use) sum += row.reserved_bytes;
        ASSERT_EQ(sum, report.total.reserved_bytes);
        ASSERT_LE(report.total.reserved_bytes, kBudget);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_granted + n_refused, 16000);
  EXPECT_EQ(ledger.reserved_bytes(), 0);
  EXPECT_LE(ledger.report().total.peak_bytes, kBudget);
  EXPECT_GT(ledger.report().total.peak_bytes, 0);
}

TEST(LedgerDeathTest, OutlivingTheLedgerIsABug) {
  EXPECT_DEATH(
      {
        auto ledger = std::make_unique<Ledger>("cpu:0", 100);
        auto held = ledger->reserve(Use::kv, "blocks", 1);
        ledger.reset();
      },
      "entries_.empty");
}

}  // namespace
}  // namespace hwtv::hw
