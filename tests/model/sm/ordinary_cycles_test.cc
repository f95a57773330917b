// SPDX-License-Identifier: Apache-2.0
// The short way through a cycle in which nothing happens but that warps are ready: what it grants,
// and what a run is.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "control/reference_control.h"
#include "control/sm/joint_schedulers.h"
#include "model/micro.h"

namespace smk {
namespace {

// Schedulers one by one, and the same together.
class Schedulers {
 public:
  Schedulers(unsigned warps, unsigned count, WarpPolicy policy, bool gated, std::uint64_t seed)
      : random_(seed), count_(count), joint_(warps, policy), layout_(warps) {
    in_.policy = policy;
    in_.gated = gated;
    in_.quota = &quota_;
    for (unsigned k = 0; k < 3; ++k) quota_[k] = static_cast<std::uint16_t>(3 + random_() % 40);
    std::vector<unsigned> order(warps);  // the oldest need not have the lowest lane
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random_);
    for (const unsigned i : order) {
      for (unsigned s = 0; s < count; ++s) Start(s, i);
    }
    for (unsigned s = 0; gated && s < count; ++s) {
      QuotaScheduler::Inputs load = in_;
      load.load = true;
      Tick(s, load);
    }
    for (unsigned s = 0; s < count; ++s) {
      stop_[s] = static_cast<WarpMask>(random_() & random_());
      for (unsigned i = 0; i < warps; ++i) {
        if ((stop_[s] >> i & 1) == 0) run_ |= LaneBit(layout_.LaneOf(s, i));
      }
    }
  }

  // Compares cycles with random ready warps; returns how many instructions were granted.
  unsigned Run(unsigned cycles) {
    unsigned granted = 0;
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
      if (!joint_.loaded())
        joint_.Load(schedulers_, stop_, in_.gated, std::exchange(first_, false));
      LaneMask ready = random_() & random_() & Warps();
      if (random_() % 2 == 0) ready &= run_;
      const LaneMask got = Grant(ready);
      const LaneMask spent = joint_.counting() ? joint_.CountGrants(got) : 0;
      EXPECT_EQ(got, OneByOne(ready)) << "cycle " << cycle << " ready " << ready;
      granted += static_cast<unsigned>(__builtin_popcountll(got));
      if (spent != 0 || random_() % 50 == 0) Compare(spent);
      if (testing::Test::HasFailure()) break;
    }
    return granted;
  }
  // How many of the cycles were usual, and of those how many unsure.
  unsigned usual() const { return usual_; }
  unsigned unsure() const { return unsure_; }

 private:
  LaneMask Warps() const {
    LaneMask all = 0;
    for (unsigned s = 0; s < count_; ++s) all |= layout_.SchedulerField(s);
    return all;
  }
  // As SmControl::GrantReady() does.
  LaneMask Grant(LaneMask ready) {
    if (!joint_.Usual(ready)) return joint_.Grant(ready);
    ++usual_;
    JointSchedulers::Choice choice = joint_.ChooseUsual(ready);
    if (joint_.Unsure(choice)) {
      ++unsure_;
      choice.oldest = joint_.SureOf(choice.oldest, choice.rest);
    }
    return joint_.Take(choice);
  }
  void Start(unsigned scheduler, unsigned warp) {
    QuotaScheduler::Inputs start = in_;
    start.start_valid = true;
    start.start_warp = static_cast<std::uint8_t>(warp);
    start.start_kernel = static_cast<KernelId>(random_() % 3);
    Tick(scheduler, start);
  }
  void Tick(unsigned scheduler, const QuotaScheduler::Inputs& in) {
    for (auto* all : {&schedulers_, &apart_}) (*all)[scheduler].Tick(in, {});
  }
  LaneMask OneByOne(LaneMask ready) {
    LaneMask granted = 0;
    for (unsigned s = 0; s < count_; ++s) {
      QuotaScheduler::Inputs in = in_;
      in.ready = static_cast<WarpMask>((ready & layout_.SchedulerField(s)) >> layout_.LaneOf(s, 0));
      in.stop = stop_[s];
      if (in.ready == 0) continue;
      const QuotaScheduler::Outputs out = apart_[s].Eval(in);
      apart_[s].Tick(in, out);
      if (!out.grant_valid) continue;
      granted |= LaneBit(layout_.LaneOf(s, out.grant_warp));
      apart_profile_.Add(out.grant_kernel, 1);
    }
    return granted;
  }
  // The state that the schedulers get back.
  void Compare(LaneMask spent) {
    joint_.Store(&schedulers_, &profile_);
    for (; spent != 0; spent &= spent - 1) {
      const unsigned lane = LowestLane(spent), s = layout_.SchedulerOf(lane);
      QuotaScheduler::Inputs in = in_;
      in.stop = stop_[s];
      schedulers_[s].EndQuota(joint_.KernelOf(lane), in);
    }
    EXPECT_EQ(profile_.issued(), apart_profile_.issued());
    for (unsigned s = 0; s < count_; ++s) {
      const QuotaScheduler::State &is = schedulers_[s].state(), &want = apart_[s].state();
      EXPECT_EQ(is.last_valid, want.last_valid);
      if (want.last_valid) {
        EXPECT_EQ(is.last, want.last);
      }
      EXPECT_EQ(is.granted_since_tick, want.granted_since_tick);
      EXPECT_EQ(is.blocked_since_tick, want.blocked_since_tick);
      EXPECT_EQ(is.left, want.left);
      EXPECT_EQ(is.some_left, want.some_left);
      EXPECT_EQ(is.with_quota, want.with_quota);
    }
  }

  std::mt19937_64 random_;
  const unsigned count_;
  JointSchedulers joint_;
  const LaneLayout layout_;
  bool first_ = true;
  unsigned usual_ = 0, unsure_ = 0;
  LaneMask run_ = 0;  // warps that are not stopped
  QuotaScheduler::Inputs in_;
  std::array<std::uint16_t, kMaxKernels> quota_{};
  JointSchedulers::Masks stop_{};
  JointSchedulers::Schedulers schedulers_, apart_;
  ProfileCounters profile_, apart_profile_;
};

TEST(JointSchedulers, GrantWhatEachGrants) {
  unsigned seed = 0;
  for (const auto policy : {WarpPolicy::kGto, WarpPolicy::kLrr}) {
    for (const bool gated : {false, true}) {
      for (const auto& [warps, count] : {std::pair{16u, 4u}, {12u, 3u}, {24u, 2u}, {32u, 1u}}) {
        SCOPED_TRACE("seed " + std::to_string(++seed));
        Schedulers schedulers(warps, count, policy, gated, seed);
        EXPECT_GT(schedulers.Run(4000), 500u);
        if (policy == WarpPolicy::kGto && warps <= 16 && !gated) {
          EXPECT_GT(schedulers.usual(), 1000u);
          EXPECT_GT(schedulers.unsure(), 100u);
        }
      }
    }
  }
}

// A field of the counts has 16 bits. The profile counter stops at its highest count.
TEST(JointSchedulers, CountsGrantsOfOneWarpForManyCycles) {
  for (const unsigned cycles : {1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 70000u}) {
    JointSchedulers::Schedulers schedulers;
    QuotaScheduler::Inputs start;
    start.start_valid = true;
    start.start_kernel = KernelId{2};
    schedulers[3].Tick(start, {});
    JointSchedulers joint(16, WarpPolicy::kGto);
    joint.Load(schedulers, {}, false, true);
    const LaneMask warp = LaneBit(LaneLayout(16).LaneOf(3, 0));
    for (unsigned i = 0; i < cycles; ++i) {
      ASSERT_EQ(joint.Grant(warp), warp);
      if (joint.counting()) joint.CountGrants(warp);
    }
    ProfileCounters profile;
    joint.Store(&schedulers, &profile);
    EXPECT_EQ(profile.issued()[2], std::min<unsigned>(cycles, ProfileCounters::kFull)) << cycles;
  }
}

// A control plane without its short way: every cycle is a whole step.
class WholeSteps : public ControlPlane {
 public:
  WholeSteps(const ControlConfig& config, const PolicyConfig& policy)
      : plane_(MakeReferenceControl(config, policy)) {}
  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    plane_->BeginCycle(now, in, out);
  }
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override { plane_->StepSm(sm, in, out); }
  void EndCycle(Cycle now) override { plane_->EndCycle(now); }
  SmMask awake_sms() const override { return plane_->awake_sms(); }
  bool driver_awake() const override { return plane_->driver_awake(); }
  void EnableDecisionLog(bool on) override { plane_->EnableDecisionLog(on); }
  const std::vector<Decision>& TakeDecisions() override { return plane_->TakeDecisions(); }
  PartitionTable partitions() const override { return plane_->partitions(); }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return plane_->partition(sm, kernel);
  }
  TokenView token() const override { return plane_->token(); }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    return plane_->quotas(sm);
  }

 private:
  std::unique_ptr<ControlPlane> plane_;
};

MicroKernel MixedKernel(const char* name, unsigned threads, unsigned trips, OpClass op) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = threads;
  kernel.tbs = 40;
  kernel.shared_memory = 512;
  kernel.Loop(trips);
  kernel.Load(0, {}, MicroKernel::kNewLine);
  kernel.Op(op, 1, {0});
  kernel.Op(OpClass::kLoadShared, 2, {1}, 2);
  kernel.Op(OpClass::kBarrier);
  kernel.Op(OpClass::kAlu, 3, {2});
  kernel.Op(OpClass::kAlu, 4, {3});
  kernel.End();
  kernel.Store({4});
  return kernel;
}

enum class Shape { kFourSchedulers, kTwoSchedulers, kCollectors };

RunResult RunUnder(const PolicyConfig& policy, Shape shape, bool whole_steps) {
  MicroRun run;
  MachineConfig& machine = run.request.machine;
  machine.sms = 3;
  machine.sm.fetch_warps = 1;
  machine.sm.fetch_line = 16;
  machine.sm.sfu.initiation = 4;
  if (shape == Shape::kCollectors) {
    machine.sm.collectors = 2;
    machine.sm.fetch_warps = 8;
  }
  if (shape == Shape::kTwoSchedulers) {
    machine.sm.schedulers = 2;
    machine.sm.warps_per_scheduler = 24;
    machine.sm.limits.threads = 48;
  }
  run.request.cycles = 30000;
  run.request.record_tbs = run.request.record_decisions = run.request.record_timeline = true;
  run.request.timeline_step = 97;
  run.request.policy = policy;
  std::unique_ptr<ControlPlane> control = MakeReferenceControl(run.Control(), policy);
  EXPECT_TRUE(control->grants_alone());
  if (whole_steps) control = std::make_unique<WholeSteps>(run.Control(), policy);
  return run.Run({MixedKernel("a", 96, 25, OpClass::kSfu), MixedKernel("b", 150, 7, OpClass::kAlu)},
                 control.get());
}

void ExpectSame(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.warp_instructions, b.warp_instructions);
  EXPECT_EQ(a.checks, b.checks);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    EXPECT_EQ(a.kernels[i].stalls, b.kernels[i].stalls) << "kernel " << i;
    EXPECT_EQ(a.kernels[i].tbs_completed, b.kernels[i].tbs_completed);
    EXPECT_EQ(a.kernels[i].preemptions, b.kernels[i].preemptions);
    EXPECT_EQ(a.kernels[i].lsu_busy, b.kernels[i].lsu_busy);
    EXPECT_EQ(a.kernels[i].alu_busy, b.kernels[i].alu_busy);
  }
  for (std::size_t i = 0; i < a.sms.size(); ++i) {
    EXPECT_EQ(a.sms[i].scheduler_cycles, b.sms[i].scheduler_cycles) << "SM " << i;
    EXPECT_EQ(a.sms[i].sim_stalls, b.sms[i].sim_stalls) << "SM " << i;
    EXPECT_EQ(a.sms[i].tb_cycles, b.sms[i].tb_cycles) << "SM " << i;
  }
  ASSERT_EQ(a.tbs.size(), b.tbs.size());
  for (std::size_t i = 0; i < a.tbs.size(); ++i) {
    EXPECT_EQ(a.tbs[i].start, b.tbs[i].start) << "TB " << i;
    EXPECT_EQ(a.tbs[i].end, b.tbs[i].end) << "TB " << i;
  }
  ASSERT_EQ(a.decisions.size(), b.decisions.size());
  for (std::size_t i = 0; i < a.decisions.size(); ++i) {
    EXPECT_EQ(a.decisions[i].cycle, b.decisions[i].cycle) << "decision " << i;
    EXPECT_EQ(a.decisions[i].reason, b.decisions[i].reason) << "decision " << i;
  }
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t i = 0; i < a.epochs.size(); ++i) {
    EXPECT_EQ(a.epochs[i].warp_instructions, b.epochs[i].warp_instructions) << "sample " << i;
    EXPECT_EQ(a.epochs[i].quota_left, b.epochs[i].quota_left) << "sample " << i;
  }
}

TEST(OrdinaryCycles, GiveWhatWholeStepsGive) {
  std::vector<PolicyConfig> policies(7);
  for (PolicyConfig& policy : policies) policy.epoch_length = 700;
  policies[0].dispatch = DispatchMode::kOnDemand;
  policies[1].quota_enable = true;
  policies[2].quota_enable = true;
  policies[2].warp_policy = WarpPolicy::kLrr;
  policies[3].quota_enable = true;
  policies[3].epoch_end = EpochEnd::kTick;
  policies[4].dispatch = DispatchMode::kLeftover;
  policies[5].dispatch = DispatchMode::kSpatial;
  policies[5].preempt = PreemptMode::kChimera;
  policies[6].dispatch = DispatchMode::kSlicer;
  policies[6].slicer_warmup = policies[6].slicer_settle = policies[6].slicer_window = 900;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    for (const Shape shape : {Shape::kFourSchedulers, Shape::kTwoSchedulers, Shape::kCollectors}) {
      SCOPED_TRACE("policy " + std::to_string(i) + ", shape " +
                   std::to_string(static_cast<unsigned>(shape)));
      const RunResult result = RunUnder(policies[i], shape, false);
      EXPECT_GT(result.warp_instructions, 10000u);
      ExpectSame(result, RunUnder(policies[i], shape, true));
    }
  }
}

// Loses a grant's quota, or spends it twice.
class Spender : public WholeSteps {
 public:
  using WholeSteps::WholeSteps;
  bool grants_alone() const override { return true; }
  Grants Grant(SmId, LaneMask ready) override { return {ready & (~ready + 1), 0}; }
  void ShowQuotas(SmId, SmOutputs* out) override {
    out->gated = true;
    out->quota_left.fill(3);
  }
};

TEST(OrdinaryCycles, QuotasThatAreNotSpentAreFound) {
  MicroRun run;
  PolicyConfig policy;
  policy.quota_enable = true;
  policy.epoch_length = 3000;
  run.request.machine.sms = 3;
  run.request.policy = policy;
  Spender control(run.Control(), policy);
  try {
    run.Run({MixedKernel("a", 96, 25, OpClass::kSfu), MixedKernel("b", 150, 7, OpClass::kAlu)},
            &control);
    FAIL() << "nobody saw it";
  } catch (const CheckFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("quota"), std::string::npos) << failure.what();
  }
}

// A warp that is not ready.
class Granter : public WholeSteps {
 public:
  using WholeSteps::WholeSteps;
  bool grants_alone() const override { return true; }
  Grants Grant(SmId, LaneMask ready) override { return {~ready & (ready + 1), 0}; }
};

TEST(OrdinaryCycles, GrantsOfWarpsThatAreNotReadyAreRefused) {
  MicroRun run;
  run.request.policy.dispatch = DispatchMode::kLeftover;
  Granter control(run.Control(), run.request.policy);
  try {
    run.Run({MixedKernel("a", 96, 25, OpClass::kSfu)}, &control);
    FAIL() << "nobody saw it";
  } catch (const CheckFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("which is not ready"), std::string::npos)
        << failure.what();
  }
}

// One warp of all, where each scheduler with ready ones should grant one.
class Withholder : public WholeSteps {
 public:
  using WholeSteps::WholeSteps;
  bool grants_alone() const override { return true; }
  Grants Grant(SmId, LaneMask ready) override { return {ready & (~ready + 1), 0}; }
};

TEST(OrdinaryCycles, SchedulersThatGrantNobodyAreFound) {
  MicroRun run;
  run.request.policy.dispatch = DispatchMode::kLeftover;
  Withholder control(run.Control(), run.request.policy);
  try {
    run.Run({MixedKernel("a", 96, 25, OpClass::kSfu)}, &control);
    FAIL() << "nobody saw it";
  } catch (const CheckFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("are accounted for"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace smk
