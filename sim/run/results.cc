// SPDX-License-Identifier: Apache-2.0
#include "run/results.h"

#include <fmt/format.h>

#include <numeric>

#include "base/error.h"

namespace smk::sim {
namespace {

// Moves everything that belongs to kernel slot 0 of a run of its own to `slot`.
void MoveToSlot(std::size_t slot, RunResult* result) {
  const auto kernel = static_cast<KernelId>(slot);
  for (SmStats& sm : result->sms) {
    std::swap(sm.warp_instructions[0], sm.warp_instructions[slot]);
    std::swap(sm.tb_cycles[0], sm.tb_cycles[slot]);
  }
  for (TbRecord& tb : result->tbs) tb.kernel = kernel;
  for (Decision& decision : result->decisions) {
    decision.kernel = kernel;
    std::swap(decision.share[0], decision.share[slot]);
  }
  for (auto& row : result->partitions) std::swap(row[0], row[slot]);
}

void Add(const SmStats& other, SmStats* sm) {
  for (unsigned i = 0; i < kNumStalls; ++i) sm->scheduler_cycles[i] += other.scheduler_cycles[i];
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    sm->warp_instructions[k] += other.warp_instructions[k];
    sm->tb_cycles[k] += other.tb_cycles[k];
  }
}

void Append(RunResult other, RunResult* all) {
  all->wall_seconds += other.wall_seconds;
  all->warp_instructions += other.warp_instructions;
  all->dram_row_hits += other.dram_row_hits;
  all->dram_row_misses += other.dram_row_misses;
  all->checks += other.checks;
  for (std::size_t i = 0; i < all->sms.size(); ++i) Add(other.sms.at(i), &all->sms[i]);
  for (unsigned sm = 0; sm < kMaxSms; ++sm) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      all->partitions[sm][k] =
          static_cast<std::uint8_t>(all->partitions[sm][k] + other.partitions[sm][k]);
    }
  }
  const auto append = [](auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
  append(other.kernels, all->kernels);
  append(other.tbs, all->tbs);
  append(other.decisions, all->decisions);
}

}  // namespace

double Results::cycles_per_second() const {
  const double runs = policy.time_shared ? static_cast<double>(result.kernels.size()) : 1.0;
  return result.wall_seconds > 0 ? static_cast<double>(result.cycles) * runs / result.wall_seconds
                                 : 0.0;
}

RunResult MergeBaseline(std::vector<RunResult> alone) {
  RunResult all = std::move(alone.at(0));
  for (std::size_t i = 1; i < alone.size(); ++i) {
    MoveToSlot(i, &alone[i]);
    Append(std::move(alone[i]), &all);
  }
  return all;
}

void CheckResult(const RunRequest& request, RunResult* result) {
  const auto check = [&](bool holds, const std::string& law) {
    if (!holds) throw CheckFailure("statistics: " + law);
    ++result->checks;
  };
  check(result->cycles == request.cycles, "the run did not last as long as it was asked to");
  check(result->kernels.size() == request.programs.size(), "a kernel has no statistics");
  const std::uint64_t slots = request.cycles * request.machine.sm.schedulers;
  std::uint64_t issued = 0, by_sm = 0;
  for (std::size_t i = 0; i < result->sms.size(); ++i) {
    const SmStats& sm = result->sms[i];
    const std::uint64_t attributed =
        std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0});
    check(attributed == slots,
          fmt::format("SM {}: {} scheduler cycles have a reason, of {}", i, attributed, slots));
    issued += sm.scheduler_cycles[static_cast<unsigned>(Stall::kIssued)];
    by_sm +=
        std::accumulate(sm.warp_instructions.begin(), sm.warp_instructions.end(), std::uint64_t{0});
  }
  check(by_sm == result->warp_instructions, "the SMs' instructions are not those of the run");
  check(issued == result->warp_instructions, "issue cycles and instructions differ");
  check(Total(*result, &KernelStats::warp_instructions) == result->warp_instructions,
        "the kernels' instructions are not those of the run");
}

const std::vector<unsigned>& KernelStalls() {
  static const std::vector<unsigned> kReasons = [] {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < kNumStalls; ++i) {
      const auto reason = static_cast<Stall>(i);
      if (reason != Stall::kIssued && reason != Stall::kEmpty) all.push_back(i);
    }
    return all;
  }();
  return kReasons;
}

std::string Ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

double HitRate(std::uint64_t hits, std::uint64_t accesses) {
  return accesses == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(accesses);
}

std::uint64_t Total(const RunResult& result, std::uint64_t KernelStats::*member) {
  std::uint64_t total = 0;
  for (const KernelStats& kernel : result.kernels) total += kernel.*member;
  return total;
}

}  // namespace smk::sim
