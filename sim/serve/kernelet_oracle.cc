// SPDX-License-Identifier: Apache-2.0
#include "serve/kernelet_oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv_table.h"

namespace smk::sim {
namespace {

constexpr Cycle kMostPairCycles = 500'000;  // of a run of a pair [D96]

KerneletRun RunOf(const KerneletProfile& a, const KerneletProfile& b, const SlicePair& pair,
                  unsigned sms, const KerneletRuns& runs) {
  KerneletRun run;
  run.name = fmt::format("{}+{} in slices of {}+{} TBs per SM", a.workload, b.workload, pair.tbs[0],
                         pair.tbs[1]);
  run.key = fmt::format("{}\n{}\nslices {} {}", a.id, b.id, pair.tbs[0], pair.tbs[1]);
  run.request = runs.Request({a.alone, b.alone}, /*repeat=*/true);
  run.request.cycles = std::min(a.cycles + b.cycles, kMostPairCycles);
  run.request.scheduler = [first = pair.tbs[0] * sms, second = pair.tbs[1] * sms] {
    return MakeSlicedPair(first, second);
  };
  return run;
}

SlicePair Measured(const KerneletProfile& a, const KerneletProfile& b, const SlicePair& sizes,
                   unsigned sms, const RunResult& result) {
  SlicePair pair;
  for (std::size_t i : {0, 1}) {
    pair.tbs[i] = sizes.tbs[i];
    pair.ipc[i] = static_cast<double>(result.kernels[i].warp_instructions) /
                  static_cast<double>(result.cycles) / sms;
  }
  // A kernel so long that nothing of it was issued has no profit.
  if (!(pair.ipc[0] > 0 && pair.ipc[1] > 0)) return pair;
  pair.difference = TimeDifference(a.model.instructions, pair.tbs[0], pair.ipc[0],
                                   b.model.instructions, pair.tbs[1], pair.ipc[1]);
  pair.profit = CoSchedulingProfit({pair.ipc[0], pair.ipc[1]}, {a.ipc, b.ipc});
  return pair;
}

}  // namespace

std::vector<MeasuredPair> MeasurePairs(const KerneletProfiles& profiles, KerneletRuns* runs) {
  const KerneletPlan plan = PlanOf(profiles);
  CoScheduleFinder finder(plan.machine, plan.kernels, plan.params);
  const unsigned sms = profiles.machine.sms;
  std::vector<MeasuredPair> pairs;
  std::vector<KerneletRun> wanted;
  for (std::size_t a = 0; a < profiles.kernels.size(); ++a) {
    for (std::size_t b = a; b < profiles.kernels.size(); ++b) {
      const std::optional<SlicePair> balanced = finder.Balanced(a, b);
      for (const auto& [tbs_a, tbs_b] : finder.Sizes(a, b)) {
        MeasuredPair pair{a, b, finder.Predict(a, tbs_a, b, tbs_b), {}, false};
        pair.balanced = balanced->tbs[0] == tbs_a && balanced->tbs[1] == tbs_b;
        wanted.push_back(
            RunOf(profiles.kernels[a], profiles.kernels[b], pair.predicted, sms, *runs));
        pairs.push_back(pair);
      }
    }
  }
  const std::vector<RunResult> results = runs->Get(wanted);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].measured = Measured(profiles.kernels[pairs[i].a], profiles.kernels[pairs[i].b],
                                 pairs[i].predicted, sms, results[i]);
  }
  return pairs;
}

KerneletPlan OraclePlan(const KerneletProfiles& profiles, const std::vector<MeasuredPair>& pairs) {
  KerneletPlan plan = PlanOf(profiles);
  plan.params.pur_difference = plan.params.mur_difference = 0;
  for (const MeasuredPair& pair : pairs) {
    const auto [place, is_new] = plan.known.emplace(std::make_pair(pair.a, pair.b), pair.measured);
    if (!is_new && pair.measured.profit > place->second.profit) place->second = pair.measured;
  }
  return plan;
}

std::string MeasuredCsv(const KerneletProfiles& profiles, const std::vector<MeasuredPair>& pairs) {
  std::string text =
      "workload_a,workload_b,tbs_a,tbs_b,balanced,predicted_ipc_a,predicted_ipc_b,predicted_profit,"
      "measured_ipc_a,measured_ipc_b,measured_profit\n";
  for (const MeasuredPair& p : pairs) {
    text += fmt::format(
        "{},{},{},{},{:d},{},{},{},{},{},{}\n", QuotedCell(profiles.kernels[p.a].workload),
        QuotedCell(profiles.kernels[p.b].workload), p.predicted.tbs[0], p.predicted.tbs[1],
        p.balanced, p.predicted.ipc[0], p.predicted.ipc[1], p.predicted.profit, p.measured.ipc[0],
        p.measured.ipc[1], p.measured.profit);
  }
  return text;
}

}  // namespace smk::sim
