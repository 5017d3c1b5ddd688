#include "observe/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace hwtv::observe {
namespace {

// The nearest-rank quantile of a sorted list.
double exact(const std::vector<double>& sorted, double q) {
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

TEST(Histogram, QuantilesAreWithinABucket) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> latency(std::log(7e-3), 1.0);
  Histogram histogram = Histogram::of_seconds();
  std::vector<double> values(20000);
  for (double& value : values) histogram.add(value = latency(random));
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.5, 0.95, 0.99, 0.999, 1.0})
    EXPECT_NEAR(histogram.quantile(q) / exact(values, q), 1, 0.008) << q;
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.max(), values.back());
  EXPECT_EQ(histogram.n(), 20000);
}

TEST(Histogram, MergingIsTheSameAsAddingAll) {
  Histogram all = Histogram::of_seconds(), a = all, b = all;
  for (int i = 1; i <= 1000; ++i) {
    all.add(i * 1e-4);
    (i % 3 == 0 ? a : b).add(i * 1e-4);
  }
  a.merge(b);
  a.merge(Histogram::of_seconds());
  for (const double q : {0.1, 0.5, 0.9}) EXPECT_EQ(a.quantile(q), all.quantile(q));
  EXPECT_EQ(a.n(), all.n());
  EXPECT_DOUBLE_EQ(a.mean(), all.mean());
  EXPECT_EQ(a.min(), 1e-4);
}

TEST(Histogram, ValuesOutsideTheBoundsCountAtTheEnds) {
  Histogram histogram(1, 100);
  for (const double value : {-5.0, 0.0, 0.5, 1e9, static_cast<double>(INFINITY)})
    histogram.add(value);
  EXPECT_EQ(histogram.n(), 5);
  EXPECT_EQ(histogram.min(), -5);
  EXPECT_LE(histogram.quantile(0.5), 1.02);
  EXPECT_GE(histogram.quantile(1), 100);
}

TEST(Histogram, EmptyIsZero) {
  EXPECT_EQ(Histogram::of_seconds().quantile(0.99), 0);
  EXPECT_EQ(Histogram::of_seconds().mean(), 0);
}

TEST(Histogram, OneValueIsEveryQuantile) {
  Histogram histogram = Histogram::of_seconds();
  histogram.add(0.123);
  EXPECT_EQ(histogram.quantile(0), 0.123);
  EXPECT_EQ(histogram.quantile(0.99), 0.123);
}

}  // namespace
}  // namespace hwtv::observe
