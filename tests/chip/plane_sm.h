// SPDX-License-Identifier: Apache-2.0
// An SM as the control plane sees it: warps that are ready at random times, TBs that finish when
// their warps have had all their grants, contexts that move through ContextPort.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "chip/plane_memory.h"

namespace smk::plane {

class FakeSm {
 public:
  struct Tb {
    bool valid = false, active = false, restore = false;
    unsigned kernel = 0;
    TbId tb{0};
    std::vector<unsigned> warps;  // slots, in order
    TbBase base;
    std::vector<Cycle> next;  // per warp: earliest issue
    Progress progress;
    unsigned need_warps = 0;
    unsigned alive = 0;
    Cycle in_flight = 0;
  };

  FakeSm(const Scenario& scenario, unsigned id, Ledger* ledger, ContextMemory* memory)
      : scenario_(scenario), id_(id), ledger_(*ledger), memory_(*memory), port_(scenario, id) {}

  // What happens by itself in this cycle, and the signals to the control logic.
  const SmInputs& Begin(Cycle now) {
    in_ = SmInputs{};
    in_.time = TimeOf(now);
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      Tb& tb = tbs_[slot];
      if (!tb.valid) continue;
      const Launch& launch = *ledger_.at(tb.kernel).launch;
      if (launch.descriptor.idempotent && tb.active && !Unsafe(tb)) in_.tb_flushable |= 1u << slot;
      if (!tb.active) continue;
      if (tb.alive == 0 && now >= tb.in_flight) {
        in_.tb_finished |= 1u << slot;
        ledger_.Leave(tb.kernel, tb.tb, Place::kComplete, now);
        Free(slot);
        continue;
      }
      // Of TBs that run on, nobody may look at tb_quiet.
      const bool quiet = (stop_ >> slot & 1) != 0
                             ? tb.alive != 0 && now >= tb.in_flight
                             : Hash(scenario_.seed, 3, id_ * 64 + slot, now) % 2 == 0;
      if (quiet) in_.tb_quiet |= 1u << slot;
      SetReady(tb, launch, now);
    }
    in_.context_done = port_.TakeDone(now);
    in_.context_ready = port_.Ready(now);
    for (unsigned k = 0; k < kMaxKernels && samples_; ++k) {
      const unsigned all = (1u << scenario_.config.num_schedulers) - 1;
      in_.memory[k] = static_cast<std::uint8_t>(Hash(scenario_.seed, 7, id_ * 64 + k, now) & all);
    }
    return in_;
  }

  // Takes what the control logic says in this cycle.
  void End(const SmOutputs& out, Cycle now) {
    ApplyRelease(out, now);
    CheckStops(out);
    ApplyGrants(out, now);
    if (out.warp_start.valid) Place(out.warp_start, now);
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      if (out.tb_activate >> slot & 1) Activate(slot, now);
    }
    DriveContext(out, now);
    stop_ = out.tb_stop;
    samples_ = out.samples;
    place_waits_ = out.place_waits;
  }

  const SmInputs& inputs() const { return in_; }
  const std::array<Tb, kMaxTbSlots>& tbs() const { return tbs_; }
  std::uint32_t stopped() const { return stop_; }
  bool place_waits() const { return place_waits_; }  // a TB waits for a gap
  std::uint64_t grants() const { return grants_; }
  bool empty() const { return taken_.tbs == 0; }
  const ResourceVector& taken() const { return taken_; }
  unsigned resident(unsigned kernel) const {
    return static_cast<unsigned>(std::count_if(tbs_.begin(), tbs_.end(), [kernel](const Tb& tb) {
      return tb.valid && tb.kernel == kernel;
    }));
  }
  // Warps that could have been granted in the last cycle, quotas apart.
  const std::array<WarpMask, kMaxSchedulers>& may() const { return may_; }
  // Which kernel a grant went to on scheduler 0 in the last cycle; kMaxKernels if none.
  unsigned granted_on_0() const { return granted_on_0_; }

 private:
  std::string Where(Cycle now) const {
    return "on SM " + std::to_string(id_) + " at " + std::to_string(now);
  }
  // Once a TB has passed its middle it cannot be flushed any more.
  bool Unsafe(const Tb& tb) const {
    return tb.progress.left[0] * 2 < ledger_.at(tb.kernel).launch->instructions;
  }

  void SetReady(const Tb& tb, const Launch& launch, Cycle now) {
    unsigned most_left = 0;
    if (launch.barrier_every != 0) {
      for (const unsigned left : tb.progress.left) most_left = std::max(most_left, left);
    }
    for (unsigned w = 0; w < tb.warps.size(); ++w) {
      const unsigned left = tb.progress.left[w];
      if (left == 0 || now < tb.next[w]) continue;
      const unsigned done = launch.instructions - left;
      const bool waits =
          left < most_left && launch.barrier_every != 0 && done % launch.barrier_every == 0;
      if (waits) continue;
      const unsigned slot = tb.warps[w];
      if (scenario_.ready_percent < 100 &&
          Hash(scenario_.seed, 4, id_ * 64 + slot, now) % 100 >= scenario_.ready_percent) {
        continue;
      }
      in_.ready[slot % scenario_.config.num_schedulers] |=
          WarpMask{1} << (slot / scenario_.config.num_schedulers);
    }
  }

  void ApplyRelease(const SmOutputs& out, Cycle now) {
    if (!out.release_valid) return;
    const unsigned slot = Index(out.release_slot);
    Tb& tb = tbs_[slot];
    const bool stopped = (stop_ >> slot & 1) != 0;
    Require(tb.valid && tb.active && stopped && (in_.tb_quiet >> slot & 1) != 0, Check::kRelease,
            [&] { return "of a TB in full run " + Where(now); });
    const bool saved = out.release_kind == TbRelease::kSaved;
    TbRecord& record = ledger_.tb(tb.kernel, tb.tb);
    if (saved) {
      const Launch& launch = *ledger_.at(tb.kernel).launch;
      record.buffer = port_.Close(out.release_slot, true, ContextLines(launch.descriptor.need));
      record.progress = tb.progress;
    } else {
      Require((in_.tb_flushable >> slot & 1) != 0, Check::kRelease,
              [&] { return "flushed against its will " + Where(now); });
      record.progress = Progress{};
    }
    ledger_.Leave(tb.kernel, tb.tb, saved ? Place::kSaved : Place::kFlushed, now);
    in_.tb_quiet &= ~(1u << slot);
    Free(slot);
  }

  // A context that is being stored belongs to a TB that stays stopped.
  void CheckStops(const SmOutputs& out) const {
    const DispatchMode mode = scenario_.policy.dispatch;
    const bool whole_sm = mode != DispatchMode::kPartitioned && mode != DispatchMode::kEven &&
                          mode != DispatchMode::kTable && mode != DispatchMode::kSlicer;
    Require(whole_sm || (out.tb_stop & (out.tb_stop - 1)) == 0, Check::kStop,
            [&] { return "more than one TB is stopped on SM " + std::to_string(id_); });
    if (!out.context.valid || !out.context.store) return;
    const bool stopped = (out.tb_stop >> Index(out.context.tb_slot) & 1) != 0;
    Require(stopped && (in_.tb_quiet >> Index(out.context.tb_slot) & 1) != 0, Check::kStop,
            [&] { return "a running TB is saved on SM " + std::to_string(id_); });
  }

  void ApplyGrants(const SmOutputs& out, Cycle now) {
    granted_on_0_ = kMaxKernels;
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      const bool granted = (out.grant_valid >> s & 1) != 0;
      WarpMask may = 0;
      for (unsigned m = in_.ready[s]; m != 0; m &= m - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(m));
        const unsigned slot = owner_[i * scenario_.config.num_schedulers + s];
        if ((out.tb_stop >> slot & 1) == 0) may |= WarpMask{1} << i;
      }
      may_[s] = may;
      if (!granted) continue;
      const bool right =
          out.grant_warp[s] < kMaxWarpsPerScheduler && (may >> out.grant_warp[s] & 1) != 0;
      Require(right, Check::kGrant, [&] {
        return "scheduler " + std::to_string(s) + " grants warp " +
               std::to_string(out.grant_warp[s]) + " " + Where(now);
      });
      Issue(out.grant_warp[s] * scenario_.config.num_schedulers + s, now);
      if (s == 0)
        granted_on_0_ = tbs_[owner_[out.grant_warp[s] * scenario_.config.num_schedulers]].kernel;
    }
  }

  void Issue(unsigned warp_slot, Cycle now) {
    Tb& tb = tbs_[owner_[warp_slot]];
    unsigned w = 0;
    while (tb.warps[w] != warp_slot) ++w;
    ++grants_;
    const std::uint64_t h = Hash(scenario_.seed, 5, now, id_ * 64 + warp_slot);
    const Cycle latency = 1 + (h % 16 == 0 ? h / 16 % 200 : h / 16 % 8);
    tb.next[w] = now + latency;
    tb.in_flight = std::max(tb.in_flight, now + latency);
    if (--tb.progress.left[w] == 0) --tb.alive;
  }

  void Place(const WarpStart& start, Cycle now) {
    const unsigned warp = Index(start.warp), slot = Index(start.tb_slot);
    const bool exists =
        warp < scenario_.config.limits.threads && slot < scenario_.config.limits.tbs;
    Require(exists && (used_ >> warp & 1) == 0, Check::kSlots,
            [&] { return "warp slot " + std::to_string(warp) + " is not free " + Where(now); });
    Tb& tb = tbs_[slot];
    if (start.warp_in_tb == 0) Claim(start, now);
    const bool same = tb.valid && !tb.active && tb.kernel == Index(start.kernel) &&
                      tb.tb == start.tb && tb.restore == start.restore &&
                      start.warp_in_tb == tb.warps.size() && tb.warps.size() < tb.need_warps;
    Require(same, Check::kSlots, [&] {
      return "TB slot " + std::to_string(slot) + " takes a stray warp " + Where(now);
    });
    tb.warps.push_back(warp);
    used_ |= std::uint64_t{1} << warp;
    owner_[warp] = static_cast<std::uint8_t>(slot);
  }

  void Claim(const WarpStart& start, Cycle now) {
    Tb& tb = tbs_[Index(start.tb_slot)];
    Require(!tb.valid, Check::kSlots, [&] { return "a TB slot is used twice " + Where(now); });
    ledger_.Start(start, id_, now);
    tb = Tb{};
    tb.valid = true;
    tb.restore = start.restore;
    tb.kernel = Index(start.kernel);
    tb.tb = start.tb;
    tb.base = start.base;
    const ResourceVector& need = ledger_.at(tb.kernel).launch->descriptor.need;
    tb.need_warps = need.threads;
    taken_ += need;
    Require(FitsIn(taken_, scenario_.config.limits), Check::kResources, [&] { return Where(now); });
    if (scenario_.policy.dispatch == DispatchMode::kSpatial ||
        scenario_.policy.dispatch == DispatchMode::kToken) {
      unsigned kernels = 0;
      for (const Tb& other : tbs_) kernels |= other.valid ? 1u << other.kernel : 0;
      Require(static_cast<unsigned>(__builtin_popcount(kernels)) <= MostKernels(), Check::kHosting,
              [&] { return "too many kernels " + Where(now); });
    }
  }

  // One, but for spatial sharing among fewer SMs than kernels: as many as on the others.
  unsigned MostKernels() const {
    if (scenario_.policy.dispatch == DispatchMode::kToken) return 1;
    const auto programs = static_cast<unsigned>(scenario_.programs.size());
    const unsigned sms = scenario_.config.num_sms;
    return (std::min(programs, scenario_.config.num_kernels) + sms - 1) / sms;
  }

  void Activate(unsigned slot, Cycle now) {
    Tb& tb = tbs_[slot];
    Require(tb.valid && !tb.active && tb.warps.size() == tb.need_warps, Check::kSlots,
            [&] { return "an unfinished TB starts to run " + Where(now); });
    tb.active = true;
    const Launch& launch = *ledger_.at(tb.kernel).launch;
    if (tb.restore) {
      const TbRecord& record = ledger_.tb(tb.kernel, tb.tb);
      const unsigned lines = ContextLines(launch.descriptor.need);
      const auto base = port_.Close(static_cast<TbSlot>(slot), false, lines);
      Require(base == record.buffer, Check::kContext, [&] { return "other buffer " + Where(now); });
      memory_.Free(base, lines);
      tb.progress = record.progress;
    } else {
      for (unsigned w = 0; w < tb.need_warps; ++w) {
        const std::uint64_t h = Hash(scenario_.seed, 6, Index(tb.tb), w);
        tb.progress.left.push_back(
            static_cast<std::uint16_t>(launch.instructions + h % launch.spread));
      }
    }
    for (const unsigned left : tb.progress.left) tb.alive += left != 0 ? 1 : 0;
    // The schedulers know one cycle later that it runs.
    tb.next.assign(tb.need_warps, now + 2 + Hash(scenario_.seed, 7, now, slot) % 20);
    tb.in_flight = now + 1;
  }

  void DriveContext(const SmOutputs& out, Cycle now) {
    const Tb& tb = tbs_[Index(out.context.tb_slot)];
    const bool valid = out.context.valid && tb.valid;
    const Launch* launch = valid ? ledger_.at(tb.kernel).launch : nullptr;
    const ContextMemory::Owner owner{tb.kernel, ledger_.at(tb.kernel).number, tb.tb,
                                     out.context.line};
    port_.Drive(out.context, in_.context_ready, launch, owner, &memory_, now);
  }

  void Free(unsigned slot) {
    Tb& tb = tbs_[slot];
    for (const unsigned w : tb.warps) used_ &= ~(std::uint64_t{1} << w);
    taken_ -= ledger_.at(tb.kernel).launch->descriptor.need;
    tb.valid = false;
  }

  const Scenario& scenario_;
  unsigned id_;
  Ledger& ledger_;
  ContextMemory& memory_;
  ContextPort port_;
  SmInputs in_{};
  std::array<Tb, kMaxTbSlots> tbs_{};
  std::array<std::uint8_t, kMaxWarps> owner_{};  // TB slot of each warp
  std::array<WarpMask, kMaxSchedulers> may_{};
  std::uint64_t used_ = 0;
  ResourceVector taken_{};
  std::uint32_t stop_ = 0;
  bool samples_ = false;
  bool place_waits_ = false;
  std::uint64_t grants_ = 0;
  unsigned granted_on_0_ = kMaxKernels;
};

}  // namespace smk::plane
