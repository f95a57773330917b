// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_checks.h"

#include <cmath>
#include <string>

namespace smk {
namespace {

// Of the work of a launch, in sums of many terms.
constexpr double kRounding = 1e-6;

std::string NameOf(JobId job) { return "job " + std::to_string(Index(job)); }

}  // namespace

void ReplayChecks::Launch(JobId job, std::uint32_t first_tb, std::uint32_t tb_count,
                          std::uint32_t tbs, Cycle now) {
  std::uint32_t& launched = launched_.at(Index(job));
  checks_.Require(first_tb == launched && tb_count >= 1 && tb_count <= tbs - first_tb, now,
                  RunChecks::kNoSm, [&] {
                    return NameOf(job) + ": " + std::to_string(tb_count) + " TBs from " +
                           std::to_string(first_tb) + " on are launched, and the next of " +
                           std::to_string(tbs) + " is " + std::to_string(launched);
                  });
  launched += tb_count;
  if (launched == tbs) launched = 0;  // what comes next is another kernel
}

void ReplayChecks::Done(JobId job, double all, double work, double rate, Cycle now) {
  const double allowed = rate + kRounding * all;  // the end is a whole cycle
  checks_.Require(std::abs(work - all) <= allowed, now, RunChecks::kNoSm, [&] {
    return NameOf(job) + ": a launch of the work of " + std::to_string(all) +
           " TBs is done, and that of " + std::to_string(work);
  });
}

void ReplayChecks::Time(Cycle before, Cycle now) {
  checks_.Require(now > before, now, RunChecks::kNoSm,
                  [&] { return "an event follows one at cycle " + std::to_string(before); });
}

void ReplayChecks::Rates(const std::vector<SetRate>& rates, std::size_t members, Cycle now) {
  bool good = rates.size() == members;
  for (const auto& [rate, places] : rates) {
    good = good && std::isfinite(rate) && rate >= 0 && std::isfinite(places) && places >= 0;
  }
  checks_.Require(good, now, RunChecks::kNoSm, [&] {
    return "expected a rate of at least 0 for each of " + std::to_string(members) + " launches";
  });
}

void ReplayChecks::Progress(bool progress, Cycle now) {
  checks_.Require(progress, now, RunChecks::kNoSm,
                  [] { return std::string("launches are there, and none of them goes on"); });
}

void ReplayChecks::Ended(JobId job, std::uint64_t tbs, std::uint64_t expected, Cycle now) {
  checks_.Require(tbs == expected, now, RunChecks::kNoSm, [&] {
    return NameOf(job) + " has ended with " + std::to_string(tbs) + " TBs of " +
           std::to_string(expected);
  });
}

}  // namespace smk
