// SPDX-License-Identifier: Apache-2.0
// Stalls as the papers' simulator counts them: each rule, beside our own reasons.
#include <gtest/gtest.h>

#include <numeric>

#include "model/micro.h"

namespace smk {
namespace {

// Of one SM; the sums agree in every run.
struct Counts {
  explicit Counts(const SmStats& sm) : sm(sm) {
    const std::uint64_t all =
        std::accumulate(sm.scheduler_cycles.begin(), sm.scheduler_cycles.end(), std::uint64_t{0});
    const std::uint64_t sim =
        std::accumulate(sm.sim_stalls.begin(), sm.sim_stalls.end(), std::uint64_t{0});
    EXPECT_EQ(all - (*this)[Stall::kIssued], sim);
  }
  std::uint64_t operator[](Stall reason) const {
    return sm.scheduler_cycles[static_cast<unsigned>(reason)];
  }
  std::uint64_t operator[](SimStall reason) const {
    return sm.sim_stalls[static_cast<unsigned>(reason)];
  }
  SmStats sm;
};

constexpr Cycle kStallCycles = 5000;

// One warp that repeats something for the whole run. The three schedulers without a warp have only
// control stalls.
template <typename Body>
Counts Alone(Body body, MicroRun run = {}) {
  run.request.cycles = kStallCycles;
  MicroKernel kernel;
  kernel.Loop(30000);
  for (unsigned i = 0; i < 4; ++i) body(&kernel, i);
  kernel.End();
  return Counts(run.Run({kernel}).sms[0]);
}

TEST(SmSimStalls, AWarpThatWaitsForAnOperandIsData) {
  const Counts alu = Alone([](MicroKernel* k, unsigned) { k->Op(OpClass::kAlu, 0, {0}); });
  EXPECT_EQ(alu[SimStall::kPipeline], 0u);
  EXPECT_EQ(alu[SimStall::kData], alu[Stall::kDataShort]);
  EXPECT_GT(alu[SimStall::kData], kStallCycles / 2);
  const Counts load =
      Alone([](MicroKernel* k, unsigned) { k->Load(0, {0}, MicroKernel::kNewLine); });
  EXPECT_EQ(load[SimStall::kData], load[Stall::kDataMemory]);
  EXPECT_GT(load[SimStall::kData], kStallCycles / 2);
}

TEST(SmSimStalls, AReadyWarpWithoutAPipeIsPipeline) {
  MicroRun run;
  run.sm().sfu = {8, 4};
  const Counts sfu = Alone([](MicroKernel* k, unsigned i) { k->Op(OpClass::kSfu, i); }, run);
  EXPECT_EQ(sfu[SimStall::kPipeline], sfu[Stall::kPipeline]);
  EXPECT_GT(sfu[SimStall::kPipeline], kStallCycles / 2);
}

TEST(SmSimStalls, FetchesBarriersAndNoWarpsAreControl) {
  MicroRun far;
  far.sm().branch_latency = 9;
  const Counts branch = Alone([](MicroKernel* k, unsigned) { k->Op(OpClass::kBranch); }, far);
  const auto rest = [](const Counts& counts) {
    return counts[Stall::kControl] + counts[Stall::kPreemption] + counts[Stall::kEmpty];
  };
  EXPECT_EQ(branch[SimStall::kControl], rest(branch));
  EXPECT_GT(branch[Stall::kControl], kStallCycles / 2);
  const Counts barrier = Alone([](MicroKernel* k, unsigned) { k->Op(OpClass::kBarrier); });
  EXPECT_EQ(barrier[SimStall::kControl], rest(barrier) + barrier[Stall::kBarrier]);
  EXPECT_GT(barrier[Stall::kBarrier], kStallCycles / 2);
  EXPECT_GE(barrier[Stall::kEmpty], 3 * (kStallCycles - 10));
}

// Ours is data from the start, because the operand is there last. While the instruction is fetched,
// the buffer is empty.
MicroRun SlowFetch(unsigned fetch, unsigned operand) {
  MicroRun run;
  run.sm().operand_latency = 0;
  run.sm().alu = {static_cast<std::uint16_t>(operand), 1};
  run.sm().fetch_width = 1;
  run.sm().fetch_latency = static_cast<std::uint16_t>(fetch);
  run.sm().branch_latency = static_cast<std::uint16_t>(fetch);
  return run;
}

TEST(SmSimStalls, AWarpWithAnEmptyBufferHasNoInstruction) {
  const auto chain = [](MicroKernel* k, unsigned) { k->Op(OpClass::kAlu, 0, {0}); };
  const Counts counts = Alone(chain, SlowFetch(20, 30));
  const std::uint64_t issued = counts[Stall::kIssued];
  EXPECT_NEAR(static_cast<double>(issued), kStallCycles / 30.0, 5);
  // Of the 29 cycles between two issues, the instruction comes after 19.
  EXPECT_NEAR(static_cast<double>(counts[Stall::kDataShort]), 29.0 * issued, 60);
  EXPECT_NEAR(static_cast<double>(counts[SimStall::kData]), 10.0 * issued, 30);
  const Counts at_once = Alone(chain, SlowFetch(1, 30));
  EXPECT_EQ(at_once[SimStall::kData], at_once[Stall::kDataShort]);
}

TEST(SmSimStalls, AnotherWarpWithAnInstructionMakesItData) {
  MicroRun run = SlowFetch(20, 30);
  run.request.cycles = kStallCycles;
  // Each scheduler has a second warp that waits for memory with its instruction in the buffer.
  MicroKernel chain, waits;
  chain.threads = waits.threads = 128;
  chain.Loop(30000);
  for (unsigned i = 0; i < 4; ++i) chain.Op(OpClass::kAlu, 0, {0});
  chain.End();
  waits.name = "waits";
  waits.Load(1, {}, MicroKernel::kNewLine);
  waits.Op(OpClass::kAlu, 2, {1});
  run.memory.latency = 2 * kStallCycles;
  run.repeat = false;
  const Counts counts(run.Run({chain, waits}).sms[0]);
  EXPECT_LT(counts[SimStall::kControl], 4 * 200u) << "only until both wait";
  EXPECT_GT(counts[SimStall::kData], 4 * (kStallCycles - kStallCycles / 25 - 400));
}

class Sleepless : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  SmMask awake_sms() const override { return SmMask::First(kMaxSms); }
};

TEST(SmSimStalls, SleepingChangesNothing) {
  const auto counts = [](bool sleeps) {
    MicroRun run = SlowFetch(17, 40);
    run.request.cycles = kStallCycles;
    MicroKernel kernel;
    kernel.threads = 96;
    kernel.tbs = 7;
    kernel.Loop(30);
    kernel.Op(OpClass::kAlu, 0, {0});
    kernel.Load(1, {0}, MicroKernel::kNewLine);
    kernel.Op(OpClass::kBarrier);
    kernel.Op(OpClass::kAlu, 2, {1});
    kernel.End();
    SimpleControl sleepy(run.Control());
    Sleepless sleepless(run.Control());
    return run.Run({kernel}, sleeps ? &sleepy : &sleepless).sms[0].sim_stalls;
  };
  EXPECT_EQ(counts(true), counts(false));
}

// Says from cycle 1000 on that quotas are in force, and which kernels have some left. Who has none
// is not granted.
class Quotas : public SimpleControl {
 public:
  Quotas(const ControlConfig& config, std::uint32_t with_quota, bool gated = true)
      : SimpleControl(config), with_quota_(with_quota), gated_(gated) {
    Clock();
  }
  static constexpr Cycle kFrom = 1000;
  SmMask awake_sms() const override { return SmMask::First(1); }

 protected:
  void Tamper(SmId, const SmInputs& in, SmOutputs* out) override {
    if (out->warp_start.valid)
      kernel_of_[Index(out->warp_start.warp)] = Index(out->warp_start.kernel);
    if (now() < kFrom) return;
    out->gated = gated_;
    out->with_quota = with_quota_;
    for (unsigned s = 0; s < 4; ++s) {
      out->grant_valid &= static_cast<std::uint8_t>(~(1u << s));
      for (unsigned w = 0; w < 16; ++w) {
        const bool some = (with_quota_ >> (kMaxKernels * s + kernel_of_[4 * w + s]) & 1) != 0;
        if ((in.ready[s] >> w & 1) == 0 || !some || (out->grant_valid >> s & 1) != 0) continue;
        out->grant_valid |= static_cast<std::uint8_t>(1u << s);
        out->grant_warp[s] = static_cast<std::uint8_t>(w);
      }
    }
  }

 private:
  const std::uint32_t with_quota_;
  const bool gated_;
  std::array<unsigned, kMaxWarps> kernel_of_{};
};

// Two kernels with a warp on each scheduler.
Counts UnderQuotas(const MicroKernel& one, const MicroKernel& two, std::uint32_t with_quota,
                   bool gated = true) {
  MicroRun run;
  run.request.cycles = Quotas::kFrom + 1000;
  run.memory.latency = 10000;
  run.repeat = false;
  Quotas control(run.Control(), with_quota, gated);
  return Counts(run.Run({one, two}, &control).sms[0]);
}

constexpr std::uint32_t kAll = 0xffffffff, kFirstOnly = 0x01010101, kSecondOnly = 0x02020202;
constexpr std::uint64_t kThen = 4 * 1000;  // scheduler cycles with quotas

MicroKernel Computes(const char* name) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = 128;
  kernel.Loop(30000);
  kernel.Op(OpClass::kAlu, 0);
  kernel.End();
  return kernel;
}

MicroKernel WaitsForData(const char* name) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = 128;
  kernel.Load(1, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kAlu, 2, {1});
  return kernel;
}

TEST(SmSimStalls, AReadyWarpWithoutQuotaIsNotLookedAt) {
  // The other one waits for data.
  const Counts data = UnderQuotas(WaitsForData("a"), Computes("b"), kFirstOnly);
  EXPECT_NEAR(static_cast<double>(data[Stall::kQuota]), kThen, 40);
  EXPECT_LT(data[SimStall::kPipeline], 40u);
  EXPECT_GT(data[SimStall::kData], kThen - 40);
  // There is none but those.
  const Counts control = UnderQuotas(Computes("a"), Computes("b"), 0);
  EXPECT_NEAR(static_cast<double>(control[Stall::kQuota]), kThen, 40);
  EXPECT_GT(control[SimStall::kControl], kThen - 40);
}

TEST(SmSimStalls, AWaitingWarpWithoutQuotaIsNotLookedAt) {
  const Counts all = UnderQuotas(WaitsForData("a"), WaitsForData("b"), kAll);
  const Counts none = UnderQuotas(WaitsForData("a"), WaitsForData("b"), 0);
  EXPECT_EQ(all.sm.scheduler_cycles, none.sm.scheduler_cycles) << "ours look at all warps";
  EXPECT_GT(all[SimStall::kData], kThen);
  EXPECT_EQ(none[SimStall::kControl] - all[SimStall::kControl], kThen - 4)
      << "from the cycle after the first with quotas on, in which nobody was known to have spent "
         "it";
}

TEST(SmSimStalls, QuotasThatAreNotInForceMeanNothing) {
  const Counts all = UnderQuotas(WaitsForData("a"), WaitsForData("b"), kAll);
  const Counts off = UnderQuotas(WaitsForData("a"), WaitsForData("b"), 0, false);
  EXPECT_EQ(all.sm.scheduler_cycles, off.sm.scheduler_cycles);
  EXPECT_EQ(off[SimStall::kData] - all[SimStall::kData], 4u)
      << "what is left is known from the cycle after the first on";
}

TEST(SmSimStalls, EachSchedulerAndKernelHasItsOwnQuota) {
  const Counts all = UnderQuotas(WaitsForData("a"), WaitsForData("b"), kAll);
  for (const std::uint32_t one : {0x1u, 0x200u, 0x20000u, 0x1000000u}) {
    const Counts some = UnderQuotas(WaitsForData("a"), WaitsForData("b"), one);
    EXPECT_NEAR(static_cast<double>(some[SimStall::kControl] - all[SimStall::kControl]),
                0.75 * kThen, 4)
        << one << ": data on the scheduler where a kernel has quota";
  }
  const Counts other = UnderQuotas(WaitsForData("a"), WaitsForData("b"), kSecondOnly);
  EXPECT_NEAR(static_cast<double>(other[SimStall::kData]),
              static_cast<double>(all[SimStall::kData]), 4);
}

TEST(SmSimStalls, AWarpOfAStoppedTbIsNotLookedAt) {
  MicroRun run;
  run.request.cycles = 8000;
  run.repeat = false;
  MicroKernel kernel = WaitsForData("a");
  run.memory.latency = 3000;
  SimpleControl::Script save;
  save.cycle = 1000;
  SimpleControl stays(run.Control()), leaves(run.Control(), {save});
  const Counts here(run.Run({kernel}, &stays).sms[0]);
  const Counts away(run.Run({kernel}, &leaves).sms[0]);
  EXPECT_GT(here[SimStall::kData], 4 * 2900u);
  EXPECT_GT(away[Stall::kPreemption], 0u);
  EXPECT_LT(away[SimStall::kData], 4 * 1010u) << "until it is stopped";
}

}  // namespace
}  // namespace smk
