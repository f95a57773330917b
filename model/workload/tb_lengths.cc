// SPDX-License-Identifier: Apache-2.0
#include "workload/tb_lengths.h"

#include <algorithm>

#include "workload/program_code.h"

namespace smk {
namespace {

bool ByTb(const ProgramParts& parts) {
  const auto trips = [](const TripSource& source) {
    return source.kind == TripSource::Kind::kSteps && source.variable < kWarpVariable;
  };
  const auto compares = [](const Condition& condition) {
    return condition.kind == Condition::Kind::kCompare && condition.variable < kWarpVariable;
  };
  return std::any_of(parts.trips.begin(), parts.trips.end(), trips) ||
         std::any_of(parts.conditions.begin(), parts.conditions.end(), compares);
}

}  // namespace

std::vector<std::uint64_t> TbLengths(const KernelSpec& kernel) {
  std::vector<std::uint64_t> lengths;
  if (kernel.program == nullptr) return lengths;
  const Program& program = *kernel.program;
  if (program.Record(0, 0) != nullptr || !ByTb(program.parts())) return lengths;
  lengths.reserve(kernel.tb_count());
  for (std::uint32_t tb = 0; tb < kernel.tb_count(); ++tb) {
    WarpIdentity id;
    id.tb = tb;
    id.tb_x = static_cast<std::uint16_t>(tb % kernel.grid_x);
    id.tb_y = static_cast<std::uint16_t>(tb / kernel.grid_x % kernel.grid_y);
    id.tb_z = static_cast<std::uint16_t>(tb / kernel.grid_x / kernel.grid_y);
    WarpCursor cursor;
    program.Start(id, &cursor);
    std::uint64_t instructions = 1;
    for (; program.At(cursor).op != OpClass::kExit; ++instructions) program.Advance(id, &cursor);
    lengths.push_back(instructions);
  }
  return lengths;
}

}  // namespace smk
