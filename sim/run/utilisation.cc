// SPDX-License-Identifier: Apache-2.0
#include "run/utilisation.h"

#include <fmt/format.h>

#include <algorithm>

namespace smk::sim {
namespace {

double Share(const Results& r, const Unit& unit, std::uint64_t busy, Cycle cycles) {
  const SmConfig& sm = r.experiment->machine.sm;
  const unsigned pipes = unit.pipes == nullptr ? 1 : std::min(sm.units.*unit.pipes, sm.schedulers);
  return HitRate(busy, cycles * pipes * r.result.sms.size());
}

}  // namespace

const std::vector<Unit>& Units() {
  static const std::vector<Unit> kUnits = {
      {"alu", "the SP pipes were taken", &KernelStats::alu_busy, &UnitConfig::sp},
      {"sfu", "the pipes for special functions and integer multiplication were taken",
       &KernelStats::sfu_busy, &UnitConfig::sfu},
      {"dp", "the pipes for double precision were taken", &KernelStats::dp_busy, &UnitConfig::dp},
      {"lsu", "the LSUs were taken, passes and waits for memory", &KernelStats::lsu_busy, nullptr},
  };
  return kUnits;
}

// Time-shared kernels have their own cycles, one after another.
double Utilisation(const Results& results, const Unit& unit) {
  Cycle cycles = results.result.measured_cycles();
  if (results.policy.time_shared) {
    cycles = 0;
    for (const KernelStats& kernel : results.result.kernels) cycles += kernel.cycles_present;
  }
  return Share(results, unit, Total(results.result, unit.busy), cycles);
}

double KernelUtilisation(const Results& results, const Unit& unit, std::size_t kernel) {
  const KernelStats& stats = results.result.kernels[kernel];
  return Share(results, unit, stats.*unit.busy, stats.cycles_present);
}

std::string UtilisationText(const Results& results) {
  std::string text;
  for (const Unit& unit : Units()) {
    if (unit.busy == &KernelStats::dp_busy && Total(results.result, unit.busy) == 0) continue;
    std::string name = unit.name;
    for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name,
                        100 * Utilisation(results, unit));
  }
  return text;
}

}  // namespace smk::sim
