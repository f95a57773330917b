// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/performance.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace smk {
namespace {

// What one scheduler sees of the memory [D42]: with x of its own requests outstanding the SM has
// `schedulers` times as many, and a cycle is `issue_rate` slots.
LatencyLine OfScheduler(const LatencyLine& line, const KerneletMachine& machine) {
  return {line.a0 * machine.schedulers * machine.issue_rate, line.b0 * machine.issue_rate};
}

}  // namespace

KerneletModel::KerneletModel(const KerneletMachine& machine, const ChainLimits& limits)
    : machine_(machine), limits_(limits), memory_(machine.memory) {
  if (machine.sms == 0) throw InputError("kernelet machine: sms: expected at least 1");
  if (machine.schedulers == 0)
    throw InputError("kernelet machine: schedulers: expected at least 1");
  if (!std::isfinite(machine.issue_rate) || machine.issue_rate <= 0) {
    throw InputError("kernelet machine: issue_rate: expected more than 0");
  }
  memory_.coalesced = OfScheduler(machine.memory.coalesced, machine);
  memory_.uncoalesced = OfScheduler(machine.memory.uncoalesced, machine);
  WarpChain({ChainKernel{}}, memory_, limits_);  // refuses latencies that cannot be
}

void KerneletModel::Check(const KerneletKernel& kernel) const {
  const std::string where = "kernel " + kernel.name + ": ";
  if (kernel.need.threads == 0 || kernel.need.tbs == 0) {
    throw InputError(where + "need: expected at least one warp and one TB");
  }
  if (MostTbs(kernel) == 0) throw InputError(where + "need: a TB does not fit an SM");
  if (!std::isfinite(kernel.instructions) || kernel.instructions <= 0) {
    throw InputError(where + "instructions: expected more than 0");
  }
  if (!IsShare(kernel.memory_ratio) || kernel.memory_ratio == 1) {
    throw InputError(where + "memory_ratio: expected at least 0 and below 1");
  }
  if (!IsShare(kernel.uncoalesced)) throw InputError(where + "uncoalesced: expected 0 to 1");
  if (!IsShare(kernel.pur)) throw InputError(where + "pur: expected 0 to 1");
  if (!IsShare(kernel.mur)) throw InputError(where + "mur: expected 0 to 1");
  if (kernel.least_tbs == 0) throw InputError(where + "least_tbs: expected at least 1");
}

unsigned KerneletModel::MostTbs(const KerneletKernel& kernel) const {
  return MaxTbs(kernel.need, machine_.limits);
}

bool KerneletModel::Fit(const KerneletKernel& a, unsigned tbs_a, const KerneletKernel& b,
                        unsigned tbs_b) const {
  const auto fits = [&](std::uint16_t ResourceVector::*of) {
    return std::uint64_t{a.need.*of} * tbs_a + std::uint64_t{b.need.*of} * tbs_b <=
           machine_.limits.*of;
  };
  return fits(&ResourceVector::registers) && fits(&ResourceVector::shared_memory) &&
         fits(&ResourceVector::threads) && fits(&ResourceVector::tbs);
}

// Its part of the kernel's warps, rounded, but one at least [D42].
ChainKernel KerneletModel::OnScheduler(const KerneletKernel& kernel, unsigned tbs) const {
  const unsigned warps = tbs * kernel.need.threads;
  ChainKernel on;
  on.warps = std::max(1u, (2 * warps + machine_.schedulers) / (2 * machine_.schedulers));
  on.memory_ratio = kernel.memory_ratio;
  on.uncoalesced = kernel.uncoalesced;
  return on;
}

double KerneletModel::Alone(const KerneletKernel& kernel, unsigned tbs) const {
  return PerSm(WarpChain({OnScheduler(kernel, tbs)}, memory_, limits_).Ipc().total);
}

std::array<double, 2> KerneletModel::Together(const KerneletKernel& a, unsigned tbs_a,
                                              const KerneletKernel& b, unsigned tbs_b) const {
  const ChainIpc ipc =
      WarpChain({OnScheduler(a, tbs_a), OnScheduler(b, tbs_b)}, memory_, limits_).Ipc();
  return {PerSm(ipc.kernel[0]), PerSm(ipc.kernel[1])};
}

}  // namespace smk
