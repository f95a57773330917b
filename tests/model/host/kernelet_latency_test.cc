// SPDX-License-Identifier: Apache-2.0
// The fit of Kernelet's linear memory latency.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "host/kernelet/latency_line.h"
#include "test_options.h"

namespace smk {
namespace {

double Squares(const LatencyLine& line, const std::vector<LatencyPoint>& points) {
  double sum = 0;
  for (const LatencyPoint& p : points) {
    const double off = line.a0 * p.outstanding + line.b0 - p.latency;
    sum += off * off;
  }
  return sum;
}

TEST(KerneletLatency, PointsOnALineGiveTheLine) {
  const LatencyLine line = FitLatencyLine({{1, 407}, {10, 470}, {30, 610}});
  EXPECT_NEAR(line.a0, 7, 1e-9);
  EXPECT_NEAR(line.b0, 400, 1e-9);
  EXPECT_NEAR(line.At(20), 540, 1e-9);
}

// Means 2 and 5; sums about them 2 and 3: a0 = 3/2, b0 = 5 - 3.
TEST(KerneletLatency, LeastSquaresByHand) {
  const LatencyLine line = FitLatencyLine({{1, 4}, {2, 4}, {3, 7}});
  EXPECT_DOUBLE_EQ(line.a0, 1.5);
  EXPECT_DOUBLE_EQ(line.b0, 2);
}

TEST(KerneletLatency, NeitherFallsNorBeginsBelowZero) {
  const LatencyLine flat = FitLatencyLine({{1, 420}, {10, 410}, {20, 400}});
  EXPECT_EQ(flat.a0, 0);
  EXPECT_NEAR(flat.b0, 410, 1e-9);
  const LatencyLine steep = FitLatencyLine({{1, 1}, {2, 1}, {4, 30}});
  EXPECT_EQ(steep.b0, 0);
  EXPECT_NEAR(steep.a0, (1 + 2 + 120) / 21.0, 1e-9);
}

TEST(KerneletLatency, NoLineThatIsAllowedIsNearer) {
  const std::uint64_t seed = GetTestOptions().seed;
  SCOPED_TRACE("--seed=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto draw = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  for (unsigned n = 0; n < 200; ++n) {
    std::vector<LatencyPoint> points;
    for (unsigned i = 0; i < 2 + n % 7; ++i) {
      const double x = i + draw(0, 1);
      points.push_back({x, std::max(1.0, draw(-5, 10) * x + draw(0, 30))});
    }
    const LatencyLine line = FitLatencyLine(points);
    ASSERT_GE(line.a0, 0);
    ASSERT_GE(line.b0, 0);
    for (unsigned i = 0; i < 50; ++i) {
      const LatencyLine other{std::max(0.0, line.a0 + draw(-1, 1)),
                              std::max(0.0, line.b0 + draw(-3, 3))};
      ASSERT_LE(Squares(line, points), Squares(other, points) + 1e-9);
    }
  }
}

TEST(KerneletLatency, TakesOneCycleAtLeast) {
  EXPECT_EQ((LatencyLine{0, 0}.At(0)), 1);
  EXPECT_EQ((LatencyLine{0.1, 0}.At(5)), 1);
}

TEST(KerneletLatency, LastOfSeveralRequestsHasTheOthersBeforeIt) {
  const LatencyLine line = LineOfSeveral({2, 100}, 32);
  EXPECT_EQ(line.a0, 2);
  EXPECT_EQ(line.b0, 162);
  EXPECT_EQ(LineOfSeveral({2, 100}, 1).b0, 100);
}

void Refuses(const std::vector<LatencyPoint>& points, const std::string& line) {
  try {
    FitLatencyLine(points);
    ADD_FAILURE() << "takes what it should refuse with: " << line;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), line);
  }
}

TEST(KerneletLatency, RefusesWhatGivesNoLine) {
  const std::string two = "latency: expected points of at least two numbers of requests";
  const std::string one = "latency: point 1: expected requests of at least 0 and a latency above 0";
  Refuses({}, two);
  Refuses({{1, 400}}, two);
  Refuses({{1, 400}, {1, 410}}, two);
  Refuses({{1, 400}, {2, 0}}, one);
  Refuses({{1, 400}, {-2, 10}}, one);
  Refuses({{1, 400}, {2, std::nan("")}}, one);
  Refuses({{1, 400}, {INFINITY, 5}}, one);
}

}  // namespace
}  // namespace smk
