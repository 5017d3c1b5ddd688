#include "app/energy.h"

#include <gtest/gtest.h>

namespace hwtv::app {
namespace {

EnergyReading reading(int64_t package, int64_t core, int64_t dram) {
  return std::vector<probe::EnergyZone>{
      {"package-0", package, 1000}, {"core", core, 1000}, {"dram", dram, 1000}};
}

TEST(Energy, CountsPackagesAndMemoryAndNoPartTwice) {
  EXPECT_NEAR(joules_between(reading(100, 50, 10), reading(400, 350, 30)).value(), 320e-6, 1e-12);
}

TEST(Energy, ACounterMayWrapOnce) {
  EXPECT_NEAR(joules_between(reading(900, 0, 0), reading(100, 0, 0)).value(), 200e-6, 1e-12);
}

TEST(Energy, SaysWhatCannotBeRead) {
  const EnergyReading none = probe::unobserved(probe::Why::absent, "/sys/class/powercap");
  EXPECT_EQ(joules_between(none, none).error().what, "/sys/class/powercap");
  EnergyReading denied = reading(1, 1, 1);
  denied->front().microjoules = probe::unobserved(probe::Why::denied, "energy_uj");
  EXPECT_EQ(joules_between(reading(0, 0, 0), denied).error().what, "energy_uj");
  EXPECT_FALSE(joules_between(std::vector<probe::EnergyZone>{}, std::vector<probe::EnergyZone>{}));
}

}  // namespace
}  // namespace hwtv::app
