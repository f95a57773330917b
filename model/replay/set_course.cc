// SPDX-License-Identifier: Apache-2.0
#include "replay/set_course.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace smk {
namespace {

constexpr double kLessThanATb = 0.5;
// Of a wave's work, left when the last TB is placed: the TBs before it had all just begun, too. Of
// its places, taken on average from then on: it is not that the oldest TB has the SM.
constexpr double kInStep = 0.8;

// Its TBs end together, or no run says how it drains: alone it has all places that it needs.
bool InWaves(const AloneRate& alone) {
  return alone.drain_tbs <= 0 || (alone.WorkPart() >= kInStep && alone.PlacesPart() >= kInStep);
}

// TBs of the last wave when the launch is alone.
std::uint32_t LastWave(const Kinds::Kind& kind) {
  const double wave = std::max(1.0, std::round(kind.alone.places));
  return (kind.launch.tbs - 1) % static_cast<std::uint32_t>(wave) + 1;
}

constexpr KernelMask Bit(unsigned slot) { return static_cast<KernelMask>(1u << slot); }

}  // namespace

bool SetCourse::AllPlaced(unsigned k) const {
  const Slot& slot = residents_.slots[k];
  if (feeds_[k].waves) return feeds_[k].waves->AllRun();
  const double tbs = residents_.KindOf(slot).launch.tbs;
  return feeds_[k].drains || (slot.work > 0 && feeds_[k].places > tbs - kLessThanATb);
}

double SetCourse::DrainsAt(unsigned k) const {
  const Feed& feed = feeds_[k];
  if (feed.waves || feed.drains) return 0;
  const Slot& slot = residents_.slots[k];
  const Kinds::Kind& kind = residents_.KindOf(slot);
  if (feed.places > kind.launch.tbs - kLessThanATb) return 0;
  return std::min(kind.alone.WorkPart() * feed.places, slot.all);
}

// Launches with TBs on the SMs that nobody can take away: all that have no others left.
KernelMask SetCourse::Holders() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (residents_.slots[k].busy && (AllPlaced(k) || Leaves(k))) mask |= Bit(k);
  }
  return mask;
}

// An older kernel may have come again and take the places of others as their TBs end: these have
// left when their TBs have.
void SetCourse::Begin(KernelId id) {
  Feed& feed = feeds_[Index(id)];
  feed = {};
  const Slot& own = residents_.slots[Index(id)];
  const Kinds::Kind& kind = residents_.KindOf(own);
  if (!residents_.places.Shared() && InWaves(kind.alone)) {
    feed.waves.emplace(kind.launch.tbs, own.all / kind.launch.tbs);
  }
  const std::vector<KernelId> after = residents_.places.With(residents_.Busy(), Holders());
  for (unsigned k = 0; k < kNumKernels; ++k) {
    const Slot& slot = residents_.slots[k];
    if (k == Index(id) || !slot.busy || !slot.placed || Leaves(k)) continue;
    if (std::find(after.begin(), after.end(), static_cast<KernelId>(k)) != after.end()) continue;
    // As long as its TBs take, all of them at the rate that it has.
    feeds_[k].leaves_until = residents_.now + CyclesFor(feeds_[k].places, slot.rate);
  }
}

void SetCourse::TakeOver(KernelId id) {
  const Slot& slot = residents_.slots[Index(id)];
  feeds_[Index(id)] = {};
  feeds_[Index(id)].places = residents_.KindOf(slot).launch.tbs;
}

bool SetCourse::Advance(Cycle next) {
  const auto cycles = static_cast<double>(next - residents_.now);
  bool changes = false;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = residents_.slots[k];
    if (!slot.busy || slot.rate <= 0) continue;
    const bool begins = slot.work <= 0;
    const bool left = Leaves(k) && feeds_[k].leaves_until <= next;
    slot.left -= slot.rate * cycles;
    slot.work += slot.rate * cycles;
    Feed& feed = feeds_[k];
    changes = changes || begins || left;
    if (feed.waves) {
      if (feed.waves->Advance(cycles)) changes = true;
    } else if (slot.left <= DrainsAt(k)) {
      feed.drains = changes = true;
    }
  }
  return changes;
}

bool SetCourse::Done(KernelId id) const {
  const Slot& slot = residents_.slots[Index(id)];
  if (feeds_[Index(id)].waves) return feeds_[Index(id)].waves->Done();
  return slot.work > 0 && slot.left <= slot.rate / 2;
}

Cycle SetCourse::NextEvent() const {
  Cycle next = kNever;
  const Cycle now = residents_.now;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    const Slot& slot = residents_.slots[k];
    if (!slot.busy) continue;
    if (Leaves(k)) next = std::min(next, feeds_[k].leaves_until);
    if (slot.rate <= 0) continue;
    if (feeds_[k].waves) {
      next = std::min(next, now + feeds_[k].waves->NextEnd());
      continue;
    }
    next = std::min(next, now + CyclesFor(slot.left, slot.rate));
    const double drain = DrainsAt(k);
    if (drain > 0) {
      const double cycles = std::ceil((slot.left - drain) / slot.rate);
      next = std::min(next, now + static_cast<Cycle>(std::max(1.0, cycles)));
    }
  }
  return next;
}

// A draining launch has a part of its places. All that are: the sum over who is there and who is
// not, by how often that is.
void SetCourse::Refresh() {
  Places& places = residents_.places;
  places.Settle(residents_.Busy(), Holders());
  std::vector<unsigned> partly;
  std::vector<double> part;
  KernelMask always = places.Lingering(residents_.now);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = residents_.slots[k];
    slot.rate = 0;
    slot.placed = false;
    if (!slot.busy) continue;
    if (!AllPlaced(k) && !Leaves(k)) feeds_[k].places = 0;
    if (places.Shared() && (feeds_[k].drains || Leaves(k))) {
      partly.push_back(k);
      part.push_back(residents_.KindOf(slot).alone.PlacesPart());
    } else {
      always |= Bit(k);
    }
  }
  for (unsigned there = 0; there < 1u << partly.size(); ++there) {
    KernelMask slots = always;
    double weight = 1;
    for (std::size_t i = 0; i < partly.size(); ++i) {
      const bool is_there = (there >> i & 1) != 0;
      if (is_there) slots |= Bit(partly[i]);
      weight *= is_there ? part[i] : 1 - part[i];
    }
    if (slots != 0 && weight > 0) AddRates(slots, weight);
  }
  // Those of its TBs that are left go on as they do alone: warp schedulers prefer the oldest.
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = residents_.slots[k];
    if (!slot.busy || !feeds_[k].drains) continue;
    const AloneRate& alone = residents_.KindOf(slot).alone;
    slot.rate *= places.Shared() ? alone.RatePart() / alone.PlacesPart() : alone.RatePart();
  }
}

// Alone, a last wave that is not full takes what is left of the time that the launch needs.
void SetCourse::ShareLast(unsigned k) {
  const Slot& slot = residents_.slots[k];
  const Kinds::Kind& kind = residents_.KindOf(slot);
  if (kind.alone.drain_tbs <= 0) return;
  const std::uint32_t last = LastWave(kind);
  const double cycles = kind.alone.Cycles(last);
  if (cycles > 0) feeds_[k].waves->ShareLast(last, slot.all / kind.launch.tbs / cycles);
}

// Adds the rates of these launches, alone with each other for this part of the time.
void SetCourse::AddRates(KernelMask slots, double weight) {
  std::array<Slot, kNumKernels>& all = residents_.slots;
  const std::vector<KernelId> placed = residents_.places.With(slots, Holders());
  Kinds::Set set;
  set.reserve(placed.size());
  for (const KernelId id : placed) set.push_back(all[Index(id)].kind);
  SetRates::Ages ages(placed.size());
  std::iota(ages.begin(), ages.end(), std::size_t{0});
  std::sort(ages.begin(), ages.end(), [&](std::size_t a, std::size_t b) {
    return all[Index(placed[a])].number < all[Index(placed[b])].number;
  });
  const std::vector<SetRate>& rates = residents_.kinds.Together(set, residents_.now).Of(ages);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const unsigned k = Index(placed[i]);
    if (!all[k].busy) continue;
    const auto& [rate, places] = rates[i];
    all[k].placed = true;
    Feed& feed = feeds_[k];
    if (feed.waves) {
      // Nobody drains on places that others get: this set is there all the time.
      feed.waves->Share(places, rate);
      if (placed.size() == 1) ShareLast(k);
      all[k].rate = feed.waves->Rate();
      continue;
    }
    if (AllPlaced(k) || Leaves(k)) {
      // No more TBs than it has.
      all[k].rate += weight * rate * (places > 0 ? std::min(1.0, feeds_[k].places / places) : 1);
    } else {
      all[k].rate += weight * rate;
      feeds_[k].places += weight * places;
    }
  }
}

}  // namespace smk
