// SPDX-License-Identifier: Apache-2.0
// Compiled gates beside verilated RTL: instances of a block with random traffic of their own, as
// many as there are lanes, every output in every cycle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "control/message_fields.h"
#include "cosim/pack.h"
#include "cosim/verilated_unit.h"

namespace smk {

constexpr unsigned kMostLanes = 128;
template <typename Gates>
constexpr unsigned kLaneCount = 64 * Gates::kWords;

// Bits of a port of one lane, at most 64, into words and out of them.
template <typename Words>
void SetLane(Words* words, unsigned lane, std::uint64_t value) {
  for (auto& bit : *words) {
    const std::uint64_t others = bit[lane / 64] & ~(std::uint64_t{1} << lane % 64);
    bit[lane / 64] = others | (value & 1) << lane % 64;
    value >>= 1;
  }
}
template <typename Words>
std::uint64_t GetLane(const Words& words, unsigned lane) {
  std::uint64_t value = 0;
  unsigned b = 0;
  for (const auto& bit : words) value |= (bit[lane / 64] >> lane % 64 & 1) << b++;
  return value;
}

// What is different, by lane: the first output of each that is.
class LaneDifferences {
 public:
  explicit LaneDifferences(unsigned lanes) : first_(lanes) {}
  void Compare(unsigned lane, Cycle now, const char* port, std::uint64_t rtl, std::uint64_t gates) {
    ++compared_;
    if (rtl == gates || !first_[lane].empty()) return;
    first_[lane] = "lane " + std::to_string(lane) + ", cycle " + std::to_string(now) + ": " + port +
                   ": the RTL has " + std::to_string(rtl) + ", the gates have " +
                   std::to_string(gates);
  }
  // "": none.
  const std::string& first(unsigned lane) const { return first_[lane]; }
  std::uint64_t compared() const { return compared_; }

 private:
  std::vector<std::string> first_;
  std::uint64_t compared_ = 0;
};

// What a cycle has, of all lanes: warps that are ready; other warps are stopped, too; anything.
enum class LaneCycle { kQuiet, kChanged, kBusy };

// The context of models that may be told anything: what they demand of their users is not checked.
inline VerilatedContext* Unchecked(VerilatedContext* context) {
  context->assertOn(false);
  return context;
}

// One warp scheduler and what it hears: warps come, run, stop and leave, in phases.
template <typename Rtl>
class SchedulerLane {
 public:
  using Package = typename Rtl::Package;

  SchedulerLane(VerilatedContext* context, unsigned lane, std::uint64_t seed, bool greedy = false)
      : lane_(lane),
        greedy_(greedy),
        random_(seed * kMostLanes + lane),
        unit_(context, "scheduler") {
    unit_->policy_i = greedy ? 0 : Below(2);
    unit_->epoch_end_i = Below(2);
    unit_.Reset();
  }

  // The inputs of a cycle.
  void Drive(LaneCycle cycle) {
    if (Below(200) == 0) {
      phase_ = Below(4);
      only_ = 1u << Below(kWarps);
    }
    // Few, half of all, the same one again and again, none.
    ready_ = phase_ == 0 ? Random() & Random() : phase_ == 1 ? Random() : phase_ == 2 ? only_ : 0;
    leave_ = 0;
    start_ = load_ = tick_ = false;
    if (cycle == LaneCycle::kQuiet) return;
    if (Below(10) == 0) stop_ = Random() & Random() & Random();
    if (cycle == LaneCycle::kChanged) return;
    if (Below(8) == 0) leave_ = occupied_ & Random() & Random();
    warp_ = Below(kWarps);
    kernel_ = Below(Package::NumKernels);
    start_ = Below(3) == 0 && ((occupied_ & ~leave_) >> warp_ & 1) == 0;
    occupied_ = (occupied_ & ~leave_) | (start_ ? 1u : 0u) << warp_;
    if (Below(100) == 0) {
      for (std::uint64_t& quota : quota_) quota = Below(3) == 0 ? 0 : Below(phase_ * 20 + 3);
    }
    load_ = !gated_ && Below(100) == 0;
    gated_ = load_ || (gated_ && Below(400) != 0);
    if (greedy_ && ++cycles_ / 300 % 2 == 0) gated_ = load_ = false;
    tick_ = Below(20) == 0;
  }
  // To both.
  template <typename Gates>
  void Apply(Gates* gates) {
    auto& rtl = *unit_.operator->();
    const auto both = [&](auto* port, auto* words, std::uint64_t value) {
      *port = static_cast<std::decay_t<decltype(*port)>>(value);
      SetLane(words, lane_, value);
    };
    both(&rtl.ready_i, &gates->in.ready_i, ready_);
    both(&rtl.stop_i, &gates->in.stop_i, stop_);
    both(&rtl.leave_i, &gates->in.leave_i, leave_);
    both(&rtl.start_valid_i, &gates->in.start_valid_i, start_);
    both(&rtl.start_warp_i, &gates->in.start_warp_i, warp_);
    both(&rtl.start_kernel_i, &gates->in.start_kernel_i, kernel_);
    both(&rtl.gated_i, &gates->in.gated_i, gated_);
    SetLane(&gates->in.ungated_i, lane_, gated_ ? 0 : 1);
    std::uint64_t quotas = 0;
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      quotas |= quota_[k] << k * Package::QuotaWidth;
    }
    both(&rtl.quota_i, &gates->in.quota_i, quotas);
    both(&rtl.load_i, &gates->in.load_i, load_);
    both(&rtl.tick_i, &gates->in.tick_i, tick_);
    SetLane(&gates->in.policy_i, lane_, rtl.policy_i);
    SetLane(&gates->in.epoch_end_i, lane_, rtl.epoch_end_i);
    unit_.Cycle();
  }
  template <typename Gates>
  void Compare(const Gates& gates, Cycle now, LaneDifferences* differences) const {
    const auto& rtl = *unit_.operator->();
    const auto same = [&](const char* port, std::uint64_t want, const auto& words) {
      differences->Compare(lane_, now, port, want, GetLane(words, lane_));
    };
    same("grant_valid_o", rtl.grant_valid_o, gates.out.grant_valid_o);
    same("grant_warp_o", rtl.grant_warp_o, gates.out.grant_warp_o);
    same("grant_kernel_o", rtl.grant_kernel_o, gates.out.grant_kernel_o);
    same("left_o", rtl.left_o, gates.out.left_o);
    same("reload_o", rtl.reload_o, gates.out.reload_o);
    same("some_left_o", rtl.some_left_o, gates.out.some_left_o);
  }

 private:
  static constexpr unsigned kWarps = Package::WarpsPerScheduler;
  std::uint32_t Random() {
    return static_cast<std::uint32_t>(random_()) &
           static_cast<std::uint32_t>((std::uint64_t{1} << kWarps) - 1);
  }
  unsigned Below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  const unsigned lane_;
  const bool greedy_;
  std::mt19937_64 random_;
  VerilatedUnit<typename Rtl::Scheduler> unit_;
  unsigned cycles_ = 0, phase_ = 0, warp_ = 0, kernel_ = 0;
  std::uint32_t occupied_ = 0, ready_ = 0, stop_ = 0, leave_ = 0, only_ = 1;
  bool start_ = false, gated_ = false, load_ = false, tick_ = false;
  std::array<std::uint64_t, Package::NumKernels> quota_{};
};

// One that is greedy, and for long times without quotas, in all lanes at the same time.
template <typename Rtl>
class GreedyLane : public SchedulerLane<Rtl> {
 public:
  GreedyLane(VerilatedContext* context, unsigned lane, std::uint64_t seed)
      : SchedulerLane<Rtl>(context, lane, seed, true) {}
};

// The profile counters of one SM.
template <typename Rtl>
class ProfileLane {
 public:
  using Package = typename Rtl::Package;

  ProfileLane(VerilatedContext* context, unsigned lane, std::uint64_t seed)
      : lane_(lane), random_(seed * kMostLanes + lane), unit_(context, "profile") {
    unit_.Reset();
  }
  // A quarter of the lanes hears no tick, so that counters fill.
  void Drive(LaneCycle /*cycle*/) {
    grants_ = random_() & random_();
    kernels_ = (lane_ & 1) != 0 ? 0 : random_();
    if (lane_ % 4 == 1) grants_ = ~std::uint64_t{0};
    tick_ = lane_ % 4 != 1 && random_() % 700 == 0;
  }
  template <typename Gates>
  void Apply(Gates* gates) {
    auto& rtl = *unit_.operator->();
    rtl.grant_valid_i = grants_ & ((1u << Package::NumSchedulers) - 1);
    rtl.grant_kernel_i = kernels_ & ((1u << Package::NumSchedulers * Package::KernelWidth) - 1);
    rtl.tick_i = tick_;
    SetLane(&gates->in.grant_valid_i, lane_, grants_);
    SetLane(&gates->in.grant_kernel_i, lane_, kernels_);
    SetLane(&gates->in.tick_i, lane_, tick_);
    unit_.Settle();
    unit_.Edge();
  }
  template <typename Gates>
  void Compare(const Gates& gates, Cycle now, LaneDifferences* differences) const {
    const auto& rtl = *unit_.operator->();
    differences->Compare(lane_, now, "report_valid_o", rtl.report_valid_o,
                         GetLane(gates.out.report_valid_o, lane_));
    differences->Compare(lane_, now, "report_issued_o", rtl.report_issued_o,
                         GetLane(gates.out.report_issued_o, lane_));
  }

 private:
  const unsigned lane_;
  std::mt19937_64 random_;
  VerilatedUnit<typename Rtl::Profile> unit_;
  std::uint64_t grants_ = 0, kernels_ = 0;
  bool tick_ = false;
};

// Runs all lanes; `evaluate(gates, cycle)` makes one of the gates.
template <typename Lane, typename Gates, typename Evaluate>
LaneDifferences RunLanes(Gates* gates, std::uint64_t seed, Cycle cycles, Evaluate evaluate) {
  VerilatedContext context;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (unsigned lane = 0; lane < kLaneCount<Gates>; ++lane) {
    lanes.push_back(std::make_unique<Lane>(Unchecked(&context), lane, seed));
  }
  std::mt19937_64 random(seed);
  LaneDifferences differences(kLaneCount<Gates>);
  for (Cycle now = 0; now < cycles; ++now) {
    const auto kind = random() % 8;
    const LaneCycle cycle = kind == 0  ? LaneCycle::kChanged
                            : kind < 4 ? LaneCycle::kQuiet
                                       : LaneCycle::kBusy;
    for (const auto& lane : lanes) {
      lane->Drive(cycle);
      lane->Apply(gates);
    }
    evaluate(gates, cycle);
    for (const auto& lane : lanes) lane->Compare(*gates, now, &differences);
  }
  lanes.clear();
  Verilated::threadContextp(&context);
  return differences;
}

}  // namespace smk
