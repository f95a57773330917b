// SPDX-License-Identifier: Apache-2.0
// A TB that leaves its SM and comes back does the same work as one that stays; and every violation
// of the rules between control plane and machine ends the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "model/micro.h"

namespace smk {
namespace {

using testing::HasSubstr;

// A TB of four warps with everything a context holds: loops, loads, shared memory, a barrier.
MicroKernel Worker(unsigned tbs = 1) {
  MicroKernel kernel;
  kernel.threads = 128;
  kernel.registers = 24;
  kernel.shared_memory = 1024;
  kernel.tbs = tbs;
  kernel.Loop(40);
  kernel.Load(1, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kStoreShared, -1, {1}, 2);
  kernel.Op(OpClass::kBarrier);
  kernel.Op(OpClass::kLoadShared, 2);
  kernel.Op(OpClass::kAlu, 3, {2, 3});
  kernel.Op(OpClass::kBarrier);
  kernel.End();
  kernel.Store({3});
  return kernel;
}

std::vector<std::uint64_t> SortedAddresses(const FixedMemory& memory) {
  std::vector<std::uint64_t> addresses;
  for (const FixedMemory::Call& call : memory.calls) {
    const bool context =
        call.access == MemoryAccess::kContextLoad || call.access == MemoryAccess::kContextStore;
    if (!context) addresses.push_back(call.address);
  }
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

class Preemption : public testing::Test {
 protected:
  Preemption() {
    run.request.cycles = 60000;
    run.request.record_tbs = true;
    run.repeat = false;
  }
  RunResult RunScripts(const MicroKernel& kernel, std::vector<SimpleControl::Script> scripts) {
    run.memory.calls.clear();
    SimpleControl control(run.Control(), std::move(scripts));
    return run.Run({kernel}, &control);
  }
  static SimpleControl::Script Save(Cycle cycle, Cycle away) {
    SimpleControl::Script script;
    script.cycle = cycle;
    script.away = away;
    return script;
  }
  MicroRun run;
};

TEST_F(Preemption, SavedTbExecutesEachInstructionOnceAndTouchesTheSameLines) {
  const RunResult whole = RunScripts(Worker(), {});
  const std::vector<std::uint64_t> lines = SortedAddresses(run.memory);
  for (const Cycle at : {40, 300, 303, 500, 1234, 5000}) {
    const RunResult split = RunScripts(Worker(), {Save(at, 700)});
    EXPECT_EQ(split.kernels[0].preemptions, 1u) << at;
    EXPECT_EQ(split.kernels[0].restores, 1u) << at;
    EXPECT_EQ(split.kernels[0].tbs_completed, 1u) << at;
    EXPECT_EQ(split.warp_instructions, whole.warp_instructions) << at;
    EXPECT_EQ(SortedAddresses(run.memory), lines) << at;
  }
}

TEST_F(Preemption, ContextMovesEachLineOnceEachWay) {
  const MicroKernel kernel = Worker();
  const RunResult result = RunScripts(kernel, {Save(500, 100)});
  const unsigned lines =
      ContextLines(TbNeed(kernel.threads, kernel.registers, kernel.shared_memory));
  EXPECT_EQ(result.kernels[0].context_bytes, 2u * lines * kLineBytes);
}

// A TB of 1,024 threads with 255 registers each, on an SM that has room for two: its context is
// larger than those of the shipped machines.
MicroKernel Large() {
  MicroKernel kernel = Worker();
  kernel.threads = 1024;
  kernel.registers = 255;
  return kernel;
}

TEST_F(Preemption, AContextHasAsManyLinesAsTheMachineAllows) {
  run.sm().limits.registers = (1u << 19) / kRegisterUnit;
  run.request.cycles = 200000;
  const RunResult whole = RunScripts(Large(), {});
  const std::vector<std::uint64_t> touched = SortedAddresses(run.memory);
  const RunResult split = RunScripts(Large(), {Save(500, 100)});
  const unsigned lines = ContextLines(TbNeed(1024, 255, 1024));
  EXPECT_EQ(lines, 8192u + 8 + 33);
  EXPECT_EQ(split.kernels[0].context_bytes, 2u * lines * kLineBytes);
  EXPECT_EQ(split.kernels[0].restores, 1u);
  EXPECT_EQ(split.warp_instructions, whole.warp_instructions);
  EXPECT_EQ(SortedAddresses(run.memory), touched);
}

TEST_F(Preemption, ATbCanLeaveAgainAndAgain) {
  const RunResult whole = RunScripts(Worker(3), {});
  std::vector<SimpleControl::Script> scripts;
  for (Cycle c = 100; c < 20000; c += 900) scripts.push_back(Save(c, 50));
  const RunResult split = RunScripts(Worker(3), scripts);
  EXPECT_GT(split.kernels[0].preemptions, 10u);
  EXPECT_EQ(split.kernels[0].restores, split.kernels[0].preemptions);
  EXPECT_EQ(split.warp_instructions, whole.warp_instructions);
  EXPECT_EQ(split.kernels[0].tbs_completed, 3u);
}

TEST_F(Preemption, IdealPreemptionMakesNoTraffic) {
  run.request.ideal_preemption = true;
  const RunResult result = RunScripts(Worker(), {Save(500, 100)});
  EXPECT_EQ(result.kernels[0].restores, 1u);
  EXPECT_EQ(result.kernels[0].context_bytes, 0u);
  for (const FixedMemory::Call& call : run.memory.calls) {
    EXPECT_NE(call.access, MemoryAccess::kContextStore);
  }
}

TEST_F(Preemption, FlushedTbStartsFromTheBeginning) {
  MicroKernel kernel = Worker();
  kernel.idempotence = Idempotence::kYes;
  const RunResult whole = RunScripts(kernel, {});
  SimpleControl::Script flush = Save(3000, 50);
  flush.flush = true;
  const RunResult result = RunScripts(kernel, {flush});
  EXPECT_EQ(result.kernels[0].flushes, 1u);
  EXPECT_EQ(result.kernels[0].tbs_completed, 1u);
  EXPECT_GT(result.warp_instructions, whole.warp_instructions);
  EXPECT_EQ(result.tbs.at(0).outcome, 'F');
  EXPECT_EQ(result.tbs.at(1).outcome, 'C');
}

TEST_F(Preemption, TbThatIsNotIdempotentIsNotFlushed) {
  SimpleControl::Script flush = Save(3000, 50);
  flush.flush = true;
  try {
    RunScripts(Worker(), {flush});
    FAIL() << "the flush went unnoticed";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("cannot start again"));
  }
}

TEST_F(Preemption, StalledSchedulersSayPreemptionWhileTheTbIsAway) {
  const RunResult result = RunScripts(Worker(), {Save(500, 0)});
  EXPECT_GT(result.kernels[0].stalls[static_cast<unsigned>(Stall::kPreemption)], 0u);
  EXPECT_GT(result.kernels[0].preemption_cycles, 0u);
}

// A control plane that breaks one rule, once.
class BadControl : public SimpleControl {
 public:
  using Crime = std::function<bool(Cycle, const SmInputs&, SmOutputs*)>;
  BadControl(const ControlConfig& config, std::vector<Script> scripts, Crime crime)
      : SimpleControl(config, std::move(scripts)), crime_(std::move(crime)) {
    Clock();
  }
  SmMask awake_sms() const override { return SmMask::First(kMaxSms); }

 protected:
  void Tamper(SmId, const SmInputs& in, SmOutputs* out) override {
    if (crime_ && crime_(now(), in, out)) crime_ = nullptr;
  }

 private:
  Crime crime_;
};

class Checks : public Preemption {
 protected:
  // Runs with the crime and returns what the machine says.
  std::string Commit(const BadControl::Crime& crime,
                     std::vector<SimpleControl::Script> scripts = {}) {
    BadControl control(run.Control(), std::move(scripts), crime);
    try {
      run.Run({Worker(4)}, &control);
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
    return "nothing";
  }
};

TEST_F(Checks, GrantToAWarpThatIsNotReadyFails) {
  const auto crime = [](Cycle now, const SmInputs& in, SmOutputs* out) {
    if (now < 400 || in.ready[0] != 0) return false;
    out->grant_valid |= 1;
    out->grant_warp[0] = 0;
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("scheduler 0 grants warp 0, which is not ready"));
  // Of a scheduler that no SM has.
  const auto beyond = [](Cycle now, const SmInputs&, SmOutputs* out) {
    if (now < 400) return false;
    out->grant_valid |= 1u << kMaxSchedulers;
    return true;
  };
  EXPECT_THAT(Commit(beyond), HasSubstr("grants warp 0, which is not ready"));
}

TEST_F(Checks, GrantToAWarpOfAStoppedTbFails) {
  const auto crime = [](Cycle now, const SmInputs&, SmOutputs* out) {
    if (now < 400 || out->grant_valid == 0) return false;
    out->tb_stop = ~0u;
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("of a stopped TB"));
}

TEST_F(Checks, WarpSlotOccupiedTwiceFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->warp_start.valid || out->warp_start.warp_in_tb != 1) return false;
    out->warp_start.warp = WarpId{0};
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("warp slot 0 is occupied twice"));
}

TEST_F(Checks, TbSlotOccupiedTwiceFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->warp_start.valid || out->warp_start.tb_slot != TbSlot{1}) return false;
    out->warp_start.tb_slot = TbSlot{0};
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("TB slot 0 is occupied twice"));
}

TEST_F(Checks, TbDispatchedTwiceFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->warp_start.valid || out->warp_start.tb != TbId{1}) return false;
    out->warp_start.tb = TbId{0};
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("TB 0 starts but it is resident"));
}

TEST_F(Checks, RestoreOfATbThatWasNotSavedFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->warp_start.valid) return false;
    out->warp_start.restore = true;
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("is restored but it is not started"));
}

TEST_F(Checks, ActivationBeforeAllWarpsAreThereFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->warp_start.valid || out->warp_start.warp_in_tb != 2) return false;
    out->tb_activate = 1u << Index(out->warp_start.tb_slot);
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("is activated with 3 of 4 warps"));
}

TEST_F(Checks, RestoreFromAnotherTbsContextFails) {
  // TBs 0 and 1 are saved to buffers 0 and 1; then the loads of one are turned to the other.
  SimpleControl::Script other = Save(300, 3000);
  other.slot = TbSlot{1};
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (out->context.valid && !out->context.store) out->context.address ^= 0x4000;
    return false;
  };
  const std::string what = Commit(crime, {Save(300, 3000), other});
  EXPECT_THAT(what, HasSubstr("is restored from the context of kernel 0 TB"));
}

TEST_F(Checks, LostContextLineFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->context.valid || out->context.line != 17) return false;
    out->context.line = 16;
    out->context.address -= kLineBytes;
    return true;
  };
  EXPECT_THAT(Commit(crime, {Save(300, 100)}),
              HasSubstr("context line 16 of the TB in slot 0 is sent twice"));
}

TEST_F(Checks, ContextBeyondTheRegionOfItsSlotFails) {
  run.sm().limits.registers = (1u << 19) / kRegisterUnit;
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (out->context.valid) out->context.address += std::uint64_t{1} << 33;
    return false;
  };
  BadControl control(run.Control(), {Save(500, 100)}, crime);
  try {
    run.Run({Large()}, &control);
    FAIL() << "the address went unnoticed";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("is not a context buffer of kernel 0"));
  }
}

TEST_F(Checks, ReleaseBeforeTheContextIsStoredFails) {
  const auto crime = [](Cycle, const SmInputs&, SmOutputs* out) {
    if (!out->context.valid || out->context.line != 17) return false;
    out->release_valid = true;
    out->release_slot = out->context.tb_slot;
    return true;
  };
  EXPECT_THAT(Commit(crime, {Save(300, 100)}), HasSubstr("leaves before its context is stored"));
}

TEST_F(Checks, ReleaseOfARunningTbFails) {
  const auto crime = [](Cycle now, const SmInputs&, SmOutputs* out) {
    if (now < 400) return false;
    out->release_valid = true;
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("is released but holds no stopped TB"));
}

// Says that the kernel is done one TB too early.
class LosingControl : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    HostInputs fewer = in;
    fewer.launch.tb_count -= 1;
    SimpleControl::BeginCycle(now, fewer, out);
  }
};

TEST_F(Checks, LostTbFails) {
  LosingControl control(run.Control());
  try {
    run.Run({Worker(4)}, &control);
    FAIL() << "the lost TB went unnoticed";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("is done with 3 of 4 TBs complete"));
  }
}

TEST_F(Checks, MessageNamesCycleAndSm) {
  const auto crime = [](Cycle now, const SmInputs&, SmOutputs* out) {
    if (now < 400) return false;
    out->release_valid = true;
    return true;
  };
  EXPECT_THAT(Commit(crime), HasSubstr("cycle 400: SM 0: "));
}

TEST_F(Checks, ResidentTbsNeverTakeMoreThanTheSmHas) {
  // The control plane believes in an SM twice as large.
  ControlConfig config = run.Control();
  config.limits.registers *= 2;
  config.limits.shared_memory *= 2;
  config.limits.tbs *= 2;
  MicroKernel kernel = Worker(64);
  kernel.registers = 128;
  SimpleControl control(config);
  try {
    run.Run({kernel}, &control);
    FAIL() << "the overbooking went unnoticed";
  } catch (const CheckFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("resident TBs take more than the SM has"));
  }
}

}  // namespace
}  // namespace smk
