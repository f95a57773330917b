// SPDX-License-Identifier: Apache-2.0
#include "replay/resident_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "machine/lanes.h"
#include "workload/tb_lengths.h"

namespace smk {
namespace {

constexpr double kLessThanATb = 0.5;

constexpr KernelMask Bit(unsigned slot) { return static_cast<KernelMask>(1u << slot); }

// Cycles that the work takes, at least one.
Cycle CyclesFor(double work, double rate) {
  return static_cast<Cycle>(std::max(1.0, std::floor(work / rate + 0.5)));
}

}  // namespace

ResidentSet::ResidentSet(const RunRequest& request, RateSource& rates, ReplayChecks& checks)
    : checks_(checks),
      kinds_(rates, checks),
      one_sm_(rates.OnOneSm(), checks),
      alone_speeds_(request.machine, kinds_, one_sm_),
      sm_speeds_(request.machine, kinds_, alone_speeds_),
      places_(request.machine.sm.limits, request.machine.sms, request.policy),
      spread_(request.machine.sm.limits, request.machine.sms),
      ordered_(request.policy.dispatch == DispatchMode::kLeftover) {}

double ResidentSet::WorkOf(const Kind& kind, std::uint32_t first_tb) {
  const auto [place, is_new] = lengths_.emplace(&kind.launch.spec(), std::vector<double>());
  std::vector<double>& before = place->second;
  if (is_new) {
    for (const std::uint64_t length : TbLengths(kind.launch.spec())) {
      if (before.empty()) before.push_back(0);
      before.push_back(before.back() + static_cast<double>(length));
    }
  }
  const double tbs = kind.launch.tbs, unit = kind.alone.unit_tbs;
  if (before.empty() || unit <= 0) return tbs;
  const double own = before.at(first_tb + kind.launch.tbs) - before.at(first_tb);
  return own / (before.at(static_cast<std::size_t>(unit)) / unit);
}

bool ResidentSet::AllPlaced(const Slot& slot) const {
  const double tbs = kinds_[slot.kind].launch.tbs;
  return slot.drains || (slot.work > 0 && slot.places > tbs - kLessThanATb);
}

double ResidentSet::DrainsAt(const Slot& slot) const {
  const Kind& kind = kinds_[slot.kind];
  if (slot.drains || slot.places > kind.launch.tbs - kLessThanATb) return 0;
  return std::min(kind.alone.WorkPart() * slot.places, slot.all);
}

KernelMask ResidentSet::Busy() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (slots_[k].busy) mask |= Bit(k);
  }
  return mask;
}

// Launches with TBs on the SMs that nobody can take away: all that have no others left.
KernelMask ResidentSet::Holders() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (slots_[k].busy && (AllPlaced(slots_[k]) || Leaves(slots_[k]))) mask |= Bit(k);
  }
  return mask;
}

void ResidentSet::Launch(KernelId id, JobId job, const LaunchKind& kind, std::uint32_t first_tb,
                         Cycle now) {
  Refresh();
  std::vector<KernelId> before;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (slots_[k].busy && slots_[k].placed) before.push_back(static_cast<KernelId>(k));
  }
  const bool spreads = Spreads(kind);
  Slot& slot = slots_[Index(id)];
  slot = {};
  slot.busy = true;
  slot.job = job;
  slot.kind = kinds_.Of(kind);
  slot.left = slot.all = WorkOf(kinds_[slot.kind], first_tb);
  slot.number = launches_++;
  now_ = now;
  places_.Launch(id, kind.spec().need, kind.tbs, now);
  changed_ = true;
  if (spreads) return BeginSpread(id);
  EndSpread();
  Displace(before);
}

// An older kernel has come again and takes the places of others as their TBs end: these have left
// when their TBs have.
void ResidentSet::Displace(const std::vector<KernelId>& before) {
  const std::vector<KernelId> after = places_.With(Busy(), Holders());
  for (const KernelId id : before) {
    Slot& slot = slots_[Index(id)];
    if (std::find(after.begin(), after.end(), id) != after.end() || Leaves(slot)) continue;
    // As long as its TBs take, all of them at the rate that it has.
    slot.leaves_until = now_ + CyclesFor(slot.places, slot.rate);
  }
}

bool ResidentSet::Spreads(const LaunchKind& kind) const {
  return ordered_ && alone_speeds_.Holds(kind) &&
         std::all_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return !slot.busy || slot.spread; });
}

void ResidentSet::BeginSpread(KernelId id) {
  Slot& slot = slots_[Index(id)];
  const Kind& kind = kinds_[slot.kind];
  slot.spread = true;
  slot.places = kind.launch.tbs;
  const auto [parts, is_new] = parts_.emplace(slot.kind, std::vector<double>());
  if (is_new) parts->second = alone_speeds_.PartsOf(slot.kind);
  spread_.Launch(id, kind.launch.spec(), kind.launch.tbs, parts->second);
  speeds_.clear();
}

// Those that were followed TB by TB go on at rates of sets.
void ResidentSet::EndSpread() {
  for (Slot& slot : slots_) slot.spread = false;
  spread_.Clear();
}

void ResidentSet::AdvanceSpread(Cycle cycles) {
  changed_ = spread_.Advance(cycles) || changed_;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = slots_[k];
    if (!slot.busy || !slot.spread) continue;
    slot.work = slot.all * spread_.Done(static_cast<KernelId>(k)) / kinds_[slot.kind].launch.tbs;
    slot.left = slot.all - slot.work;
  }
}

ResidentSet::SlotSpeeds ResidentSet::SpeedsOn(const TbSpread::State& state) {
  std::vector<KernelId> there;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (state.now[k] != 0) there.push_back(static_cast<KernelId>(k));
  }
  std::sort(there.begin(), there.end(),
            [&](KernelId a, KernelId b) { return places_.RankOf(a) < places_.RankOf(b); });
  std::vector<SmSpeeds::Member> members;
  for (const KernelId id : there) {
    const Slot& slot = slots_[Index(id)];
    members.push_back({slot.kind, state.now[Index(id)], state.most[Index(id)], slot.number});
  }
  const std::vector<SmSpeeds::Speed> found = sm_speeds_.Of(members, state.in_step, now_);
  SlotSpeeds speeds{};
  for (std::size_t i = 0; i < there.size(); ++i) {
    const Slot& slot = slots_[Index(there[i])];
    SmSpeeds::Speed& speed = speeds[Index(there[i])];
    speed = found[i];
    speed.parts *= kinds_[slot.kind].launch.tbs / slot.all;
  }
  return speeds;
}

void ResidentSet::RefreshSpread() {
  std::array<std::uint64_t, kNumKernels> ranks{};
  for (unsigned k = 0; k < kNumKernels; ++k) ranks[k] = places_.RankOf(static_cast<KernelId>(k));
  spread_.Place(ranks);
  std::vector<const SlotSpeeds*> on(spread_.sms());
  std::array<double, kNumKernels> demand{}, delivered{};
  for (unsigned sm = 0; sm < spread_.sms(); ++sm) {
    const auto [speeds, is_new] = speeds_.emplace(spread_.On(sm), SlotSpeeds{});
    if (is_new) speeds->second = SpeedsOn(spread_.On(sm));
    on[sm] = &speeds->second;
    for (unsigned k = 0; k < kNumKernels; ++k) demand[k] += speeds->second[k].demand;
  }
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (demand[k] > 0) delivered[k] = alone_speeds_.Delivered(slots_[k].kind, demand[k]);
  }
  for (unsigned sm = 0; sm < spread_.sms(); ++sm) {
    TbSpread::Speeds speeds{};
    for (unsigned k = 0; k < kNumKernels; ++k) speeds[k] = (*on[sm])[k].parts * delivered[k];
    spread_.SetSpeeds(sm, speeds);
  }
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = slots_[k];
    if (!slot.busy) continue;
    const double tbs = kinds_[slot.kind].launch.tbs;
    slot.placed = true;
    slot.rate = slot.all * spread_.RateOf(static_cast<KernelId>(k)) / tbs;
  }
}

void ResidentSet::Advance(Cycle now) {
  Refresh();
  const auto cycles = static_cast<double>(now - now_);
  const KernelMask lingering = places_.Lingering(now_);
  AdvanceSpread(now - now_);
  for (Slot& slot : slots_) {
    if (!slot.busy || slot.spread || slot.rate <= 0) continue;
    const bool begins = slot.work <= 0;
    const bool left = Leaves(slot) && slot.leaves_until <= now;
    slot.left -= slot.rate * cycles;
    slot.work += slot.rate * cycles;
    const bool drains = slot.left <= DrainsAt(slot);
    slot.drains = slot.drains || drains;
    changed_ = changed_ || begins || left || drains;
  }
  now_ = now;
  changed_ = changed_ || places_.Lingering(now) != lingering;
}

KernelMask ResidentSet::Done() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    const Slot& slot = slots_[k];
    if (!slot.busy) continue;
    const bool done = slot.spread ? spread_.Ended(static_cast<KernelId>(k))
                                  : slot.work > 0 && slot.left <= slot.rate / 2;
    if (done) mask |= Bit(k);
  }
  return mask;
}

ResidentSet::Ended ResidentSet::Take(KernelId id, Cycle now) {
  Slot& slot = slots_[Index(id)];
  const Kind& kind = kinds_[slot.kind];
  checks_.Done(slot.job, slot.all, slot.work, slot.rate, now);
  slot.busy = false;
  places_.Done(id, now);
  changed_ = true;
  return {slot.job, kind.launch.tbs, slot.all, &kind.alone};
}

Cycle ResidentSet::NextEvent() {
  Refresh();
  Cycle next = places_.NextExpiry(now_);
  if (const Cycle end = spread_.NextEnd(); end != kNever) next = std::min(next, now_ + end);
  for (const Slot& slot : slots_) {
    if (!slot.busy || slot.spread) continue;
    if (Leaves(slot)) next = std::min(next, slot.leaves_until);
    if (slot.rate <= 0) continue;
    next = std::min(next, now_ + CyclesFor(slot.left, slot.rate));
    const double drain = DrainsAt(slot);
    if (drain > 0) {
      const double cycles = std::ceil((slot.left - drain) / slot.rate);
      next = std::min(next, now_ + static_cast<Cycle>(std::max(1.0, cycles)));
    }
  }
  return next;
}

bool ResidentSet::Progresses() {
  Refresh();
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.busy && slot.rate > 0; });
}

std::uint32_t ResidentSet::TbsDone(KernelId id) const {
  const Slot& slot = slots_[Index(id)];
  if (!slot.busy) return 0;
  const double part = std::clamp(slot.work / slot.all, 0.0, 1.0);
  return static_cast<std::uint32_t>(part * kinds_[slot.kind].launch.tbs);
}

double ResidentSet::WorkDone(KernelId id) const {
  const Slot& slot = slots_[Index(id)];
  return slot.busy ? slot.work : 0;
}

// A draining launch has a part of its places. All that are: the sum over who is there and who is
// not, by how often that is.
void ResidentSet::Refresh() {
  if (!changed_) return;
  changed_ = false;
  const bool spread = std::any_of(slots_.begin(), slots_.end(),
                                  [](const Slot& slot) { return slot.busy && slot.spread; });
  if (spread) return RefreshSpread();
  places_.Settle(Busy(), Holders());
  std::vector<unsigned> partly;
  std::vector<double> part;
  KernelMask always = places_.Lingering(now_);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    Slot& slot = slots_[k];
    slot.rate = 0;
    slot.placed = false;
    if (!slot.busy) continue;
    if (!AllPlaced(slot) && !Leaves(slot)) slot.places = 0;
    if (places_.Shared() && (slot.drains || Leaves(slot))) {
      partly.push_back(k);
      part.push_back(kinds_[slot.kind].alone.PlacesPart());
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
  for (Slot& slot : slots_) {
    if (!slot.busy || !slot.drains) continue;
    const AloneRate& alone = kinds_[slot.kind].alone;
    slot.rate *= places_.Shared() ? alone.RatePart() / alone.PlacesPart() : alone.RatePart();
  }
}

// Adds the rates of these launches, alone with each other for this part of the time.
void ResidentSet::AddRates(KernelMask slots, double weight) {
  std::vector<KernelId> placed = places_.With(slots, Holders());
  if (!ordered_) {
    std::stable_sort(placed.begin(), placed.end(), [&](KernelId a, KernelId b) {
      return slots_[Index(a)].kind < slots_[Index(b)].kind;
    });
  }
  Kinds::Set set;
  set.reserve(placed.size());
  for (const KernelId id : placed) set.push_back(slots_[Index(id)].kind);
  SetRates::Ages ages(placed.size());
  std::iota(ages.begin(), ages.end(), std::size_t{0});
  std::sort(ages.begin(), ages.end(), [&](std::size_t a, std::size_t b) {
    return slots_[Index(placed[a])].number < slots_[Index(placed[b])].number;
  });
  const std::vector<SetRate>& rates = kinds_.Together(set, now_).Of(ages);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    Slot& slot = slots_[Index(placed[i])];
    if (!slot.busy) continue;
    const auto& [rate, places] = rates[i];
    slot.placed = true;
    if (AllPlaced(slot) || Leaves(slot)) {
      // No more TBs than it has.
      slot.rate += weight * rate * (places > 0 ? std::min(1.0, slot.places / places) : 1);
    } else {
      slot.rate += weight * rate;
      slot.places += weight * places;
    }
  }
}

}  // namespace smk
