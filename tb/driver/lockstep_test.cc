// SPDX-License-Identifier: Apache-2.0
// smk_driver against Driver: every output, every cycle.
#include <Vfermi_driver.h>
#include <Vfermi_driver_smk_pkg.h>
#include <Vsmk_driver.h>
#include <Vsmk_driver_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "driver/ordered.h"
#include "driver/pair.h"
#include "driver/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_driver_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_driver_smk_pkg>(), "rtl and model disagree");

using Gtx980 = DriverPair<Vsmk_driver, Vsmk_driver_smk_pkg>;
using Fermi = DriverPair<Vfermi_driver, Vfermi_driver_smk_pkg>;

constexpr DispatchMode kModes[] = {DispatchMode::kLeftover,    DispatchMode::kEven,
                                   DispatchMode::kSpatial,     DispatchMode::kOnDemand,
                                   DispatchMode::kPartitioned, DispatchMode::kTable,
                                   DispatchMode::kSlicer,      DispatchMode::kToken};

PolicyConfig PolicyOf(DispatchMode mode, Dice* dice) {
  PolicyConfig policy;
  policy.dispatch = mode;
  policy.preempt = static_cast<PreemptMode>(dice->Below(3));
  policy.quota_enable = dice->Percent(50);
  policy.quota_gate = dice->Percent(90);
  policy.kernels_per_sm = static_cast<std::uint8_t>(dice->Percent(60) ? 4 : 1 + dice->Below(3));
  for (auto& tbs : policy.table) tbs = static_cast<std::uint8_t>(1 + dice->Below(6));
  policy.epoch_length = static_cast<std::uint16_t>(100 + dice->Below(3000));
  policy.linger_ticks = static_cast<std::uint16_t>(dice->Below(4));
  policy.latency_scale = static_cast<std::uint8_t>(dice->Percent(60) ? 1 : 2 + dice->Below(7));
  policy.leftover_strict = dice->Percent(50);
  policy.slicer_warmup = policy.slicer_settle = 20;
  policy.slicer_window = 30;
  policy.token_window = static_cast<std::uint8_t>(10 + dice->Below(3));
  policy.token_quota = 20 + dice->Below(1000);
  for (auto& request : policy.token_request) {
    request = static_cast<std::uint16_t>(dice->Below(kTokenWhole / kNumKernels));
  }
  for (auto& limit : policy.token_limit) {
    limit = static_cast<std::uint16_t>(kTokenWhole / 4 + dice->Below(kTokenWhole));
  }
  return policy;
}

// SMs that are fast or slow at each thing; waits of different length.
DriverRates RatesOf(Dice* dice) {
  DriverRates rates;
  rates.tick = 50 + dice->Below(300);
  rates.launch = 60 + dice->Below(300);
  rates.bad_launch = 100;
  rates.finish = dice->Percent(50) ? 2 + dice->Below(20) : 100 + dice->Below(400);
  rates.free = 1 + dice->Below(60);
  rates.settle = 1 + dice->Below(20);
  rates.leave = 1 + dice->Below(60);
  rates.busy = dice->Percent(30) ? 0 : 1 + dice->Below(4);
  if (rates.busy == 1) rates.busy = 2;
  rates.spare_victims = dice->Percent(30) ? dice->Below(3) : 0;
  rates.launches = ~0u;
  rates.most_tbs = dice->Percent(50) ? 20 : 300;
  rates.odd_sizes = dice->Percent(50) ? 0 : 30;
  return rates;
}

template <typename Pair>
void Run(DriverTraffic<Pair>* traffic, bool lively, Dice* dice, unsigned cycles,
         DriverTally* tally) {
  auto& bench = traffic->bench();
  for (unsigned cycle = 0; cycle < cycles && bench.driver().lockstep().ok(); ++cycle) {
    if (cycle % 500 == 0) traffic->rates() = lively ? DriverRates::Lively() : RatesOf(dice);
    traffic->Cycle();
    ++tally->running[__builtin_popcount(bench.driver().model().kernel_table().active())];
    for (unsigned sm = 0; sm < Pair::kSms; ++sm) {
      const DriverToSm& to_sm = bench.to_sm(sm);
      if (to_sm.command_valid) ++tally->commands[static_cast<unsigned>(to_sm.command.op)];
    }
  }
  for (const Decision& d : bench.log()) ++tally->reasons[static_cast<unsigned>(d.reason)];
  for (unsigned k = 0; k < kNumKernels; ++k) {
    tally->launches += traffic->launches(k);
    tally->done += bench.done(k);
  }
  for (unsigned i = 0; i < 5; ++i) tally->refused[i] += traffic->refused()[i];
}

template <typename Pair>
void RunModes(unsigned seeds, unsigned cycles, DriverTally* tally) {
  for (unsigned n = 0; n < seeds; ++n) {
    for (const DispatchMode mode : kModes) {
      const std::uint64_t seed = GetTestOptions().seed + n;
      Dice dice(seed);
      PolicyConfig policy = PolicyOf(mode, &dice);
      if (n % 2 == 0) {  // whatever the seed, all kinds of decisions and commands must come
        policy.quota_enable = true;
        policy.kernels_per_sm = kNumKernels;
        policy.latency_scale = 1;
      }
      policy.stream = n % 3 != 0;
      DriverTraffic<Pair> traffic(Pair::Config(), policy, {}, static_cast<unsigned>(seed), seed);
      Run(&traffic, mode == DispatchMode::kOnDemand && n % 2 == 0, &dice,
          n == 0 ? 3 * cycles : cycles, tally);
      const Pair& pair = traffic.bench().driver();
      ASSERT_TRUE(pair.lockstep().ok())
          << pair.lockstep().mismatch() << " mode " << static_cast<unsigned>(mode);
    }
  }
}

TEST(DriverLockstep, EqualsTheReferenceUnderRandomStimulus) {
  DriverTally tally;
  RunModes<Gtx980>(6, 3000, &tally);
  for (unsigned i = 0; i < tally.reasons.size(); ++i) {
    const auto reason = static_cast<DecisionReason>(i);
    // 512 buffers do not run out, SMs hold too many TBs to make room for a kernel's last ones, and
    // there is always somebody to make it: TbDispatchLockstep is about these three.
    if (reason == DecisionReason::kQueueFull || reason == DecisionReason::kRoomComing ||
        reason == DecisionReason::kNoVictim) {
      continue;
    }
    EXPECT_GT(tally.reasons[i], 0u) << "reason " << i;
  }
  for (unsigned i = 0; i < tally.commands.size(); ++i) EXPECT_GT(tally.commands[i], 0u) << i;
  for (unsigned i = 0; i < tally.running.size(); ++i) EXPECT_GT(tally.running[i], 0u) << i;
  EXPECT_EQ(tally.refused[0], 0u);
  for (unsigned i = 1; i < 5; ++i) EXPECT_GT(tally.refused[i], 10u) << "error " << i;
  EXPECT_GT(tally.launches, 100u);
  EXPECT_GT(tally.done, 50u);
}

TEST(DriverLockstep, EqualsTheReferenceInConfigurationFermi) {
  DriverTally tally;
  RunModes<Fermi>(4, 2000, &tally);
  EXPECT_GT(tally.launches, 50u);
  EXPECT_GT(tally.done, 10u);
}

// The idle property: the block is clocked in every cycle, the reference only when it is awake or
// something arrives.
TEST(DriverLockstep, NothingChangesInAnIdleCycle) {
  for (const DispatchMode mode : {DispatchMode::kOnDemand, DispatchMode::kPartitioned}) {
    DriverRates rates;
    rates.finish = 2000;
    PolicyConfig policy;
    policy.dispatch = mode;
    std::uint64_t skipped = 0;  // in some lives the driver has nearly always something to do
    for (unsigned life = 1; life <= 8; ++life) {
      DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, rates, life);
      Gtx980& driver = traffic.bench().driver();
      driver.skip_idle = true;
      for (unsigned cycle = 0; cycle < 6000; ++cycle) traffic.Cycle();
      ASSERT_TRUE(driver.lockstep().ok()) << life << ": " << driver.lockstep().mismatch();
      skipped += driver.skipped;
    }
    EXPECT_GT(skipped, 8 * 500u);
  }
}

TEST(DriverLockstep, EveryKernelMakesRoomForEveryOtherOnAllSms) {
  Ordered<Gtx980> sms(DispatchMode::kOnDemand);
  for (unsigned i = 0; i < 12; ++i) {
    const unsigned victim = i % kNumKernels, kernel = (victim + 1 + i / 4) % kNumKernels;
    const unsigned part = i < 4 ? 32 : 8;
    sms.Launch(victim, sms.PartOfSm(part), Gtx980::kSms * part);
    sms.bench().log().clear();
    sms.Launch(kernel, sms.PartOfSm(2), Gtx980::kSms);
    unsigned preempted_on = 0;
    for (const Decision& d : sms.bench().log()) {
      if (d.reason == DecisionReason::kPreempt) preempted_on |= 1u << Index(d.sm);
    }
    EXPECT_EQ(preempted_on, 0xffffu) << i;
    sms.FinishAll();
  }
}

TEST(DriverLockstep, PartitionOfAKernelAloneIsWhatFits) {
  Ordered<Gtx980> sms(DispatchMode::kPartitioned);
  for (unsigned i = 0; i < 20; ++i) {
    const unsigned kernel = i % kNumKernels, tbs = std::array{32u, 25u, 14u, 21u, 1u}[i / 4];
    sms.Launch(kernel, sms.PartOfSm(tbs), Gtx980::kSms);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      EXPECT_EQ(sms.model().tb_dispatch().state().partition[sm][kernel], tbs);
    }
    sms.FinishAll();
  }
}

// The rules of the wiring, one by one, on SMs that do as they are ordered.
class Bench : public DriverBenchOf<Gtx980> {
 public:
  explicit Bench(DispatchMode mode = DispatchMode::kLeftover, unsigned kernels_per_sm = kNumKernels)
      : DriverBenchOf<Gtx980>(Gtx980::Config(), Policy(mode, kernels_per_sm)) {}
  ~Bench() { EXPECT_TRUE(driver().lockstep().ok()) << driver().lockstep().mismatch(); }
  const Vsmk_driver& dut() { return driver().dut(); }
  // Cycles until a command is offered.
  unsigned UntilCommand() {
    unsigned cycles = 0;
    while (dut().command_valid_o == 0 && cycles < 100) Cycle(), ++cycles;
    return cycles;
  }
  void Run(unsigned cycles) {
    while (cycles-- != 0) Cycle();
  }

 private:
  static PolicyConfig Policy(DispatchMode mode, unsigned kernels_per_sm) {
    PolicyConfig policy;
    policy.dispatch = mode;
    policy.kernels_per_sm = static_cast<std::uint8_t>(kernels_per_sm);
    return policy;
  }
};

constexpr ResourceVector kNeed{16, 0, 4, 1};

TEST(DriverLockstep, ATickReachesTheSmsInTheNextCycleOnly) {
  Bench bench;
  HostInputs host;
  host.tick = true;
  bench.Cycle(host);
  EXPECT_EQ(bench.dut().tick_o, 1) << "later than the contract";
  bench.Cycle();
  EXPECT_EQ(bench.dut().tick_o, 0);
}

// All SMs are assigned together: their number does not matter.
TEST(DriverLockstep, TheFirstCommandComesTenCyclesAfterALaunch) {
  Bench bench;
  bench.Launch(0, kNeed, 1);
  EXPECT_EQ(bench.UntilCommand(), 10u);
}

TEST(DriverLockstep, AnSmGetsNoCommandWithoutItsCredit) {
  Bench bench;
  bench.sm(0).ready = false;
  bench.Launch(0, kNeed, 1000);
  bench.UntilCommand();
  for (unsigned cycle = 0; cycle < 10; ++cycle) {
    bench.Cycle();
    EXPECT_EQ(bench.dut().command_valid_o & 1, 0) << "its credit is not back";
    EXPECT_EQ(bench.Resident(0, 0), 1u);
  }
}

TEST(DriverLockstep, ABufferIsGrantedAfterExactlyOneCycle) {
  Bench bench;
  bench.Ask(3, 0);
  EXPECT_EQ(bench.dut().buffer_valid_o, 0);
  bench.Cycle();
  EXPECT_EQ(bench.dut().buffer_valid_o, 1 << 3) << "later than the contract";
  bench.Run(3);
  EXPECT_EQ(bench.dut().buffer_valid_o, 0);
}

TEST(DriverLockstep, AKernelIsDoneTwoCyclesAfterItsLastTb) {
  Bench bench;
  bench.Launch(2, kNeed, 1);
  bench.Run(40);
  ASSERT_EQ(bench.Resident(2, 0), 1u);
  bench.Finish(0, 0);
  bench.Cycle();
  bench.Cycle();
  EXPECT_EQ(bench.host_out().kernel_done, 0) << "earlier than the contract";
  bench.Cycle();
  EXPECT_EQ(bench.host_out().kernel_done, 1 << 2) << "later than the contract";
  bench.Cycle();
  EXPECT_EQ(bench.host_out().kernel_done, 0);
}

TEST(DriverLockstep, ContextsAreKnownWithTheLaunchAndStay) {
  Bench bench;
  bench.Launch(1, kNeed, 1, 0x123456789a80);
  const auto view = [&] {
    KernelView v;
    UnpackAt<ContextViews<Gtx980::Package>>(1, bench.dut().views_o, &v);
    return v;
  };
  EXPECT_EQ(view().context_base, 0x123456789a80u);
  bench.Run(30);
  EXPECT_EQ(view().context_base, 0x123456789a80u);
}

// A kernel's place expires, and its SMs go to others, while nobody has a TB to dispatch: nothing
// else keeps the driver awake in the cycle in which a walk over the SMs says what has changed.
TEST(DriverLockstep, IsAwakeWhileSmsAreGivenToOthers) {
  unsigned after_a_walk = 0;
  for (unsigned scenario = 0; scenario < 2 * kNumKernels; ++scenario) {
    const unsigned ends = scenario % kNumKernels;
    Bench bench(DispatchMode::kOnDemand, 1 + scenario / kNumKernels);
    for (unsigned k = 0; k < kNumKernels; ++k) {
      bench.Launch(k, kNeed, 1);
      bench.Run(60);
    }
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      if (bench.Resident(ends, sm) == 0) continue;
      unsigned index = 0;
      while (bench.sm(sm).tbs[index].kernel != ends) ++index;
      bench.Finish(sm, index);
    }
    for (unsigned i = 0; i < 300; ++i) {
      HostInputs host;
      host.tick = i % 40 == 39;
      bench.Cycle(host);
      const SmAssign::State& assign = bench.driver().model().sm_assign().state();
      if (!assign.changed.Any()) continue;
      after_a_walk += assign.busy ? 0 : 1;
      EXPECT_EQ(bench.dut().awake_o, 1) << "scenario " << scenario;
    }
  }
  EXPECT_GT(after_a_walk, 0u);
}

// A new kernel makes the SMs be assigned, one after another; meanwhile no TB streams, though SMs
// have room, their credits, and kernels that wait.
TEST(DriverLockstep, NoTbStreamsWhileSmsAreAssigned) {
  Bench bench(DispatchMode::kLeftover, 2);
  const auto dispatched = [&] { return bench.fresh(0) + bench.fresh(1) + bench.fresh(2); };
  const auto cycle = [&](unsigned n) {
    const unsigned sm = n % Gtx980::kSms;
    if (!bench.sm(sm).tbs.empty()) bench.Finish(sm, 0);
    bench.Cycle();
  };
  for (unsigned k = 0; k < 2; ++k) bench.Launch(k, {64, 0, 16, 1}, 100'000);
  for (unsigned n = 0; n < 1000; ++n) cycle(n);
  const unsigned streamed = dispatched();
  EXPECT_GT(streamed, 200u);
  bench.Launch(2, {64, 0, 16, 1}, 100'000);
  unsigned walk = 0, at_its_begin = 0;
  for (unsigned n = 0; n < 40; ++n) {
    cycle(n);
    if (!bench.driver().model().sm_assign().state().busy) continue;
    // What was decided before is still on its way.
    if (++walk == 4) at_its_begin = dispatched();
    if (walk <= 4) continue;
    EXPECT_EQ(dispatched(), at_its_begin) << "cycle " << walk << " of the walk";
  }
  EXPECT_EQ(walk, Gtx980::kSms);
  for (unsigned n = 0; n < 200; ++n) cycle(n);
  EXPECT_GT(dispatched(), streamed + 50u) << "and then they do";
}

// A launch that is refused.
struct Fault {
  LaunchError error;
  std::function<void(HostInputs*)> make;
};

TEST(DriverLockstep, ARefusedLaunchChangesNothing) {
  const Fault faults[] = {
      {LaunchError::kTooLarge, [](HostInputs* h) { h->launch.need.registers = 257; }},
      {LaunchError::kTooLarge, [](HostInputs* h) { h->launch.need.shared_memory = 65535; }},
      {LaunchError::kTooLarge, [](HostInputs* h) { h->launch.need.threads = 65; }},
      {LaunchError::kTooLarge, [](HostInputs* h) { h->launch.need.threads = 0; }},
      {LaunchError::kNoTbs, [](HostInputs* h) { h->launch.tb_count = 0; }},
      {LaunchError::kBadSlot, [](HostInputs* h) { h->launch_kernel = KernelId{4}; }},
      {LaunchError::kBadSlot, [](HostInputs* h) { h->launch_kernel = KernelId{255}; }},
      {LaunchError::kSlotBusy, [](HostInputs* h) { h->launch_kernel = KernelId{1}; }}};
  for (const Fault& fault : faults) {
    Bench bench;
    bench.Launch(1, kNeed, 3);
    bench.Run(60);
    ASSERT_EQ(bench.dut().awake_o, 0);
    HostInputs host;
    host.launch_valid = true;
    host.launch.need = kNeed;
    host.launch.tb_count = 7;
    host.launch.context_base = 1u << 20;
    fault.make(&host);
    bench.Cycle(host);
    EXPECT_TRUE(bench.host_out().launch_ready);
    EXPECT_EQ(bench.host_out().launch_error, fault.error);
    for (unsigned cycle = 0; cycle < 40; ++cycle) {
      EXPECT_EQ(bench.dut().awake_o, 0);
      bench.Cycle();
    }
    EXPECT_EQ(bench.driver().model().kernel_table().active(), 1 << 1);
    bench.Launch(0, kNeed, 1);
    bench.Run(60);
    EXPECT_EQ(bench.fresh(0), 1u) << "a good launch after a bad one";
  }
}

PolicyConfig Lively(DispatchMode mode) {
  PolicyConfig policy;
  policy.dispatch = mode;
  policy.table = {2, 2, 2, 2};
  policy.epoch_length = 1000;
  return policy;
}

// Runs until the block and the broken reference differ.
std::string FirstMismatch(DriverTraffic<Gtx980>* traffic) {
  const Gtx980& driver = traffic->bench().driver();
  for (unsigned cycle = 0; cycle < 20'000 && driver.lockstep().ok(); ++cycle) traffic->Cycle();
  return driver.lockstep().mismatch();
}

TEST(DriverLockstep, FindsEachBrokenRule) {
  using Registers = Gtx980::SmRegisters;
  const std::function<void(HostInputs*, Registers*)> broken[] = {
      [](HostInputs* host, Registers*) { host->tick = false; },
      [](HostInputs* host, Registers*) { ++host->launch.tb_count; },
      [](HostInputs* host, Registers*) { host->launch.need.registers ^= 1; },
      [](HostInputs* host, Registers*) { host->launch.context_base += 128; },
      [](HostInputs* host, Registers*) { host->launch_kernel = KernelId{0}; },
      [](HostInputs*, Registers* sms) { (*sms)[0].command_credit = false; },
      [](HostInputs*, Registers* sms) { (*sms)[0].command_waits = false; },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.event.counted = false;
      },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.event.shortfall = 0;
      },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.event.tb = TbId{0};
      },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.event.buffer ^= 1;
      },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.buffer_request = false;
      },
      [](HostInputs*, Registers* sms) {
        for (SmToDriver& sm : *sms) sm.buffer_kernel = KernelId{0};
      }};
  for (const auto& rule : broken) {
    // The last four are about TBs that leave: many do when partitions change. Victims that leave,
    // and those that are not found, are two rules.
    const auto number = &rule - broken;
    const DispatchMode mode = number < 9 ? DispatchMode::kOnDemand : DispatchMode::kPartitioned;
    DriverRates rates = DriverRates::Lively();
    if (number == 1) rates.most_tbs = 20;  // a grid that ends soon
    if (number == 7) rates.spare_victims = 0;
    if (number >= 9) rates.finish = 200;
    // Not in every life is somebody preempted.
    std::string mismatch;
    for (unsigned life = 1; life <= 8 && mismatch.empty(); ++life) {
      DriverTraffic<Gtx980> traffic(Gtx980::Config(), Lively(mode), rates, life,
                                    GetTestOptions().seed);
      traffic.bench().driver().distort = rule;
      mismatch = FirstMismatch(&traffic);
    }
    EXPECT_THAT(mismatch, testing::HasSubstr("expected")) << number;
  }
}

TEST(DriverLockstep, FindsEachBrokenPolicy) {
  const std::function<void(PolicyConfig*)> broken[] = {
      [](PolicyConfig* policy) { policy->dispatch = DispatchMode::kEven; },
      [](PolicyConfig* policy) { policy->quota_enable = false; },
      [](PolicyConfig* policy) { policy->kernels_per_sm = 2; },
      [](PolicyConfig* policy) { ++policy->epoch_length; },
      [](PolicyConfig* policy) { policy->linger_ticks = 0; },
      [](PolicyConfig* policy) { policy->latency_scale = 2; }};
  for (const auto& rule : broken) {
    PolicyConfig policy = Lively(DispatchMode::kPartitioned);
    policy.quota_enable = true;
    DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, DriverRates::Lively(), 1,
                                  GetTestOptions().seed);
    PolicyConfig other = policy;
    rule(&other);
    traffic.rates().finish = 30;
    traffic.rates().most_tbs = 60;
    traffic.bench().driver().BreakPolicy(Gtx980::Config(), other);
    EXPECT_THAT(FirstMismatch(&traffic), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
