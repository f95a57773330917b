// SPDX-License-Identifier: Apache-2.0
// Distributions have the means and shares that the file states, over many warps and TBs.
#include <map>

#include "model/workload/rig.h"

namespace smk {
namespace {

constexpr unsigned kTbs = 20000;

// How often each trip count occurs, in parts of all TBs; warp 0 of each.
std::map<unsigned, double> TripShares(const std::string& trips, unsigned warp = 0) {
  TestFile file;
  file.grid = "grid = [20000]";
  file.program = "loop i " + trips + " {\nalu a =\n}";
  const KernelSpec kernel = file.Parse()->kernels[0];
  std::map<unsigned, double> shares;
  for (unsigned tb = 0; tb < kTbs; ++tb) {
    shares[CountOf(Walk(kernel, TestWarp(kernel, tb, warp)), OpClass::kAlu)] += 1.0 / kTbs;
  }
  return shares;
}

double Mean(const std::map<unsigned, double>& shares) {
  double mean = 0;
  for (const auto& [value, share] : shares) mean += value * share;
  return mean;
}

TEST(WorkloadRandom, UniformTripsAreEquallyLikely) {
  const auto shares = TripShares("per warp uniform 3 7");
  ASSERT_EQ(shares.size(), 5u);
  for (const auto& [value, share] : shares) EXPECT_NEAR(share, 0.2, 0.015) << value;
}

TEST(WorkloadRandom, WeightedTripsHaveTheirWeights) {
  const auto shares = TripShares("per tb weighted 49:11 28:44 16:45");
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_NEAR(shares.at(49), 0.11, 0.01);
  EXPECT_NEAR(shares.at(28), 0.44, 0.015);
  EXPECT_NEAR(shares.at(16), 0.45, 0.015);
}

TEST(WorkloadRandom, GeometricTripsHaveTheirMeanAndDecay) {
  const auto shares = TripShares("per warp geometric 5 max 1000");
  EXPECT_NEAR(Mean(shares), 5, 0.15);
  EXPECT_NEAR(shares.at(1), 0.2, 0.01);
  EXPECT_NEAR(shares.at(2), 0.16, 0.01);
  EXPECT_EQ(shares.count(0), 0u);
}

TEST(WorkloadRandom, GeometricTripsStopAtTheirMaximum) {
  const auto shares = TripShares("per warp geometric 5 max 6");
  EXPECT_EQ(shares.rbegin()->first, 6u);
  EXPECT_NEAR(shares.at(6), 0.32768, 0.015) << "all that is above the maximum";
}

TEST(WorkloadRandom, WarpsOfATbShareDrawsPerTbOnly) {
  TestFile file;
  file.grid = "grid = [20000]";
  for (const bool per_tb : {true, false}) {
    file.program =
        std::string("loop i per ") + (per_tb ? "tb" : "warp") + " uniform 1 8 {\nalu a =\n}";
    const KernelSpec kernel = file.Parse()->kernels[0];
    unsigned same = 0;
    for (unsigned tb = 0; tb < 4000; ++tb) {
      const auto a = Walk(kernel, TestWarp(kernel, tb, 0));
      const auto b = Walk(kernel, TestWarp(kernel, tb, 3));
      same += a.size() == b.size() ? 1 : 0;
    }
    if (per_tb) {
      EXPECT_EQ(same, 4000u);
    } else {
      EXPECT_NEAR(same / 4000.0, 1.0 / 8, 0.03);
    }
  }
}

TEST(WorkloadRandom, SidesAreTakenWithTheirProbabilities) {
  TestFile file;
  file.grid = "grid = [20000]";
  file.program = "if chance 0.086 both 0.555 {\nalu a =\n} else {\nimul b =\n}";
  const KernelSpec kernel = file.Parse()->kernels[0];
  double first = 0;
  double second = 0;
  double both = 0;
  for (unsigned tb = 0; tb < kTbs; ++tb) {
    const auto steps = Walk(kernel, TestWarp(kernel, tb, tb % 4));
    const bool a = CountOf(steps, OpClass::kAlu) != 0;
    const bool b = CountOf(steps, OpClass::kImul) != 0;
    EXPECT_TRUE(a || b);
    (a && b ? both : a ? first : second) += 1.0 / kTbs;
  }
  EXPECT_NEAR(first, 0.086, 0.01);
  EXPECT_NEAR(both, 0.555, 0.012);
  EXPECT_NEAR(second, 0.359, 0.012);
}

TEST(WorkloadRandom, DrawsOfDifferentTripsAndPlacesAreIndependent) {
  TestFile file;
  file.program =
      "loop i 1000 {\nif chance 0.5 {\nalu a =\n}\nif chance 0.5 {\nimul b =\n}\nbranch\n}";
  const KernelSpec kernel = file.Parse()->kernels[0];
  unsigned pairs[2][2] = {};
  for (unsigned tb = 0; tb < 16; ++tb) {
    bool a = false;
    bool b = false;
    for (const WalkedStep& step : Walk(kernel, TestWarp(kernel, tb, 0))) {
      a = a || step.op == OpClass::kAlu;
      b = b || step.op == OpClass::kImul;
      if (step.op != OpClass::kBranch) continue;
      ++pairs[a ? 1 : 0][b ? 1 : 0];
      a = b = false;
    }
  }
  for (const auto& row : pairs) {
    for (const unsigned count : row) EXPECT_NEAR(count / 16000.0, 0.25, 0.015);
  }
}

TEST(WorkloadRandom, GathersTouchTheirMeanNumberOfLines) {
  for (const double mean : {1.0, 1.4, 3.5, 17.2, 32.0}) {
    TestFile file;
    file.grid = "grid = [20000]";
    file.program = "load_global v = [a] gather " + std::to_string(mean) + " window 64K";
    const KernelSpec kernel = file.Parse()->kernels[0];
    double lines = 0;
    for (unsigned tb = 0; tb < kTbs; ++tb) {
      lines += static_cast<double>(Walk(kernel, TestWarp(kernel, tb, 0), true)[0].lines.size());
    }
    EXPECT_NEAR(lines / kTbs, mean, 0.01 * mean) << mean;
  }
}

TEST(WorkloadRandom, GathersCoverTheirWindowEvenly) {
  TestFile file;
  file.grid = "grid = [20000]";
  file.program = "load_global v = [a + 128K] gather 4 window 2K";
  const KernelSpec kernel = file.Parse()->kernels[0];
  std::map<std::uint64_t, unsigned> hits;
  for (unsigned tb = 0; tb < kTbs; ++tb) {
    const auto steps = Walk(kernel, TestWarp(kernel, tb, 0), true);
    for (const auto line : steps[0].lines) ++hits[line];
  }
  ASSERT_EQ(hits.size(), 16u);
  EXPECT_EQ(hits.begin()->first, 128u * 1024);
  for (const auto& [line, count] : hits) EXPECT_NEAR(count / (4.0 * kTbs), 1.0 / 16, 0.003) << line;
}

TEST(WorkloadRandom, FarLinesLeaveTheWindowAsOftenAsStated) {
  TestFile file;
  file.grid = "grid = [20000]";
  file.program = "load_global v = [a] gather 4 window 2K far 0.25";
  const KernelSpec kernel = file.Parse()->kernels[0];
  double far = 0;
  for (unsigned tb = 0; tb < kTbs; ++tb) {
    const auto steps = Walk(kernel, TestWarp(kernel, tb, 0), true);
    for (const auto line : steps[0].lines) far += line >= 2048 ? 1 : 0;
  }
  EXPECT_NEAR(far / (4.0 * kTbs), 0.25, 0.01);
}

}  // namespace
}  // namespace smk
