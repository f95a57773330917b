// SPDX-License-Identifier: Apache-2.0
// Kernelet's Markov chain against the warps that it stands for: each is ready or idle, and draws
// for itself in every round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "host/kernelet/warp_chain.h"
#include "test_options.h"

namespace smk {
namespace {

enum class WarpState { kReady, kCoalesced, kUncoalesced };

// All warps of an SM.
class Warps {
 public:
  Warps(const std::vector<ChainKernel>& kernels, const ChainMemory& memory, std::uint64_t seed)
      : kernels_(kernels), memory_(memory), random_(seed) {
    for (const ChainKernel& kernel : kernels) states_.emplace_back(kernel.warps, WarpState::kReady);
  }

  // A round: how many cycles it takes; which warps of a kernel issue are counted.
  double Round(std::vector<double>* issued) {
    const double ready = Number(WarpState::kReady), duration = std::max(1.0, ready);
    const double outstanding =
        Number(WarpState::kCoalesced) + memory_.requests * Number(WarpState::kUncoalesced);
    const double wake = duration / memory_.coalesced.At(outstanding);
    const double wake_late = duration / memory_.uncoalesced.At(outstanding);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      for (WarpState& warp : states_[k]) {
        if (warp == WarpState::kReady) {
          (*issued)[k] += 1;
          if (Happens(kernels_[k].memory_ratio)) {
            warp =
                Happens(kernels_[k].uncoalesced) ? WarpState::kUncoalesced : WarpState::kCoalesced;
          }
        } else if (Happens(warp == WarpState::kCoalesced ? wake : wake_late)) {
          warp = WarpState::kReady;
        }
      }
    }
    return duration;
  }

  // Idle warps of a kernel.
  std::size_t IdleOf(std::size_t k) const {
    return states_[k].size() - static_cast<std::size_t>(std::count(
                                   states_[k].begin(), states_[k].end(), WarpState::kReady));
  }

 private:
  bool Happens(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  double Number(WarpState state) const {
    double n = 0;
    for (const auto& of_kernel : states_) {
      n += static_cast<double>(std::count(of_kernel.begin(), of_kernel.end(), state));
    }
    return n;
  }

  std::vector<ChainKernel> kernels_;
  ChainMemory memory_;
  std::mt19937_64 random_;
  std::vector<std::vector<WarpState>> states_;
};

// Mean of batches, and how far it may be from the truth: five standard errors.
struct Estimate {
  std::vector<double> batches;
  double Mean() const {
    double sum = 0;
    for (const double b : batches) sum += b;
    return sum / static_cast<double>(batches.size());
  }
  double Margin() const {
    const double n = static_cast<double>(batches.size()), mean = Mean();
    double squares = 0;
    for (const double b : batches) squares += (b - mean) * (b - mean);
    return 5 * std::sqrt(squares / (n - 1) / n) + 1e-4;
  }
};

constexpr unsigned kBatches = 40;
constexpr unsigned kRounds = 10'000;  // per batch

class KerneletMonteCarlo : public testing::Test {
 protected:
  void Compare(const std::vector<ChainKernel>& kernels, const ChainMemory& memory) {
    Warps warps(kernels, memory, seed);
    std::vector<Estimate> ipc(kernels.size());
    std::vector<Estimate> at(kernels[0].warps + 1);  // idle warps of the first kernel
    for (unsigned batch = 0; batch <= kBatches; ++batch) {
      std::vector<double> issued(kernels.size()), rounds_at(at.size());
      double cycles = 0;
      for (unsigned round = 0; round < kRounds; ++round) {
        ++rounds_at[warps.IdleOf(0)];
        cycles += warps.Round(&issued);
      }
      if (batch == 0) continue;  // from all ready into the steady state
      for (std::size_t k = 0; k < ipc.size(); ++k) ipc[k].batches.push_back(issued[k] / cycles);
      for (std::size_t i = 0; i < at.size(); ++i) at[i].batches.push_back(rounds_at[i] / kRounds);
    }
    const WarpChain chain(kernels, memory);
    const ChainIpc want = chain.Ipc();
    for (std::size_t k = 0; k < ipc.size(); ++k) {
      EXPECT_NEAR(ipc[k].Mean(), want.kernel[k], ipc[k].Margin()) << "kernel " << k;
    }
    if (kernels[0].uncoalesced > 0) return;
    const std::vector<double> pi = chain.Steady();
    const std::size_t others = pi.size() / at.size();
    for (std::size_t i = 0; i < at.size(); ++i) {
      double p = 0;
      for (std::size_t q = 0; q < others; ++q) p += pi[i * others + q];
      EXPECT_NEAR(at[i].Mean(), p, at[i].Margin()) << i << " idle warps";
    }
  }

  std::uint64_t seed = GetTestOptions().seed;
  testing::ScopedTrace trace{__FILE__, __LINE__, "--seed=" + std::to_string(seed)};
  std::mt19937_64 random{seed};
};

ChainMemory Memory(double a0, double b0, double requests) {
  return {{a0, b0}, LineOfSeveral({a0, b0}, requests), requests};
}

TEST_F(KerneletMonteCarlo, OneKernel) {
  Compare({{6, 0.1}}, Memory(2, 40, 32));
  Compare({{12, 0.3}}, Memory(0, 25, 32));
}

TEST_F(KerneletMonteCarlo, TwoKernels) { Compare({{5, 0.05}, {4, 0.4}}, Memory(1.5, 30, 32)); }

TEST_F(KerneletMonteCarlo, UncoalescedAccesses) {
  Compare({{5, 0.1, 0.3}}, Memory(0.5, 20, 8));
  Compare({{3, 0.05, 0}, {3, 0.2, 0.5}}, Memory(0.5, 20, 8));
}

TEST_F(KerneletMonteCarlo, KernelsAndMemoriesAsTheyCome) {
  const auto draw = [this](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  for (unsigned n = 0; n < 6; ++n) {
    std::vector<ChainKernel> kernels;
    for (unsigned k = 0; k <= n % 2; ++k) {
      kernels.push_back(
          {static_cast<unsigned>(draw(1, 7)), draw(0.01, 0.6), n % 3 == 0 ? draw(0, 1) : 0});
    }
    Compare(kernels, Memory(draw(0, 3), draw(1, 60), 1 + 3 * n));
  }
}

}  // namespace
}  // namespace smk
