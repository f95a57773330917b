// SPDX-License-Identifier: Apache-2.0
// A small control plane for tests of the machine: no policy, no hardware timing.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "control/control_plane.h"

namespace smk {

// Dispatches the TBs of all kernels round robin to any SM with room, at once, and grants the warp
// that was placed first. Preempts and restores only what a test scripts. A test makes a bad control
// plane of it by overriding Tamper().
class SimpleControl : public ControlPlane {
 public:
  // At `cycle`, the TB in the slot is saved (or flushed); it may start again `away` cycles after it
  // has left.
  struct Script {
    Cycle cycle = 0;
    SmId sm{0};
    TbSlot slot{0};
    Cycle away = 0;
    bool flush = false;
  };

  explicit SimpleControl(const ControlConfig& config, std::vector<Script> scripts = {})
      : config_(config), scripts_(std::move(scripts)), sms_(config.num_sms) {}

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    now_ = now;
    *out = HostOutputs{};
    if (in.launch_valid) {
      Kernel& kernel = kernels_[Index(in.launch_kernel)];
      out->launch_ready = true;
      if (!FitsIn(in.launch.need, config_.limits)) {
        out->launch_error = LaunchError::kTooLarge;
      } else {
        launching_ = static_cast<int>(Index(in.launch_kernel));
        kernel.launch = in.launch;
      }
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      Kernel& kernel = kernels_[k];
      if (!kernel.running || kernel.completed != kernel.launch.tb_count) continue;
      kernel.running = false;
      out->kernel_done |= static_cast<std::uint8_t>(1u << k);
    }
  }

  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    *out = SmOutputs{};
    Sm& state = sms_[Index(sm)];
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      if ((in.tb_finished >> slot & 1) != 0) Finish(&state, slot);
    }
    Schedule(state, in, out);
    StartScripts(sm, &state);
    if (state.leaving >= 0) {
      Leave(&state, in, out);
    } else if (state.arriving >= 0) {
      Arrive(&state, in, out);
    } else {
      Dispatch(&state);
    }
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      if (state.tbs[slot].stopped) out->tb_stop |= 1u << slot;
    }
    Tamper(sm, in, out);
  }

  // The SMs see a launch in the next cycle.
  void EndCycle(Cycle) override {
    if (launching_ < 0) return;
    Kernel& kernel = kernels_[static_cast<unsigned>(launching_)];
    kernel.next_tb = kernel.launch.first_tb;
    kernel.completed = 0;
    kernel.running = true;
    launching_ = -1;
  }

  SmMask awake_sms() const override {
    SmMask awake;
    for (unsigned i = 0; i < sms_.size(); ++i) {
      const Sm& sm = sms_[i];
      const bool busy = sm.leaving >= 0 || sm.arriving >= 0 || sm.released || CanDispatch(sm);
      bool scripted = false;
      for (const Script& s : scripts_) scripted |= Index(s.sm) == i;
      if (busy || scripted) awake.Set(i);
    }
    return awake;
  }
  bool driver_awake() const override {
    for (const Kernel& kernel : kernels_) {
      if (kernel.running && kernel.completed == kernel.launch.tb_count) return true;
    }
    return clocked_ || !scripts_.empty() || !away_.empty();
  }
  void EnableDecisionLog(bool) override {}
  const std::vector<Decision>& TakeDecisions() override { return decisions_; }
  PartitionTable partitions() const override { return {}; }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId) const override { return {}; }

 protected:
  // Changes the outputs of one SM before the machine sees them.
  virtual void Tamper(SmId, const SmInputs&, SmOutputs*) {}
  // Only with Clock() in every cycle.
  Cycle now() const { return now_; }
  void Clock() { clocked_ = true; }

 private:
  struct Kernel {
    KernelDescriptor launch;
    bool running = false;
    std::uint32_t next_tb = 0, completed = 0;
  };
  struct Tb {
    bool valid = false, stopped = false, restore = false;
    unsigned kernel = 0, buffer = 0;
    std::uint32_t id = 0;
    TbBase base{};
    std::vector<unsigned> warps;  // slots
  };
  struct Sm {
    std::array<Tb, kMaxTbSlots> tbs;
    ResourceVector taken;
    std::vector<unsigned> age;        // warp slots, first placed first
    int arriving = -1, leaving = -1;  // TB slots
    bool flush = false, released = false;
    unsigned step = 0, done = 0;
    Cycle away = 0;
  };
  struct Away {
    unsigned kernel, buffer;
    std::uint32_t id;
    bool restore;
    Cycle from;
  };

  bool CanDispatch(const Sm& sm) const {
    for (const Away& a : away_) {
      if (FitsIn(sm.taken + kernels_[a.kernel].launch.need, config_.limits)) return true;
    }
    for (const Kernel& k : kernels_) {
      if (k.running && k.next_tb != k.launch.first_tb + k.launch.tb_count &&
          FitsIn(sm.taken + k.launch.need, config_.limits)) {
        return true;
      }
    }
    return false;
  }

  void Dispatch(Sm* sm) {
    for (std::size_t i = 0; i < away_.size(); ++i) {
      const Away a = away_[i];
      if (now_ < a.from || !Fits(*sm, kernels_[a.kernel].launch.need)) continue;
      away_.erase(away_.begin() + static_cast<std::ptrdiff_t>(i));
      Claim(sm, a.kernel, a.id, a.restore, a.buffer);
      return;
    }
    for (unsigned n = 0; n < kNumKernels; ++n) {
      const unsigned k = (turn_ + n) % kNumKernels;
      Kernel& kernel = kernels_[k];
      if (!kernel.running || kernel.next_tb == kernel.launch.first_tb + kernel.launch.tb_count) {
        continue;
      }
      if (!Fits(*sm, kernel.launch.need)) continue;
      turn_ = k + 1;
      Claim(sm, k, kernel.next_tb++, false, 0);
      return;
    }
  }

  // The first gap for so much of one memory; above its limit without one.
  std::uint16_t FirstGap(const Sm& sm, unsigned amount, std::uint16_t ResourceVector::*of,
                         std::uint16_t TbBase::*base) const {
    unsigned at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Tb& tb : sm.tbs) {
        if (!tb.valid) continue;
        const unsigned begin = tb.base.*base, end = begin + kernels_[tb.kernel].launch.need.*of;
        if (begin >= at + amount || end <= at) continue;
        at = end;
        moved = true;
      }
    }
    return static_cast<std::uint16_t>(at);
  }
  TbBase FirstGaps(const Sm& sm, const ResourceVector& need) const {
    return {
        FirstGap(sm, need.registers, &ResourceVector::registers, &TbBase::registers),
        FirstGap(sm, need.shared_memory, &ResourceVector::shared_memory, &TbBase::shared_memory)};
  }
  bool Fits(const Sm& sm, const ResourceVector& need) const {
    if (!FitsIn(sm.taken + need, config_.limits)) return false;
    const TbBase base = FirstGaps(sm, need);
    return base.registers + need.registers <= config_.limits.registers &&
           base.shared_memory + need.shared_memory <= config_.limits.shared_memory;
  }

  void Claim(Sm* sm, unsigned kernel, std::uint32_t id, bool restore, unsigned buffer) {
    unsigned slot = 0;
    while (sm->tbs[slot].valid) ++slot;
    const ResourceVector& need = kernels_[kernel].launch.need;
    std::vector<bool> used(kMaxWarps);
    for (const Tb& tb : sm->tbs) {
      for (const unsigned w : tb.warps) used[w] = true;
    }
    const TbBase base = FirstGaps(*sm, need);
    Tb& tb = sm->tbs[slot];
    tb = Tb{true, false, restore, kernel, buffer, id, base, {}};
    for (unsigned w = 0; tb.warps.size() < need.threads; ++w) {
      if (!used[w]) tb.warps.push_back(w);
    }
    sm->taken += need;
    sm->arriving = static_cast<int>(slot);
    sm->step = sm->done = 0;
  }

  // One warp per cycle, then the context, then the TB starts.
  void Arrive(Sm* sm, const SmInputs& in, SmOutputs* out) {
    const unsigned slot = static_cast<unsigned>(sm->arriving);
    Tb& tb = sm->tbs[slot];
    const KernelDescriptor& launch = kernels_[tb.kernel].launch;
    const unsigned lines = tb.restore ? ContextLines(launch.need) : 0;
    const unsigned warps = static_cast<unsigned>(tb.warps.size());
    sm->done += in.context_done;
    if (sm->step < warps) {
      out->warp_start = {true,
                         WarpId{static_cast<std::uint8_t>(tb.warps[sm->step])},
                         static_cast<std::uint8_t>(sm->step),
                         TbSlot{static_cast<std::uint8_t>(slot)},
                         KernelId{static_cast<std::uint8_t>(tb.kernel)},
                         TbId{tb.id},
                         tb.restore,
                         tb.base};
      sm->age.push_back(tb.warps[sm->step++]);
    } else if (sm->step < warps + lines) {
      Transfer(sm, tb, slot, sm->step - warps, in, out);
    } else if (sm->done == lines) {
      out->tb_activate = 1u << slot;
      sm->arriving = -1;
    }
  }

  // Stop, drain, store the context, release.
  void Leave(Sm* sm, const SmInputs& in, SmOutputs* out) {
    const unsigned slot = static_cast<unsigned>(sm->leaving);
    Tb& tb = sm->tbs[slot];
    if (!tb.valid) {
      sm->leaving = -1;
      return;
    }
    const unsigned lines = ContextLines(kernels_[tb.kernel].launch.need);
    tb.stopped = true;
    sm->done += in.context_done;
    if (!sm->flush) {
      if (sm->step == 0 && (in.tb_quiet >> slot & 1) == 0) return;
      if (sm->step < lines) {
        Transfer(sm, tb, slot, sm->step, in, out);
        return;
      }
      if (sm->done < lines) return;
    }
    out->tb_stop |= 1u << slot;
    out->release_valid = true;
    out->release_slot = TbSlot{static_cast<std::uint8_t>(slot)};
    out->release_kind = sm->flush ? TbRelease::kFlushed : TbRelease::kSaved;
    away_.push_back({tb.kernel, tb.buffer, tb.id, !sm->flush, now_ + sm->away});
    sm->leaving = -1;
    Remove(sm, slot);
  }

  void Transfer(Sm* sm, const Tb& tb, unsigned slot, unsigned line, const SmInputs& in,
                SmOutputs* out) {
    if (!in.context_ready) return;
    const KernelDescriptor& launch = kernels_[tb.kernel].launch;
    std::uint64_t stride = kLineBytes;
    while (stride < std::uint64_t{ContextLines(launch.need)} * kLineBytes) stride *= 2;
    out->context = {true, !(sm->arriving >= 0), TbSlot{static_cast<std::uint8_t>(slot)},
                    static_cast<std::uint16_t>(line),
                    launch.context_base + tb.buffer * stride + std::uint64_t{line} * kLineBytes};
    ++sm->step;
  }

  void StartScripts(SmId id, Sm* sm) {
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      const Script script = scripts_[i];
      if (script.sm != id || script.cycle > now_ || sm->arriving >= 0 || sm->leaving >= 0) continue;
      scripts_.erase(scripts_.begin() + static_cast<std::ptrdiff_t>(i));
      sm->leaving = static_cast<int>(Index(script.slot));
      sm->flush = script.flush;
      sm->away = script.away;
      sm->step = sm->done = 0;
      sm->tbs[Index(script.slot)].buffer = next_buffer_++;
      return;
    }
  }

  void Finish(Sm* sm, unsigned slot) {
    Kernel& kernel = kernels_[sm->tbs[slot].kernel];
    ++kernel.completed;
    Remove(sm, slot);
  }

  void Remove(Sm* sm, unsigned slot) {
    Tb& tb = sm->tbs[slot];
    for (const unsigned w : tb.warps) {
      sm->age.erase(std::remove(sm->age.begin(), sm->age.end(), w), sm->age.end());
    }
    sm->taken -= kernels_[tb.kernel].launch.need;
    tb = Tb{};
  }

  void Schedule(const Sm& sm, const SmInputs& in, SmOutputs* out) const {
    for (const unsigned w : sm.age) {
      const unsigned s = w % config_.num_schedulers;
      const unsigned index = w / config_.num_schedulers;
      if ((out->grant_valid >> s & 1) != 0 || (in.ready[s] >> index & 1) == 0) continue;
      out->grant_valid |= static_cast<std::uint8_t>(1u << s);
      out->grant_warp[s] = static_cast<std::uint8_t>(index);
    }
  }

  ControlConfig config_;
  std::vector<Script> scripts_;
  std::vector<Sm> sms_;
  std::array<Kernel, kNumKernels> kernels_{};
  std::deque<Away> away_;
  int launching_ = -1;  // kernel slot
  bool clocked_ = false;
  unsigned turn_ = 0;
  unsigned next_buffer_ = 0;
  Cycle now_ = 0;
  std::vector<Decision> decisions_;
};

}  // namespace smk
