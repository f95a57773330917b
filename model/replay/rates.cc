// SPDX-License-Identifier: Apache-2.0
#include "replay/rates.h"

#include <algorithm>

namespace smk {
namespace {

constexpr double kHalf = 0.5;  // of TBs that end one by one, on average

}  // namespace

bool EvenSharesFit(const std::vector<LaunchKind>& set, const ResourceVector& limits, unsigned sms) {
  ResourceVector taken{};
  for (const LaunchKind& launch : set) {
    for (std::uint32_t i = 0; i < EvenShare(launch.tbs, sms); ++i) {
      taken += launch.spec().need;
      if (!FitsIn(taken, limits)) return false;
    }
  }
  return true;
}

double AloneRate::RatePart() const {
  return drain_tbs <= 0 ? kHalf : std::min(1.0, drain_tbs / drain_cycles / rate);
}

double AloneRate::PlacesPart() const {
  return drain_tbs <= 0 || drain_places <= 0 ? kHalf : std::min(1.0, drain_places / places);
}

double AloneRate::WorkPart() const {
  return drain_tbs <= 0 ? kHalf : std::min(1.0, drain_tbs / places);
}

SetRate AloneRate::Part(std::size_t members) const {
  const auto parts = static_cast<double>(members);
  return {rate / parts, places / parts};
}

double AloneRate::Cycles(std::uint32_t tbs) const {
  if (drain_tbs <= 0) return tbs / rate;
  return (tbs - drain_tbs) / rate + drain_cycles;
}

}  // namespace smk
