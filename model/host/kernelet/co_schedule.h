// SPDX-License-Identifier: Apache-2.0
// Which two kernels Kernelet executes together, and in slices of which size ([Kernelet] Sec. 4.2,
// FindCoSchedule of Algorithm 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/kernelet/performance.h"

namespace smk {

// CP = 1 - 1 / sum(cIPC / IPC) ([Kernelet] Sec. 2.2): the part of the time of executing kernels
// one after the other that is saved by executing them together. Below zero it is a loss.
double CoSchedulingProfit(const std::vector<double>& together, const std::vector<double>& alone);

// Cycles by which two slices differ, eq. 7: |I1 P1 / IPC1 - I2 P2 / IPC2|.
double TimeDifference(double instructions_1, double tbs_1, double ipc_1, double instructions_2,
                      double tbs_2, double ipc_2);

// Which sizes of a pair of slices are compared [D43].
enum class SliceSizes : std::uint8_t {
  kFilling,  // an SM has no room for a further TB of either
  kAll,      // all that fit
};

struct CoScheduleParams {
  // A pair is left out when its kernels are too much alike: their PUR differ by less than
  // `pur_difference` and their MUR by less than `mur_difference` [D44].
  double pur_difference = 0.4;
  double mur_difference = 0.1;
  double relax = 0.5;  // both times this when no pair is left
  SliceSizes sizes = SliceSizes::kFilling;
  // A pair with less is not executed together; without it the best is, whatever it is [D45].
  std::optional<double> least_profit;
};

// Two kernels on an SM.
struct SlicePair {
  unsigned tbs[2] = {0, 0};  // per SM
  double ipc[2] = {0, 0};    // of an SM
  double difference = 0;     // cycles, eq. 7
  double profit = 0;         // CP
};

// What to execute next: two slices, or one when there is no pair.
struct CoSchedule {
  std::size_t first = 0;  // place in the list of pending kernels
  std::optional<std::size_t> second;
  std::uint32_t size[2] = {0, 0};  // TBs of a slice on the GPU
  SlicePair pair;                  // with a second
  // How the pair was found.
  std::size_t candidates = 0;                     // pairs that fit an SM
  std::size_t predicted = 0;                      // of these, not left out
  double pur_difference = 0, mur_difference = 0;  // after relaxing
};

// Keeps what it predicted: every pair of kernels is solved once.
class CoScheduleFinder {
 public:
  // InputError for kernels or parameters that cannot be.
  CoScheduleFinder(const KerneletMachine& machine, std::vector<KerneletKernel> kernels,
                   const CoScheduleParams& params = {}, const ChainLimits& limits = {});

  // FindCoSchedule: of the pairs among `pending` the one with the largest profit, and of those
  // with the same the first. Each element is a place in `kernels`; several instances of a kernel
  // may be pending.
  CoSchedule Find(const std::vector<std::size_t>& pending);
  // Any pair among `pending` that fits, in any of its sizes: which, says `draw`, 64 random bits.
  CoSchedule Draw(const std::vector<std::size_t>& pending, std::uint64_t draw);

  // The sizes with the least difference in time: the balanced slice ratio. Nothing when no sizes
  // fit.
  std::optional<SlicePair> Balanced(std::size_t a, std::size_t b);
  // What Balanced() says from now on of a <= b: measurements instead of predictions.
  void Set(std::size_t a, std::size_t b, const SlicePair& pair);
  // The sizes that are compared, from few TBs of a to many, and what is predicted of one of them.
  std::vector<std::pair<unsigned, unsigned>> Sizes(std::size_t a, std::size_t b) const;
  SlicePair Predict(std::size_t a, unsigned tbs_a, std::size_t b, unsigned tbs_b);
  // IPC of an SM that has as many TBs of the kernel as fit.
  double Alone(std::size_t kernel);

 private:
  struct Candidate {
    std::size_t first = 0, second = 0;  // places in the list of pending kernels
  };

  void Check(const CoScheduleParams& params) const;
  std::vector<Candidate> Candidates(const std::vector<std::size_t>& pending) const;
  std::vector<Candidate> Prune(const std::vector<Candidate>& all,
                               const std::vector<std::size_t>& pending, CoSchedule* result) const;
  bool Differ(std::size_t a, std::size_t b, const CoSchedule& with) const;
  bool AnyFits(std::size_t a, std::size_t b) const;
  // Makes the result one of the two kernels, or of the first kernel alone.
  void Take(const Candidate& candidate, const SlicePair& pair, CoSchedule* result) const;
  void TakeAlone(const std::vector<std::size_t>& pending, CoSchedule* result) const;
  std::optional<SlicePair> FindBalanced(std::size_t a, std::size_t b);

  KerneletModel model_;
  std::vector<KerneletKernel> kernels_;
  CoScheduleParams params_;
  std::map<std::size_t, double> alone_;
  std::map<std::pair<std::size_t, std::size_t>, std::optional<SlicePair>> balanced_;
};

}  // namespace smk
