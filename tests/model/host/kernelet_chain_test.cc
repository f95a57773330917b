// SPDX-License-Identifier: Apache-2.0
// Kernelet's Markov chain: hand-worked chains, and laws that hold for all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "host/kernelet/warp_chain.h"
#include "test_options.h"

namespace smk {
namespace {

ChainMemory Latency(double cycles, double per_request = 0, double requests = 32) {
  ChainMemory memory;
  memory.coalesced = {per_request, cycles};
  memory.uncoalesced = LineOfSeveral(memory.coalesced, requests);
  memory.requests = requests;
  return memory;
}

double Ipc(unsigned warps, double memory_ratio, const ChainMemory& memory) {
  return WarpChain({{warps, memory_ratio}}, memory).Ipc().total;
}

class KerneletChain : public testing::Test {
 protected:
  double Draw(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  unsigned DrawNumber(unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(random_);
  }
  ChainKernel DrawKernel(unsigned most_warps, bool both) {
    return {DrawNumber(1, most_warps), Draw(0, 0.9), both ? Draw(0.1, 0.9) : 0};
  }

 private:
  std::uint64_t seed_ = GetTestOptions().seed;
  testing::ScopedTrace trace_{__FILE__, __LINE__, "--seed=" + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
};

// A memory instruction costs L idle cycles, any instruction one of its own.
TEST_F(KerneletChain, OneWarpIssuesOneInstructionPerCycleAndItsLatencies) {
  for (const double ratio : {0.01, 0.1, 0.5, 0.99}) {
    for (const double latency : {1.0, 2.0, 40.0, 400.0}) {
      EXPECT_NEAR(Ipc(1, ratio, Latency(latency)), 1 / (1 + ratio * latency), 1e-12);
    }
  }
  // A latency of 40 that counts the cycle of issue as well: 1 / (1 + R_m (L - 1)).
  EXPECT_NEAR(Ipc(1, 0.25, Latency(40 - 1)), 1 / (1 + 0.25 * (40 - 1)), 1e-12);
  // One request is outstanding.
  EXPECT_NEAR(Ipc(1, 0.5, Latency(30, 10)), 1 / (1 + 0.5 * 40), 1e-12);
}

TEST_F(KerneletChain, OneWarpWaitsAsLongAsEachKindOfAccessTakes) {
  const double ratio = 0.2, part = 0.3;
  const ChainMemory memory = Latency(40, 2, 16);
  const double coalesced = 2 * 1 + 40, uncoalesced = 2 * (16 + 15) + 40;
  const double cycles = 1 + ratio * ((1 - part) * coalesced + part * uncoalesced);
  EXPECT_NEAR(WarpChain({{1, ratio, part}}, memory).Ipc().total, 1 / cycles, 1e-12);
  EXPECT_NEAR(WarpChain({{1, ratio, 1}}, memory).Ipc().total, 1 / (1 + ratio * uncoalesced), 1e-12);
}

// R_m = 1/2 and L = 4: from no idle warp to 0, 1, 2 with 4, 8, 4 of 16, from one with 2, 8, 6, from
// two with 1, 6, 9. So pi = (1, 4, 4) / 9, in rounds of 2, 1 and 1 cycles, of which 2, 1, 0 issue.
TEST_F(KerneletChain, TwoWarpsByHand) {
  const WarpChain chain({{2, 0.5}}, Latency(4));
  const double rows[3][3] = {{4, 8, 4}, {2, 8, 6}, {1, 6, 9}};
  for (std::uint32_t s = 0; s < 3; ++s) {
    std::vector<Transition> row;
    chain.From(s, 0, &row);
    ASSERT_EQ(row.size(), 3u);
    for (const Transition& t : row) EXPECT_DOUBLE_EQ(t.probability, rows[s][t.to] / 16);
  }
  const std::vector<double> pi = chain.Steady();
  EXPECT_NEAR(pi[0], 1.0 / 9, 1e-14);
  EXPECT_NEAR(pi[1], 4.0 / 9, 1e-14);
  EXPECT_NEAR(pi[2], 4.0 / 9, 1e-14);
  EXPECT_NEAR(chain.Ipc().total, 0.6, 1e-14);
}

// One warp that computes beside one with R_m = 1/2 and L = 4: a third of the rounds have both
// ready and two cycles, the others one.
TEST_F(KerneletChain, TwoKernelsByHand) {
  const ChainIpc ipc = WarpChain({{1, 0}, {1, 0.5}}, Latency(4)).Ipc();
  EXPECT_NEAR(ipc.kernel[0], 0.75, 1e-14);
  EXPECT_NEAR(ipc.kernel[1], 0.25, 1e-14);
  EXPECT_NEAR(ipc.total, 1, 1e-14);
}

TEST_F(KerneletChain, WithoutMemoryEveryCycleIssues) {
  for (const unsigned warps : {1u, 2u, 16u, 64u}) {
    EXPECT_NEAR(Ipc(warps, 0, Latency(400, 5)), 1, 1e-12);
  }
  const ChainIpc both = WarpChain({{3, 0}, {5, 0}}, Latency(400)).Ipc();
  EXPECT_NEAR(both.kernel[0], 3.0 / 8, 1e-12) << "every ready warp issues once in a round";
  EXPECT_NEAR(both.kernel[1], 5.0 / 8, 1e-12);
  // Also where BiCGSTAB solves it.
  ChainLimits sparse;
  sparse.dense_states = 0;
  EXPECT_NEAR(WarpChain({{16, 0}}, Latency(400), sparse).Ipc().total, 1, 1e-12);
}

TEST_F(KerneletChain, EqualKernelsAreLikeOneOfAllTheirWarps) {
  for (unsigned n = 0; n < 20; ++n) {
    const bool both = n % 5 == 0;
    const ChainKernel a = DrawKernel(both ? 5 : 12, both);
    ChainKernel b = a, all = a;
    b.warps = DrawNumber(1, both ? 4 : 12);
    const double latency = Draw(1, 500);
    const ChainMemory memory = Latency(latency, Draw(0, 10));
    all.warps = a.warps + b.warps;
    const ChainIpc apart = WarpChain({a, b}, memory).Ipc();
    const double together = WarpChain({all}, memory).Ipc().total;
    EXPECT_NEAR(apart.total, together, 1e-9);
    EXPECT_NEAR(apart.kernel[0], together * a.warps / all.warps, 1e-9);
  }
}

TEST_F(KerneletChain, RowsAddUpToOne) {
  for (unsigned n = 0; n < 20; ++n) {
    std::vector<ChainKernel> kernels{DrawKernel(10, n % 2 == 0)};
    if (n % 3 != 0) kernels.push_back(DrawKernel(6, n % 4 == 0));
    if (n % 5 == 0) kernels.push_back(DrawKernel(2, false));
    const double latency = Draw(1, 300);
    const WarpChain chain(kernels, Latency(latency, Draw(0, 5)));
    for (std::uint32_t s = 0; s < chain.states(); ++s) {
      std::vector<Transition> row;
      chain.From(s, 0, &row);
      double sum = 0;
      std::vector<bool> seen(chain.states());
      for (const Transition& t : row) {
        ASSERT_LT(t.to, chain.states());
        ASSERT_FALSE(seen[t.to]) << "each at most once";
        seen[t.to] = true;
        ASSERT_GE(t.probability, 0);
        sum += t.probability;
      }
      ASSERT_NEAR(sum, 1, 1e-12) << "state " << s;
    }
  }
}

TEST_F(KerneletChain, HasTheStatesOfThePaper) {
  EXPECT_EQ(WarpChain({{48, 0.1}}, Latency(400)).states(), 49u);
  EXPECT_EQ(WarpChain({{7, 0.1}, {9, 0.2}}, Latency(400)).states(), 80u);
  EXPECT_EQ(WarpChain({{8, 0.1, 0.5}}, Latency(400)).states(), 45u);
  EXPECT_EQ(WarpChain({{8, 0.1, 1}}, Latency(400)).states(), 9u);
}

// An access that is not coalesced and takes as long as one that is: the third state changes
// nothing.
TEST_F(KerneletChain, KindsOfAccessThatAreAlikeAreOne) {
  const ChainMemory memory = Latency(100, 3, 1);
  EXPECT_NEAR(WarpChain({{6, 0.2, 0.4}}, memory).Ipc().total,
              WarpChain({{6, 0.2, 0}}, memory).Ipc().total, 1e-12);
}

// Below that a round is longer than the latency: idle warps come back all at once, and in step.
TEST_F(KerneletChain, LongerLatencyIsNeverFasterFromTheNumberOfWarpsOn) {
  for (unsigned n = 0; n < 30; ++n) {
    const ChainKernel a = DrawKernel(16, false), b = DrawKernel(8, false);
    const double slope = n % 2 == 0 ? 0 : Draw(0, 10);
    double last = 2;
    for (const double more : {0.0, 1.0, 5.0, 20.0, 100.0, 400.0, 1000.0}) {
      const double latency = a.warps + b.warps + more;
      const double ipc = WarpChain({a, b}, Latency(latency, slope)).Ipc().total;
      EXPECT_LE(ipc, last + 1e-12) << "L = " << latency << " + " << slope << " x";
      last = ipc;
    }
  }
}

TEST_F(KerneletChain, MoreWarpsAreNeverSlowerWithoutContention) {
  for (unsigned n = 0; n < 30; ++n) {
    const double ratio = Draw(0, 0.9);
    const ChainMemory memory = Latency(Draw(1, 600));
    double last = 0;
    for (unsigned warps = 1; warps <= 24; ++warps) {
      const double ipc = Ipc(warps, ratio, memory);
      EXPECT_GE(ipc, last - 1e-12) << warps << " warps";
      last = ipc;
    }
    EXPECT_LE(last, 1 + 1e-12);
  }
}

TEST_F(KerneletChain, BothSolversAgree) {
  ChainLimits dense, sparse;
  dense.dense_states = dense.most_states;
  sparse.dense_states = 0;
  for (unsigned n = 0; n < 12; ++n) {
    const std::vector<ChainKernel> kernels{DrawKernel(12, n % 4 == 0), DrawKernel(8, false)};
    const double latency = Draw(1, 800);
    const ChainMemory memory = Latency(latency, Draw(0, 10));
    const ChainIpc by_lu = WarpChain(kernels, memory, dense).Ipc();
    const ChainIpc by_bicgstab = WarpChain(kernels, memory, sparse).Ipc();
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(by_lu.kernel[k], by_bicgstab.kernel[k], 1e-6);
  }
}

TEST_F(KerneletChain, SolvesTheSizesThatGpusHave) {
  const ChainMemory memory = Latency(400, 5);
  EXPECT_NEAR(WarpChain({{64, 0.1}}, memory).Ipc().total,
              WarpChain({{32, 0.1}, {32, 0.1}}, memory).Ipc().total, 1e-6)
      << "65 states and 33 x 33";
}

void Refuses(const std::vector<ChainKernel>& kernels, const ChainMemory& memory,
             const std::string& line) {
  try {
    WarpChain chain(kernels, memory);
    ADD_FAILURE() << "takes what it should refuse with: " << line;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), line);
  }
}

TEST_F(KerneletChain, RefusesWhatCannotBe) {
  const ChainMemory memory = Latency(400);
  const std::string ratio = "kernel 0 of the chain: memory_ratio: expected at least 0 and below 1";
  Refuses({}, memory, "chain: expected at least one kernel");
  Refuses({{0, 0.1}}, memory, "kernel 0 of the chain: warps: expected at least 1");
  Refuses({{1, 1.0}}, memory, ratio);
  Refuses({{1, -0.1}}, memory, ratio);
  Refuses({{1, std::nan("")}}, memory, ratio);
  Refuses({{1, 0.1}, {1, 0.1, 1.5}}, memory, "kernel 1 of the chain: uncoalesced: expected 0 to 1");
  Refuses({{100, 0.1}, {100, 0.1}}, memory, "chain: expected warps for at most 10000 states");
  Refuses({{4'000'000'000, 0.1}}, memory, "chain: expected warps for at most 10000 states");
  Refuses({{1, 0.1}}, Latency(-1), "latency of the chain: a0 and b0: expected at least 0");
  Refuses({{1, 0.1}}, Latency(400, 1, 0.5),
          "requests of an uncoalesced instruction: expected at least 1");
}

}  // namespace
}  // namespace smk
