// SPDX-License-Identifier: Apache-2.0
// Every check of the test of the whole control plane fires: deliberately wrong control planes.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chip/plane_rig.h"
#include "control/reference_control.h"

namespace smk::plane {
namespace {

// The reference with something wrong at the seam.
class Wrong : public ControlPlane {
 public:
  explicit Wrong(const Scenario& s) : Wrong(s.config, s.policy) {}
  Wrong(const ControlConfig& config, const PolicyConfig& policy)
      : control_(MakeReferenceControl(config, policy)) {}

  std::function<void(HostOutputs*)> host;
  std::function<void(unsigned sm, SmInputs*)> inputs;
  std::function<void(unsigned sm, const SmInputs&, SmOutputs*)> outputs;
  std::function<void(std::vector<Decision>*)> log;
  std::function<SmMask(const SmMask&)> awake;

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    control_->BeginCycle(now, in, out);
    if (host) host(out);
  }
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    SmInputs seen = in;
    if (inputs) inputs(Index(sm), &seen);
    control_->StepSm(sm, seen, out);
    if (outputs) outputs(Index(sm), in, out);
  }
  void EndCycle(Cycle now) override { control_->EndCycle(now); }
  SmMask awake_sms() const override {
    return awake ? awake(control_->awake_sms()) : control_->awake_sms();
  }
  bool driver_awake() const override { return control_->driver_awake(); }
  void EnableDecisionLog(bool on) override { control_->EnableDecisionLog(on); }
  const std::vector<Decision>& TakeDecisions() override {
    decisions_ = control_->TakeDecisions();
    if (log) log(&decisions_);
    return decisions_;
  }
  PartitionTable partitions() const override { return control_->partitions(); }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    return control_->quotas(sm);
  }

 private:
  std::unique_ptr<ControlPlane> control_;
  std::vector<Decision> decisions_;
};

using MakeWrong = std::function<std::unique_ptr<Wrong>(const Scenario&)>;

// Runs random scenarios until the wrong control plane is found out; the name of the check that did.
std::string FoundBy(DispatchMode mode, const MakeWrong& make, bool lazy = false) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Scenario scenario = RandomScenario(seed, mode);
    const auto wrong = make(scenario);
    const auto right = MakeReferenceControl(scenario.config, scenario.policy);
    Rig rig(scenario, lazy ? right.get() : wrong.get(), lazy ? wrong.get() : nullptr);
    try {
      rig.Run();
    } catch (const Failure& failure) {
      return Name(failure.check);
    }
  }
  return "nothing";
}

// A control plane that changes the outputs of its SMs.
MakeWrong Outputs(const std::function<void(unsigned, const SmInputs&, SmOutputs*)>& change) {
  return [change](const Scenario& s) {
    auto wrong = std::make_unique<Wrong>(s);
    wrong->outputs = change;
    return wrong;
  };
}

TEST(ControlPlaneSeededBug, StartingATbTwiceIsFound) {
  // All TBs of a kernel slot are the first that started there.
  std::array<std::optional<TbId>, kMaxKernels> first;
  EXPECT_EQ(FoundBy(DispatchMode::kLeftover,
                    Outputs([first](unsigned, const SmInputs&, SmOutputs* out) mutable {
                      if (!out->warp_start.valid) return;
                      std::optional<TbId>& tb = first[Index(out->warp_start.kernel)];
                      if (!tb) tb = out->warp_start.tb;
                      out->warp_start.tb = *tb;
                    })),
            Name(Check::kTbOnce));
}

TEST(ControlPlaneSeededBug, SayingDoneTooEarlyIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kPartitioned,
                    [](const Scenario& s) {
                      auto wrong = std::make_unique<Wrong>(s);
                      wrong->host = [n = 0](HostOutputs* out) mutable {
                        if (++n == 500) out->kernel_done = 1;
                      };
                      return wrong;
                    }),
            Name(Check::kKernelDone));
}

TEST(ControlPlaneSeededBug, LosingAFinishedTbIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kPartitioned,
                    [](const Scenario& s) {
                      auto wrong = std::make_unique<Wrong>(s);
                      wrong->inputs = [n = 0](unsigned, SmInputs* in) mutable {
                        if (in->tb_finished != 0 && ++n == 3) in->tb_finished = 0;
                      };
                      return wrong;
                    }),
            Name(Check::kKernelDone));
}

TEST(ControlPlaneSeededBug, TakingMoreThanTheSmHasIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kOnDemand,
                    [](const Scenario& s) {
                      ControlConfig config = s.config;
                      config.limits.shared_memory += 64;
                      return std::make_unique<Wrong>(config, s.policy);
                    }),
            Name(Check::kResources));
}

TEST(ControlPlaneSeededBug, UsingAWarpSlotTwiceIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kEven, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      out->warp_start.warp = WarpId{0};
                    })),
            Name(Check::kSlots));
}

TEST(ControlPlaneSeededBug, PlacingWarpsOutOfTheirPartIsFound) {
  // Warp slots of equal rank change places, everywhere: only the alignment suffers.
  const auto swap = [](std::uint16_t m) {
    return static_cast<std::uint16_t>((m & ~3u) | (m & 1u) << 1 | (m >> 1 & 1u));
  };
  EXPECT_EQ(FoundBy(DispatchMode::kPartitioned,
                    [&](const Scenario& s) {
                      auto wrong = std::make_unique<Wrong>(s);
                      const unsigned n = s.config.num_schedulers;
                      wrong->inputs = [swap](unsigned, SmInputs* in) {
                        for (auto& mask : in->ready) mask = swap(mask);
                      };
                      wrong->outputs = [n](unsigned, const SmInputs&, SmOutputs* out) {
                        for (auto& w : out->grant_warp) w = w < 2 ? 1 - w : w;
                        const unsigned w = Index(out->warp_start.warp);
                        if (w < 2 * n) out->warp_start.warp = WarpId((w + n) % (2 * n));
                      };
                      return wrong;
                    }),
            Name(Check::kAlignment));
}

TEST(ControlPlaneSeededBug, RegistersOutOfTheirPartAreFound) {
  EXPECT_EQ(
      FoundBy(DispatchMode::kPartitioned, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                if (out->warp_start.valid) ++out->warp_start.base.registers;
              })),
      Name(Check::kAlignment));
}

TEST(ControlPlaneSeededBug, SharedMemoryOutOfItsPartIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kEven, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      if (out->warp_start.valid) ++out->warp_start.base.shared_memory;
                    })),
            Name(Check::kAlignment));
}

TEST(ControlPlaneSeededBug, GrantingAWarpThatIsNotReadyIsFound) {
  EXPECT_EQ(
      FoundBy(DispatchMode::kSpatial, Outputs([](unsigned, const SmInputs& in, SmOutputs* out) {
                if (in.ready[0] == 1) out->grant_warp[0] = 1;
              })),
      Name(Check::kGrant));
}

TEST(ControlPlaneSeededBug, GrantingAWarpOfAStoppedTbIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kLeftover, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      if (out->grant_valid != 0) out->tb_stop = ~0u;
                    })),
            Name(Check::kGrant));
}

TEST(ControlPlaneSeededBug, LeavingASchedulerIdleIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kLeftover,
                    Outputs([n = 0](unsigned, const SmInputs&, SmOutputs* out) mutable {
                      if (out->grant_valid != 0 && ++n % 50 == 0) out->grant_valid = 0;
                    })),
            Name(Check::kWork));
}

TEST(ControlPlaneSeededBug, NotCountingAGrantIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kPartitioned,
                    Outputs([n = 0](unsigned, const SmInputs&, SmOutputs* out) mutable {
                      if (out->quota_left[0] != 0 && ++n % 100 == 0) ++out->quota_left[0];
                    })),
            Name(Check::kQuota));
}

TEST(ControlPlaneSeededBug, SayingThatAKernelHasQuotaWhenItHasNoneIsFound) {
  EXPECT_EQ(
      FoundBy(DispatchMode::kPartitioned, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                if (out->gated) out->with_quota |= 1;
              })),
      Name(Check::kQuota));
}

TEST(ControlPlaneSeededBug, RestoringFromAnotherBufferIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kOnDemand, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      if (!out->context.store) out->context.address ^= std::uint64_t{1} << 18;
                    })),
            Name(Check::kContext));
}

TEST(ControlPlaneSeededBug, SavingInANeighboursBufferIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kOnDemand, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      if (out->context.line >= 2) out->context.address += kLineBytes;
                    })),
            Name(Check::kContext));
}

TEST(ControlPlaneSeededBug, TakingAnOfferBackIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kSpatial,
                    Outputs([held = false](unsigned, const SmInputs& in, SmOutputs* out) mutable {
                      if (held) out->context.valid = false;
                      held = out->context.valid && !in.context_ready;
                    })),
            Name(Check::kContext));
}

TEST(ControlPlaneSeededBug, LeavingBeforeTheContextIsStoredIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kTable, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                      if (!out->context.valid || !out->context.store) return;
                      out->release_valid = out->context.line == 3;
                      out->release_slot = out->context.tb_slot;
                    })),
            Name(Check::kRelease));
}

TEST(ControlPlaneSeededBug, RunningWhileItIsSavedIsFound) {
  EXPECT_EQ(
      FoundBy(DispatchMode::kPartitioned, Outputs([](unsigned, const SmInputs&, SmOutputs* out) {
                if (out->context.store) out->tb_stop = 0;
              })),
      Name(Check::kStop));
}

TEST(ControlPlaneSeededBug, LeavingRoomUnusedIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kLeftover,
                    [](const Scenario& s) {
                      ControlConfig config = s.config;
                      config.limits.tbs = 1;
                      return std::make_unique<Wrong>(config, s.policy);
                    }),
            Name(Check::kRoom));
}

TEST(ControlPlaneSeededBug, HostingTwoKernelsUnderSpatialPartitioningIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kSpatial,
                    [](const Scenario& s) {
                      PolicyConfig policy = s.policy;
                      policy.dispatch = DispatchMode::kLeftover;
                      return std::make_unique<Wrong>(s.config, policy);
                    }),
            Name(Check::kHosting));
}

TEST(ControlPlaneSeededBug, NeverActivatingATbIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kEven,
                    Outputs([n = 0](unsigned, const SmInputs&, SmOutputs* out) mutable {
                      if (out->tb_activate != 0 && ++n == 3) out->tb_activate = 0;
                    })),
            Name(Check::kProgress));
}

TEST(ControlPlaneSeededBug, SleepingWhenThereIsWorkIsFound) {
  EXPECT_EQ(FoundBy(
                DispatchMode::kPartitioned,
                [](const Scenario& s) {
                  auto wrong = std::make_unique<Wrong>(s);
                  wrong->awake = [n = 0](const SmMask& sms) mutable {
                    return ++n == 400 ? SmMask() : sms;
                  };
                  return wrong;
                },
                true),
            Name(Check::kLazy));
}

TEST(ControlPlaneSeededBug, LosingADecisionOfTheLogIsFound) {
  EXPECT_EQ(FoundBy(DispatchMode::kOnDemand,
                    [](const Scenario& s) {
                      auto wrong = std::make_unique<Wrong>(s);
                      wrong->log = [n = 0](std::vector<Decision>* log) mutable {
                        if (!log->empty() && ++n == 4) log->clear();
                      };
                      return wrong;
                    }),
            Name(Check::kDecisions));
}

}  // namespace
}  // namespace smk::plane
