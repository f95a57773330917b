// SPDX-License-Identifier: Apache-2.0
// The machine checks where every TB lies; a wrong base ends the run.
#include "machine/sm/place_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "control/reference_control.h"
#include "model/micro.h"

namespace smk {
namespace {

using testing::HasSubstr;

// The reference, whose SMs say something else of the first warps of TBs.
class Misplacing final : public ControlPlane {
 public:
  using Change = std::function<void(WarpStart*)>;
  Misplacing(const ControlConfig& config, const PolicyConfig& policy, Change change)
      : control_(MakeReferenceControl(config, policy)), change_(std::move(change)) {}

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    control_->BeginCycle(now, in, out);
  }
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    control_->StepSm(sm, in, out);
    if (out->warp_start.valid && out->warp_start.warp_in_tb == 0) change_(&out->warp_start);
  }
  void EndCycle(Cycle now) override { control_->EndCycle(now); }
  SmMask awake_sms() const override { return control_->awake_sms(); }
  bool driver_awake() const override { return control_->driver_awake(); }
  void EnableDecisionLog(bool on) override { control_->EnableDecisionLog(on); }
  const std::vector<Decision>& TakeDecisions() override { return control_->TakeDecisions(); }
  PartitionTable partitions() const override { return control_->partitions(); }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return control_->partition(sm, kernel);
  }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    return control_->quotas(sm);
  }

 private:
  std::unique_ptr<ControlPlane> control_;
  Change change_;
};

class PlaceChecks : public testing::Test {
 protected:
  PlaceChecks() {
    run.request.policy.dispatch = DispatchMode::kEven;
    run.request.record_tbs = true;
  }
  // Two kernels: 8 and 4 units of registers and 4 and 8 of shared memory per TB.
  RunResult Run(const Misplacing::Change& change) {
    MicroKernel a, b;
    a.threads = b.threads = 128;
    a.registers = 16;
    b.registers = 8;
    a.shared_memory = 1024;
    b.shared_memory = 2048;
    for (MicroKernel* kernel : {&a, &b}) {
      kernel->tbs = 64;
      kernel->Loop(20);
      kernel->Op(OpClass::kAlu, 1, {1});
      kernel->End();
    }
    Misplacing control(run.Control(), run.request.policy, change);
    return run.Run({a, b}, &control);
  }
  std::string What(const Misplacing::Change& change) {
    try {
      Run(change);
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
    return "nothing";
  }
  MicroRun run;
};

TEST_F(PlaceChecks, NothingIsWrongWithTheReferenceAndRecordsHaveTheBases) {
  const RunResult result = Run([](WarpStart*) {});
  std::set<std::pair<unsigned, unsigned>> bases;
  for (const TbRecord& tb : result.tbs) {
    ASSERT_TRUE(tb.base) << "every TB has a place";
    if (Index(tb.kernel) == 0) bases.insert({tb.base->registers, tb.base->shared_memory});
  }
  ASSERT_GT(bases.size(), 2u);
  for (const auto& [registers, shared_memory] : bases) {
    EXPECT_EQ(registers, 2 * shared_memory) << "8 and 4 units for each TB before it";
  }
}

TEST_F(PlaceChecks, ATbOnTheRegistersOfAnotherIsFound) {
  const std::string what = What([](WarpStart* start) {
    if (Index(start->kernel) == 0 && start->base.registers != 0) start->base.registers -= 1;
  });
  EXPECT_THAT(what, HasSubstr("registers [7, 15) of the TB in slot 1 overlap [0, 8) of that in"));
}

TEST_F(PlaceChecks, ATbOnTheSharedMemoryOfAnotherIsFound) {
  const std::string what = What([](WarpStart* start) {
    if (Index(start->kernel) == 0 && start->base.shared_memory != 0) start->base.shared_memory = 3;
  });
  EXPECT_THAT(what, HasSubstr("shared memory [3, 7) of the TB in slot 1 overlap [0, 4)"));
}

TEST_F(PlaceChecks, ATbOutsideTheSmIsFound) {
  const unsigned registers = run.Control().limits.registers;
  const std::string what = What([registers](WarpStart* start) {
    start->base.registers = static_cast<std::uint16_t>(registers - 7);
  });
  EXPECT_THAT(what, HasSubstr("lie outside the SM [0, " + std::to_string(registers) + ")"));
}

TEST_F(PlaceChecks, ATbOutsideItsKernelsPartitionIsFound) {
  // Into the part of the other kernel, which has no TB there yet.
  const std::string what = What([](WarpStart* start) {
    if (Index(start->kernel) == 0) start->base.registers += 128;
  });
  EXPECT_THAT(what, HasSubstr("lie outside the partition of its kernel [0, "));
}

// Of each direction the first unit that is wrong, and the last that is right.
TEST(PlaceCheck, FailsFromTheFirstUnitOn) {
  const auto holds = [](unsigned first, unsigned second, unsigned size) {
    PlaceCheck check(SmId{0}, {64, 64, 64, 32});
    const auto base = [](unsigned b) { return TbBase{static_cast<std::uint16_t>(b), 0}; };
    const ResourceVector need{static_cast<std::uint16_t>(size), 0, 1, 1};
    PartitionRange part;
    part.registers_base = 4;
    part.registers_limit = 60;
    try {
      check.Claim(0, base(first), need, part, 1);
      check.Claim(1, base(second), need, part, 2);
    } catch (const CheckFailure&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(holds(8, 16, 8));
  EXPECT_FALSE(holds(8, 15, 8));
  EXPECT_TRUE(holds(16, 8, 8));
  EXPECT_FALSE(holds(16, 9, 8));
  EXPECT_TRUE(holds(4, 52, 8)) << "the ends of the partition";
  EXPECT_FALSE(holds(3, 52, 8));
  EXPECT_FALSE(holds(4, 53, 8));
  EXPECT_TRUE(holds(8, 8, 0)) << "nothing is in nobody's way";
}

TEST(PlaceCheck, AFreeSlotIsInNobodysWay) {
  PlaceCheck check(SmId{0}, {64, 64, 64, 32});
  PartitionRange part;
  part.registers_limit = part.shared_memory_limit = 64;
  check.Claim(0, {0, 0}, {8, 8, 1, 1}, part, 1);
  check.Free(0);
  check.Claim(1, {4, 4}, {8, 8, 1, 1}, part, 2);
  EXPECT_THROW(check.Claim(2, {4, 12}, {8, 8, 1, 1}, part, 3), CheckFailure);
}

TEST_F(PlaceChecks, EveryTbHasAPlaceInEveryMode) {
  for (const DispatchMode mode : {DispatchMode::kLeftover, DispatchMode::kSpatial,
                                  DispatchMode::kOnDemand, DispatchMode::kPartitioned}) {
    run.request.policy.dispatch = mode;
    std::set<unsigned> bases;
    const RunResult result = Run([](WarpStart*) {});
    for (const TbRecord& tb : result.tbs) {
      ASSERT_TRUE(tb.base);
      bases.insert(tb.base->registers);
    }
    EXPECT_GT(bases.size(), 4u) << static_cast<unsigned>(mode);
  }
}

TEST_F(PlaceChecks, ATbOnTheRegistersOfAnotherIsFoundWithoutPartitions) {
  run.request.policy.dispatch = DispatchMode::kLeftover;
  EXPECT_THAT(What([](WarpStart* start) { start->base.registers = 0; }), HasSubstr("overlap [0, "));
  EXPECT_THAT(What([](WarpStart* start) { start->base.registers = 1000; }),
              HasSubstr("lie outside the SM"));
}

// As in Warped-Slicer's Fig. 2a: small TBs that end in any order leave gaps in which a larger one
// of the next kernel does not fit, though together they are large enough.
RunResult Fragments(DispatchMode mode, unsigned registers = 80, unsigned sms = 1) {
  MicroKernel small, large;
  small.name = "small";
  large.name = "large";
  small.threads = large.threads = 128;
  small.registers = 32;
  large.registers = registers;
  small.tbs = 64;
  large.tbs = 16;
  for (MicroKernel* kernel : {&small, &large}) {
    kernel->Loop(20, 400);
    kernel->Op(OpClass::kAlu, 1, {1});
    kernel->End();
  }
  MicroRun run;
  run.repeat = false;
  run.request.policy.dispatch = mode;
  run.request.machine.sms = sms;
  run.request.cycles = 200'000;
  const std::unique_ptr<ControlPlane> control =
      MakeReferenceControl(run.Control(), run.request.policy);
  RunResult result = run.Run({small, large}, control.get());
  EXPECT_EQ(result.kernels[0].tbs_completed, 64u);
  EXPECT_EQ(result.kernels[1].tbs_completed, 16u) << "nobody waits for ever";
  return result;
}

TEST(PlaceWaits, FirstComeFirstServedFragmentsAnSm) {
  const RunResult result = Fragments(DispatchMode::kLeftover);
  EXPECT_GT(result.place_waits, 0u);
  EXPECT_GT(result.place_wait_cycles, result.place_waits);
}

TEST(PlaceWaits, SoDoesDispatchOnDemand) {
  std::uint64_t waits = 0;
  for (const unsigned registers : {56, 72, 88, 104, 120}) {
    waits += Fragments(DispatchMode::kOnDemand, registers).place_waits;
  }
  EXPECT_GT(waits, 0u);
}

TEST(PlaceWaits, NobodyWaitsWithPartitionsOrOnAnSmOfOneKernel) {
  for (const auto& [mode, sms] : {std::pair{DispatchMode::kEven, 1u},
                                  {DispatchMode::kPartitioned, 1u},
                                  {DispatchMode::kSpatial, 2u}}) {
    const RunResult result = Fragments(mode, 80, sms);
    EXPECT_EQ(result.place_waits, 0u) << static_cast<unsigned>(mode);
    EXPECT_EQ(result.place_wait_cycles, 0u);
  }
}

}  // namespace
}  // namespace smk
