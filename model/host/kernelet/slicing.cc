// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/slicing.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace smk {
namespace {

double Measured(const SlicedCycles& measure, std::uint32_t size) {
  const double cycles = measure(size);
  if (!std::isfinite(cycles) || cycles <= 0) {
    throw InputError("slices of " + std::to_string(size) + " TBs: expected more than 0 cycles");
  }
  return cycles;
}

}  // namespace

std::vector<Slice> SlicePlan(std::uint32_t tb_count, std::uint32_t size) {
  if (tb_count == 0) throw InputError("slices: expected a kernel of at least one TB");
  if (size == 0) throw InputError("slices: expected at least one TB in each");
  std::vector<Slice> plan;
  for (std::uint32_t first = 0; first < tb_count; first += plan.back().tb_count) {
    plan.push_back({first, std::min(size, tb_count - first)});
  }
  return plan;
}

std::uint32_t SmallestSlice(std::uint32_t tb_count, unsigned sms, const SlicedCycles& measure,
                            double overhead) {
  if (tb_count == 0) throw InputError("slices: expected a kernel of at least one TB");
  if (sms == 0) throw InputError("slices: expected at least one SM");
  if (!std::isfinite(overhead) || overhead < 0) {
    throw InputError("slices: overhead: expected at least 0");
  }
  if (tb_count <= sms) return tb_count;
  const double whole = Measured(measure, tb_count);
  for (std::uint64_t size = sms; size < tb_count; size += sms) {
    const auto of_size = static_cast<std::uint32_t>(size);
    if (Measured(measure, of_size) - whole <= overhead * whole) return of_size;
  }
  return tb_count;
}

}  // namespace smk
