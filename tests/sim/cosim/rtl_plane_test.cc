// SPDX-License-Identifier: Apache-2.0
// The RTL as a control plane, on a machine of two SMs that the test plays: what it says of launches
// and TBs, when it sleeps, and that several of them do not disturb each other.
#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/configurations.h"
#include "cosim/rtl_control.h"

namespace smk {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr unsigned kSms = 2;

PolicyConfig Leftover() {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kLeftover;
  policy.kernels_per_sm = 2;
  return policy;
}

// A kernel whose TB takes two warps and so many registers.
KernelDescriptor Kernel(std::uint32_t tbs, std::uint16_t registers = 4) {
  KernelDescriptor kernel;
  kernel.need = {registers, 1, 2, 1};
  kernel.tb_count = tbs;
  return kernel;
}

// A machine whose TBs end so many cycles after all their warps have started.
class Machine {
 public:
  explicit Machine(std::unique_ptr<ControlPlane> plane, unsigned tb_cycles = 20)
      : plane_(std::move(plane)), tb_cycles_(tb_cycles) {}

  ControlPlane& plane() { return *plane_; }
  // Gives the answer to a launch, which must come within some cycles.
  LaunchError Launch(KernelId slot, const KernelDescriptor& kernel) {
    for (unsigned i = 0; i < 50; ++i) {
      HostInputs in;
      in.launch_valid = true;
      in.launch_kernel = slot;
      in.launch = kernel;
      const HostOutputs out = OneCycle(in);
      if (out.launch_ready) return out.launch_error;
    }
    ADD_FAILURE() << "the launch was never taken";
    return LaunchError::kNone;
  }
  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) OneCycle({});
  }

  std::vector<std::string> started;          // "0:7": TB 7 of kernel slot 0, at its first warp
  std::array<unsigned, kSms> warps{};        // started on each SM
  unsigned running = 0, most = 0, done = 0;  // TBs; mask of kernels that are done

 private:
  HostOutputs OneCycle(const HostInputs& in) {
    HostOutputs host;
    const SmMask awake = plane_->awake_sms();
    plane_->BeginCycle(now_, in, &host);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      SmInputs inputs;
      for (unsigned slot = 0; slot < 32; ++slot) {
        if (ends_[sm][slot] != now_ || now_ == 0) continue;
        inputs.tb_finished |= 1u << slot;
        --running;
      }
      if (inputs.Quiet() && !awake.Test(sm)) continue;
      SmOutputs out;
      plane_->StepSm(static_cast<SmId>(sm), inputs, &out);
      See(sm, out);
    }
    plane_->EndCycle(now_++);
    done |= host.kernel_done;
    return host;
  }
  void See(unsigned sm, const SmOutputs& out) {
    if (out.warp_start.valid) {
      ++warps[sm];
      if (out.warp_start.warp_in_tb == 0) {
        started.push_back(std::to_string(Index(out.warp_start.kernel)) + ":" +
                          std::to_string(Index(out.warp_start.tb)));
      }
    }
    for (unsigned slot = 0; slot < 32; ++slot) {
      if ((out.tb_activate >> slot & 1) == 0) continue;
      ends_[sm][slot] = now_ + tb_cycles_;
      most = std::max(most, ++running);
    }
  }

  std::unique_ptr<ControlPlane> plane_;
  const unsigned tb_cycles_;
  Cycle now_ = 0;
  std::array<std::array<Cycle, 32>, kSms> ends_{};
};

Machine Rtl(const PolicyConfig& policy = Leftover()) {
  return Machine(MakeRtlControl(Small(), policy));
}
Machine Reference(const PolicyConfig& policy = Leftover()) {
  return Machine(MakeReferenceControl(Small(), policy));
}

TEST(RtlPlane, EveryTbOfALaunchStartsOnceAndTheKernelIsDone) {
  Machine machine(MakeRtlControl(Small(), Leftover()), 200);
  EXPECT_EQ(machine.Launch(KernelId{0}, Kernel(12)), LaunchError::kNone);
  machine.Run(1000);
  EXPECT_EQ(std::set<std::string>(machine.started.begin(), machine.started.end()).size(), 12u);
  EXPECT_EQ(machine.started.size(), 12u);
  EXPECT_EQ(machine.warps[0] + machine.warps[1], 24u) << "two of each TB";
  EXPECT_EQ(machine.most, 8u) << "four TBs on each SM";
  EXPECT_EQ(machine.done, 1u);
  EXPECT_EQ(machine.running, 0u);
}

TEST(RtlPlane, TbsAreNumberedFromTheFirstOfTheSlice) {
  Machine machine = Rtl();
  KernelDescriptor slice = Kernel(3);
  slice.first_tb = 100;
  machine.Launch(KernelId{1}, slice);
  machine.Run(100);
  EXPECT_THAT(machine.started, testing::UnorderedElementsAre("1:100", "1:101", "1:102"));
  EXPECT_EQ(machine.done, 2u) << "the kernel in slot 1";
}

TEST(RtlPlane, LaunchesThatCannotBeAreRefusedAsTheReferenceDoes) {
  const std::vector<std::pair<unsigned, KernelDescriptor>> launches = {
      {0, Kernel(1, 33)}, {0, Kernel(0)}, {9, Kernel(1)}, {0, Kernel(5, 32)}, {0, Kernel(1)}};
  Machine rtl = Rtl(), reference = Reference();
  std::vector<LaunchError> seen;
  for (const auto& [slot, kernel] : launches) {
    seen.push_back(rtl.Launch(static_cast<KernelId>(slot), kernel));
    EXPECT_EQ(seen.back(), reference.Launch(static_cast<KernelId>(slot), kernel)) << slot;
  }
  EXPECT_THAT(seen, ElementsAre(LaunchError::kTooLarge, LaunchError::kNoTbs, LaunchError::kBadSlot,
                                LaunchError::kNone, LaunchError::kSlotBusy));
}

TEST(RtlPlane, ASlotThatTheRtlDoesNotHaveIsRefused) {
  Machine machine = Rtl();  // it has two
  for (const unsigned slot : {2u, 3u, 4u, 200u}) {
    EXPECT_EQ(machine.Launch(static_cast<KernelId>(slot), Kernel(1)), LaunchError::kBadSlot)
        << slot;
  }
  machine.Run(50);
  EXPECT_TRUE(machine.started.empty());
}

TEST(RtlPlane, NobodyIsAwakeWhenNothingIsToBeDone) {
  Machine machine = Rtl();
  machine.Run(20);
  EXPECT_FALSE(machine.plane().awake_sms().Any());
  EXPECT_FALSE(machine.plane().driver_awake());
  machine.Launch(KernelId{0}, Kernel(2));
  EXPECT_TRUE(machine.plane().driver_awake());
  machine.Run(200);
  EXPECT_FALSE(machine.plane().awake_sms().Any()) << "and again afterwards";
}

TEST(RtlPlane, DecisionsAreKeptWhenAskedFor) {
  Machine silent = Rtl(), logged = Rtl(), reference = Reference();
  for (Machine* machine : {&logged, &reference}) machine->plane().EnableDecisionLog(true);
  for (Machine* machine : {&silent, &logged, &reference}) {
    machine->Launch(KernelId{0}, Kernel(10));
    machine->Run(150);
  }
  EXPECT_TRUE(silent.plane().TakeDecisions().empty());
  const std::vector<Decision> seen = logged.plane().TakeDecisions();
  const std::vector<Decision> expected = reference.plane().TakeDecisions();
  ASSERT_EQ(seen.size(), expected.size());
  std::vector<unsigned> tbs;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].cycle, expected[i].cycle) << i;
    EXPECT_EQ(seen[i].reason, expected[i].reason) << i;
    EXPECT_EQ(seen[i].sm, expected[i].sm) << i;
    if (seen[i].reason == DecisionReason::kDispatchNew) tbs.push_back(Index(seen[i].tb));
  }
  EXPECT_THAT(tbs, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_TRUE(logged.plane().TakeDecisions().empty()) << "they were taken";
}

TEST(RtlPlane, PartitionsAreTheReferences) {
  PolicyConfig policy = Leftover();
  policy.dispatch = DispatchMode::kPartitioned;
  policy.quota_enable = true;
  policy.kernels_per_sm = 4;  // no restriction, of the reference's four slots either
  Machine rtl = Rtl(policy), reference = Reference(policy);
  for (Machine* machine : {&rtl, &reference}) {
    machine->Launch(KernelId{0}, Kernel(1000));
    machine->Launch(KernelId{1}, Kernel(1000, 8));
    machine->Run(300);
  }
  EXPECT_EQ(rtl.plane().partitions(), reference.plane().partitions());
  EXPECT_NE(rtl.plane().partitions(), PartitionTable{});
  EXPECT_EQ(rtl.started, reference.started);
  for (unsigned sm = 0; sm < kSms; ++sm) {
    EXPECT_EQ(rtl.plane().quotas(static_cast<SmId>(sm)),
              reference.plane().quotas(static_cast<SmId>(sm)));
  }
}

TEST(RtlPlane, WithoutQuotasThereAreNone) {
  Machine machine = Rtl();
  machine.Launch(KernelId{0}, Kernel(10));
  machine.Run(60);
  EXPECT_THAT(machine.plane().quotas(SmId{0}), Each(0));
}

TEST(RtlPlane, MoreKernelsOnAnSmThanThereAreSlotsAreNoRestriction) {
  PolicyConfig two = Leftover(), four = Leftover();
  four.kernels_per_sm = 4;
  Machine a = Rtl(two), b = Rtl(four);
  for (Machine* machine : {&a, &b}) {
    machine->Launch(KernelId{0}, Kernel(3));
    machine->Launch(KernelId{1}, Kernel(30));
    machine->Run(300);
  }
  EXPECT_EQ(a.started, b.started);
}

TEST(RtlPlane, SeveralDoNotDisturbEachOther) {
  Machine alone = Rtl();
  alone.Launch(KernelId{0}, Kernel(9));
  alone.Run(300);
  Machine first = Rtl();
  first.Launch(KernelId{0}, Kernel(9));
  std::vector<std::string> others;
  for (unsigned i = 0; i < 30; ++i) {
    Machine other = Rtl();  // comes and goes meanwhile
    other.Launch(KernelId{1}, Kernel(5));
    other.Run(40);
    first.Run(10);
    others.insert(others.end(), other.started.begin(), other.started.end());
  }
  EXPECT_EQ(first.started, alone.started);
  EXPECT_FALSE(others.empty());
}

TEST(RtlPlane, ATbThatWasNeverThereIsAFailedAssertion) {
  const auto plane = MakeRtlControl(Small(), Leftover());
  HostOutputs host;
  SmInputs in;
  in.tb_finished = 1;  // slot 0 of an empty SM
  EXPECT_THROW(
      {
        for (Cycle now = 0; now < 5; ++now) {
          plane->BeginCycle(now, {}, &host);
          SmOutputs out;
          plane->StepSm(SmId{0}, in, &out);
          plane->EndCycle(now);
        }
      },
      CheckFailure);
}

}  // namespace
}  // namespace smk
