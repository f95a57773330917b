// SPDX-License-Identifier: Apache-2.0
// Reference and RTL side by side, both played by the test: every signal that differs stops the run
// in its cycle, with block, SM and both values; what does not count in a message is not compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "control/control_probe.h"
#include "cosim/lockstep_control.h"

namespace smk {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr unsigned kSms = 3, kSm = 1;  // the SM that differs
constexpr Cycle kCycle = 77;

// Says what it was told to say.
struct Play final : ControlPlane, ControlProbe {
  using Mask = decltype(std::declval<ControlPlane>().awake_sms());

  void BeginCycle(Cycle, const HostInputs&, HostOutputs* out) override { *out = host; }
  void StepSm(SmId sm, const SmInputs&, SmOutputs* out) override { *out = wires[Index(sm)]; }
  void EndCycle(Cycle) override {}
  bool prepares() const override { return alone; }
  bool grants_alone() const override { return alone; }
  Grants Grant(SmId sm, LaneMask) override { return grants[Index(sm)]; }
  const PreparedGrants* prepared() const override { return alone ? &ready : nullptr; }
  void ShowQuotas(SmId sm, SmOutputs* out) override {
    out->gated = wires[Index(sm)].gated;
    out->quota_left = wires[Index(sm)].quota_left;
    out->with_quota = wires[Index(sm)].with_quota;
  }
  Mask awake_sms() const override { return awake; }
  bool driver_awake() const override { return driver; }
  void EnableDecisionLog(bool on) override { logged = on; }
  const std::vector<Decision>& TakeDecisions() override { return decisions; }
  PartitionTable partitions() const override { return table; }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override { return quota[Index(sm)]; }
  DriverToSm to_sm(unsigned sm) const override { return command[sm]; }
  SmToDriver to_driver(unsigned sm) const override { return answer[sm]; }

  HostOutputs host;
  std::array<SmOutputs, kMaxSms> wires{};
  std::array<Grants, kMaxSms> grants{};
  PreparedGrants ready;
  Mask awake{};
  bool driver = false, logged = false, alone = false;
  std::vector<Decision> decisions;
  PartitionTable table{};
  std::array<std::array<std::uint16_t, kMaxKernels>, kMaxSms> quota{};
  std::array<DriverToSm, kMaxSms> command{};
  std::array<SmToDriver, kMaxSms> answer{};
};

using Change = std::function<void(Play*)>;

ControlConfig Sms() {
  ControlConfig config;
  config.num_sms = kSms;
  return config;
}

class LockstepMismatch : public testing::Test {
 protected:
  // One cycle of both, in which the RTL's part was changed; what the lockstep says.
  std::string OneCycle(const Change& both, const Change& rtl_only) {
    auto reference = std::make_unique<Play>(), rtl = std::make_unique<Play>();
    for (Play* play : {reference.get(), rtl.get()}) both(play);
    rtl_only(rtl.get());
    counts = {};
    plane = MakeLockstepControl(Sms(), std::move(reference), std::move(rtl), &counts);
    try {
      if (plane->grants_alone()) {
        OrdinaryCycle();
      } else {
        WholeCycle();
      }
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
    return "";
  }
  void WholeCycle() {
    HostInputs in;
    in.launch_valid = launches;
    plane->BeginCycle(kCycle, in, &host);
    for (unsigned sm = 0; sm < kSms; ++sm) plane->StepSm(static_cast<SmId>(sm), {}, &out[sm]);
    plane->EndCycle(kCycle);
  }
  void OrdinaryCycle() {
    plane->PrepareSms(kCycle, Play::Mask::First(kSms), {});
    for (unsigned sm = 0; sm < kSms; ++sm) plane->Grant(static_cast<SmId>(sm), 0);
  }
  // The change is found, and told by the words given; `of_sm`: with the number of the SM.
  void Finds(const std::string& block, const std::string& signal, bool of_sm, const Change& both,
             const Change& rtl_only) {
    SCOPED_TRACE(signal);
    EXPECT_EQ(OneCycle(both, [](Play*) {}), "") << "equal";
    EXPECT_EQ(counts.mismatches, 0u);
    const std::string said = OneCycle(both, rtl_only);
    EXPECT_THAT(said, StartsWith("cycle 77: "));
    EXPECT_THAT(said, HasSubstr(block));
    EXPECT_THAT(said, HasSubstr(signal));
    EXPECT_THAT(said, HasSubstr(": expected 0x"));
    EXPECT_THAT(said, HasSubstr(", the RTL has 0x"));
    EXPECT_EQ(said.find(" of SM 1: ") != std::string::npos, of_sm) << said;
    EXPECT_EQ(counts.mismatches, 1u);
  }
  void Leaves(const char* what, const Change& both, const Change& rtl_only) {
    EXPECT_EQ(OneCycle(both, rtl_only), "") << what << " does not count";
  }

  bool launches = false;
  LockstepCounts counts;
  std::unique_ptr<ControlPlane> plane;
  HostOutputs host;
  std::array<SmOutputs, kMaxSms> out{};
};

void Nothing(Play* /*play*/) {}

TEST_F(LockstepMismatch, MessageHasCycleBlockSmSignalAndBothValues) {
  EXPECT_EQ(OneCycle([](Play* play) { play->quota[kSm][0] = 0x2; },
                     [](Play* play) { play->quota[kSm][0] = 0x1f; }),
            "cycle 77: sm_control of SM 1: quota: expected 0x2, the RTL has 0x1f");
}

TEST_F(LockstepMismatch, EqualPartsAreCounted) {
  EXPECT_EQ(OneCycle(Nothing, Nothing), "");
  EXPECT_EQ(counts.cycles, 1u);
  EXPECT_GT(counts.events, 3u * kSms);
  EXPECT_EQ(counts.mismatches, 0u);
}

TEST_F(LockstepMismatch, CountsMayBeLeftOut) {
  auto rtl = std::make_unique<Play>();
  rtl->driver = true;
  const auto without =
      MakeLockstepControl(Sms(), std::make_unique<Play>(), std::move(rtl), nullptr);
  EXPECT_THROW(without->EndCycle(0), CheckFailure);
}

TEST_F(LockstepMismatch, HostSeesTheSame) {
  Finds("kernel_table", "kernel_done", false, Nothing, [](Play* p) { p->host.kernel_done = 4; });
  const auto refused = [](Play* p) { p->host.launch_error = LaunchError::kTooLarge; };
  const auto ready = [](Play* p) { p->host.launch_ready = true; };
  Leaves("the answer to no launch", Nothing, refused);
  Leaves("the answer to no launch", Nothing, ready);
  launches = true;
  Finds("kernel_table", "launch_error", false, Nothing, refused);
  Finds("kernel_table", "launch_ready", false, Nothing, ready);
}

TEST_F(LockstepMismatch, GrantsAreTheSame) {
  const auto granted = [](Play* p) {
    p->wires[kSm].grant_valid = 0b10;
    p->wires[kSm].grant_warp[1] = 3;
  };
  Finds("quota_scheduler", "grant_valid", true, Nothing, granted);
  Finds("quota_scheduler", "grant_warp", true, granted,
        [](Play* p) { p->wires[kSm].grant_warp[1] = 4; });
  Leaves("the warp of a scheduler that grants nothing", granted,
         [](Play* p) { p->wires[kSm].grant_warp[0] = 4; });
}

TEST_F(LockstepMismatch, OrdinaryCyclesAreTheSame) {
  const auto alone = [](Play* p) { p->alone = true; };
  const auto granted = [](Play* p) {
    p->alone = true;
    p->grants[kSm].lanes = LaneBit(3) | LaneBit(20);
  };
  Finds("quota_scheduler", "grant_valid", true, granted,
        [](Play* p) { p->grants[kSm].lanes = LaneBit(3); });
  Finds("quota_scheduler", "grant_warp", true, granted,
        [](Play* p) { p->grants[kSm].lanes = LaneBit(3) | LaneBit(21); });
  Finds("quota_scheduler", "quotas", true, alone,
        [](Play* p) { p->grants[kSm].notes = Grants::kLeft; });
  const auto prepared = [](Play* p) {
    p->alone = true;
    p->ready.alone.Set(kSm);
  };
  Finds("quota_scheduler", "prepared", true, prepared,
        [](Play* p) { p->ready.lanes[kSm] = LaneBit(3); });
  const auto shown = [](Play* p) {
    p->alone = true;
    p->grants[kSm].notes = Grants::kLeft;
  };
  Finds("quota_scheduler", "alone", true, shown, [](Play* p) { p->ready.alone.Set(kSm); });
  Finds("sm_control", "gated", true, alone, [](Play* p) { p->wires[kSm].gated = true; });
  Finds("quota_scheduler", "left", true, alone, [](Play* p) { p->wires[kSm].quota_left[2] = 9; });
  Finds("quota_scheduler", "with_quota", true, alone,
        [](Play* p) { p->wires[kSm].with_quota = 1; });
  EXPECT_EQ(OneCycle(granted, Nothing), "");
  EXPECT_EQ(counts.cycles, 1u);
}

TEST_F(LockstepMismatch, WarpsStartTheSame) {
  const auto starts = [](Play* p) { p->wires[kSm].warp_start.valid = true; };
  const std::vector<std::pair<const char*, std::function<void(WarpStart*)>>> fields = {
      {"warp", [](WarpStart* w) { w->warp = WarpId{5}; }},
      {"warp_in_tb", [](WarpStart* w) { w->warp_in_tb = 1; }},
      {"tb_slot", [](WarpStart* w) { w->tb_slot = TbSlot{2}; }},
      {"kernel", [](WarpStart* w) { w->kernel = KernelId{1}; }},
      {"tb", [](WarpStart* w) { w->tb = TbId{99}; }},
      {"restore", [](WarpStart* w) { w->restore = true; }}};
  Finds("tb_table", "valid", true, Nothing, starts);
  for (const auto& [name, change] : fields) {
    const auto changed = [change = change](Play* p) { change(&p->wires[kSm].warp_start); };
    Finds("tb_table", name, true, starts, changed);
    Leaves(name, Nothing, changed);
  }
  const std::vector<std::pair<const char*, std::function<void(TbBase*)>>> bases = {
      {"registers", [](TbBase* base) { base->registers = 8; }},
      {"shared_memory", [](TbBase* base) { base->shared_memory = 12; }}};
  for (const auto& [name, change] : bases) {
    const auto changed = [change = change](Play* p) { change(&p->wires[kSm].warp_start.base); };
    Finds("partition_counters", name, true, starts, changed);
    Leaves(name, Nothing, changed);
  }
  Finds("tb_table", "activate", true, Nothing, [](Play* p) { p->wires[kSm].tb_activate = 8; });
}

TEST_F(LockstepMismatch, ContextsAndReleasesAreTheSame) {
  const auto line = [](Play* p) { p->wires[kSm].context.valid = true; };
  const std::vector<std::pair<const char*, std::function<void(ContextRequest*)>>> fields = {
      {"store", [](ContextRequest* x) { x->store = true; }},
      {"tb_slot", [](ContextRequest* x) { x->tb_slot = TbSlot{1}; }},
      {"line", [](ContextRequest* x) { x->line = 17; }},
      {"address", [](ContextRequest* x) { x->address = std::uint64_t{1} << 40; }}};
  Finds("preempt_engine", "valid", true, Nothing, line);
  for (const auto& [name, change] : fields) {
    const auto changed = [change = change](Play* p) { change(&p->wires[kSm].context); };
    Finds("preempt_engine", name, true, line, changed);
    Leaves(name, Nothing, changed);
  }
  const auto released = [](Play* p) { p->wires[kSm].release_valid = true; };
  const auto slot = [](Play* p) { p->wires[kSm].release_slot = TbSlot{1}; };
  const auto kind = [](Play* p) { p->wires[kSm].release_kind = TbRelease::kFlushed; };
  Finds("preempt_engine", "release_valid", true, Nothing, released);
  Finds("preempt_engine", "release_slot", true, released, slot);
  Finds("preempt_engine", "release_kind", true, released, kind);
  Leaves("the slot of no release", Nothing, slot);
}

TEST_F(LockstepMismatch, WhoIsAwakeIsTheSame) {
  Finds("sm_control", "awake", false, Nothing, [](Play* p) { p->awake = Play::Mask{4}; });
  Finds("driver", "awake", false, Nothing, [](Play* p) { p->driver = true; });
}

TEST_F(LockstepMismatch, CommandsAreTheSame) {
  using Field = std::pair<const char*, std::function<void(SmCommand*)>>;
  const Field kernel{"kernel", [](SmCommand* c) { c->kernel = KernelId{1}; }};
  const Field tb{"tb", [](SmCommand* c) { c->tb = TbId{7}; }};
  const Field count{"count", [](SmCommand* c) { c->count = 2; }};
  const Field mode{"mode", [](SmCommand* c) { c->mode = PreemptMode::kDrain; }};
  const Field first{"first", [](SmCommand* c) { c->first = true; }};
  const Field last{"last", [](SmCommand* c) { c->last = true; }};
  const Field quota{"quota", [](SmCommand* c) { c->quota = 300; }};
  const Field buffer{"buffer", [](SmCommand* c) { c->buffer = 3; }};
  const Field range{"registers_limit", [](SmCommand* c) { c->range.registers_limit = 64; }};
  struct Case {
    CommandOp op;
    std::vector<Field> found, left;
  };
  for (const Case& one : std::vector<Case>{
           {CommandOp::kDispatch, {kernel, tb}, {count, mode, first, last, quota, buffer, range}},
           {CommandOp::kPreempt, {kernel, count}, {tb, mode, first, last, quota, range}},
           {CommandOp::kPartition, {kernel, mode, first, last, range}, {tb, count, quota}},
           {CommandOp::kEvict, {mode}, {kernel, tb, count, first, last, quota, range}},
           {CommandOp::kQuota, {kernel, quota, last}, {tb, count, mode, first, range}}}) {
    SCOPED_TRACE(static_cast<int>(one.op));
    const auto sent = [&](Play* p) {
      p->command[kSm].command_valid = true;
      p->command[kSm].command.op = one.op;
    };
    const auto changed = [](const Field& field) {
      return [&field](Play* p) { field.second(&p->command[kSm].command); };
    };
    for (const Field& field : one.found) Finds("", field.first, true, sent, changed(field));
    for (const Field& field : one.left) Leaves(field.first, sent, changed(field));
    for (const Field& field : one.found) Leaves("of no command", Nothing, changed(field));
  }
}

TEST_F(LockstepMismatch, ABufferCountsForWhatIsRestored) {
  const auto sent = [](Play* p) {
    p->command[kSm].command_valid = true;
    p->command[kSm].command.restore = true;
  };
  Finds("", "buffer", true, sent, [](Play* p) { p->command[kSm].command.buffer = 3; });
  Finds("", "op", true, sent, [](Play* p) { p->command[kSm].command.op = CommandOp::kEvict; });
}

TEST_F(LockstepMismatch, EveryBoundOfAPartitionIsTheSame) {
  const auto sent = [](Play* p) {
    p->command[kSm].command_valid = true;
    p->command[kSm].command.op = CommandOp::kPartition;
  };
  const std::vector<std::pair<const char*, std::function<void(PartitionRange*)>>> fields = {
      {"registers_base", [](PartitionRange* r) { r->registers_base = 1; }},
      {"registers_limit", [](PartitionRange* r) { r->registers_limit = 1; }},
      {"shared_memory_base", [](PartitionRange* r) { r->shared_memory_base = 1; }},
      {"shared_memory_limit", [](PartitionRange* r) { r->shared_memory_limit = 1; }},
      {"threads_base", [](PartitionRange* r) { r->threads_base = 1; }},
      {"threads_limit", [](PartitionRange* r) { r->threads_limit = 1; }},
      {"tb_base", [](PartitionRange* r) { r->tb_base = 1; }},
      {"tb_count", [](PartitionRange* r) { r->tb_count = 1; }}};
  for (const auto& [name, change] : fields) {
    Finds("partition_planner", name, true, sent,
          [change = change](Play* p) { change(&p->command[kSm].command.range); });
  }
}

TEST_F(LockstepMismatch, WhatElseGoesToAnSmIsTheSame) {
  const auto given = [](Play* p) { p->command[kSm].buffer_valid = true; };
  const auto buffer = [](Play* p) { p->command[kSm].buffer = 9; };
  Finds("driver", "command_valid", true, Nothing,
        [](Play* p) { p->command[kSm].command_valid = true; });
  Finds("preempted_queue", "buffer_valid", true, Nothing, given);
  Finds("preempted_queue", "buffer", true, given, buffer);
  Leaves("a buffer that is not given", Nothing, buffer);
  Finds("preempted_queue", "event_ack", true, Nothing,
        [](Play* p) { p->command[kSm].event_ack = true; });
  Finds("driver", "tick", true, Nothing, [](Play* p) { p->command[kSm].tick = true; });
}

TEST_F(LockstepMismatch, EventsAreTheSame) {
  using Field = std::pair<const char*, std::function<void(SmEvent*)>>;
  const Field kernel{"kernel", [](SmEvent* e) { e->kernel = KernelId{1}; }};
  const Field tb{"tb", [](SmEvent* e) { e->tb = TbId{7}; }};
  const Field buffer{"buffer", [](SmEvent* e) { e->buffer = 2; }};
  const Field counted{"counted", [](SmEvent* e) { e->counted = true; }};
  const Field shortfall{"shortfall", [](SmEvent* e) { e->shortfall = 1; }};
  struct Case {
    EventKind kind;
    std::vector<Field> found, left;
  };
  for (const Case& one :
       std::vector<Case>{{EventKind::kFinished, {kernel, tb, counted}, {buffer, shortfall}},
                         {EventKind::kSaved, {kernel, tb, counted, buffer}, {shortfall}},
                         {EventKind::kFlushed, {kernel, tb, counted, buffer}, {shortfall}},
                         {EventKind::kBufferFree, {kernel, buffer}, {tb, counted, shortfall}},
                         {EventKind::kSettled, {shortfall}, {kernel, tb, counted, buffer}}}) {
    SCOPED_TRACE(static_cast<int>(one.kind));
    const auto sent = [&](Play* p) {
      p->answer[kSm].event.valid = true;
      p->answer[kSm].event.kind = one.kind;
    };
    const auto changed = [](const Field& field) {
      return [&field](Play* p) { field.second(&p->answer[kSm].event); };
    };
    for (const Field& field : one.found) Finds("", field.first, true, sent, changed(field));
    for (const Field& field : one.left) Leaves(field.first, sent, changed(field));
    for (const Field& field : one.found) Leaves("of no event", Nothing, changed(field));
  }
  const auto finished = [](Play* p) { p->answer[kSm].event.valid = true; };
  Finds("", "valid", true, Nothing, finished);
  Finds("", "kind", true, finished,
        [](Play* p) { p->answer[kSm].event.kind = EventKind::kSettled; });
}

TEST_F(LockstepMismatch, WhatElseComesFromAnSmIsTheSame) {
  Finds("", "command_credit", true, Nothing, [](Play* p) { p->answer[kSm].command_credit = true; });
  const auto asks = [](Play* p) { p->answer[kSm].buffer_request = true; };
  const auto kernel = [](Play* p) { p->answer[kSm].buffer_kernel = KernelId{2}; };
  Finds("", "buffer_request", true, Nothing, asks);
  Finds("", "buffer_kernel", true, asks, kernel);
  Leaves("the kernel of no request", Nothing, kernel);
  const auto report = [](Play* p) { p->answer[kSm].profile_valid = true; };
  const auto issued = [](Play* p) { p->answer[kSm].profile_issued[kNumKernels - 1] = 5; };
  Finds("", "valid", true, Nothing, report);
  Finds("", "issued", true, report, issued);
  Leaves("the numbers of no report", Nothing, issued);
}

TEST_F(LockstepMismatch, QuotasAndPartitionsAreTheSame) {
  Finds("sm_control", "quota", true, Nothing, [](Play* p) { p->quota[kSm][2] = 7; });
  Finds("quota_scheduler", "left", true, Nothing, [](Play* p) { p->wires[kSm].quota_left[3] = 7; });
  Finds("sm_control", "gated", true, Nothing, [](Play* p) { p->wires[kSm].gated = true; });
  Finds("quota_scheduler", "with_quota", true, Nothing,
        [](Play* p) { p->wires[kSm].with_quota = 1u << 13; });
  Finds("tb_dispatch", "partition", false, Nothing, [](Play* p) { p->table[kSm][1] = 7; });
}

TEST_F(LockstepMismatch, DecisionsAreTheSame) {
  using Field = std::pair<const char*, std::function<void(Decision*)>>;
  const Field kernel{"kernel", [](Decision* d) { d->kernel = KernelId{1}; }};
  const Field sm{"sm", [](Decision* d) { d->sm = SmId{2}; }};
  const Field tb{"tb", [](Decision* d) { d->tb = TbId{3}; }};
  const Field victim{"victim", [](Decision* d) { d->victim = KernelId{2}; }};
  const Field victims{"victim_tbs", [](Decision* d) { d->victim_tbs = 3; }};
  const Field share{"share", [](Decision* d) { d->share[3] = 1000; }};
  const Field reason{"reason", [](Decision* d) { d->reason = DecisionReason::kNoVictim; }};
  struct Case {
    DecisionReason reason;
    std::vector<Field> found, left;
  };
  for (const Case& one : std::vector<Case>{
           {DecisionReason::kDispatchNew, {kernel, sm, tb, share, reason}, {victim, victims}},
           {DecisionReason::kDispatchRestored, {kernel, sm, tb, share}, {victim, victims}},
           {DecisionReason::kDispatchRestarted, {kernel, sm, tb, share}, {victim, victims}},
           {DecisionReason::kPreempt, {kernel, sm, victim, victims, share}, {tb}},
           {DecisionReason::kNoRoom, {kernel, sm, share}, {tb, victim, victims}}}) {
    SCOPED_TRACE(static_cast<int>(one.reason));
    const auto decided = [&](Play* p) {
      p->decisions.emplace_back();
      p->decisions.back().reason = one.reason;
    };
    const auto changed = [](const Field& field) {
      return [&field](Play* p) { field.second(&p->decisions.back()); };
    };
    for (const Field& field : one.found) Finds("", field.first, false, decided, changed(field));
    for (const Field& field : one.left) Leaves(field.first, decided, changed(field));
  }
}

TEST_F(LockstepMismatch, ADecisionTooManyIsFound) {
  Finds("tb_dispatch", "decisions in the cycle", false, Nothing,
        [](Play* p) { p->decisions.emplace_back(); });
}

TEST_F(LockstepMismatch, TheMachineSeesTheRtl) {
  EXPECT_EQ(OneCycle(
                [](Play* p) {
                  p->wires[kSm].warp_start.kernel = KernelId{1};
                  p->host.kernel_done = 2;
                  p->driver = true;
                  p->quota[kSm][0] = 11;
                },
                [](Play* p) { p->wires[kSm].warp_start.kernel = KernelId{3}; }),
            "");
  EXPECT_EQ(out[kSm].warp_start.kernel, KernelId{3}) << "what is not compared is the RTL's, too";
  EXPECT_EQ(host.kernel_done, 2);
  EXPECT_TRUE(plane->driver_awake());
  EXPECT_EQ(plane->quotas(static_cast<SmId>(kSm))[0], 11);
}

TEST_F(LockstepMismatch, DecisionsAreHandedOnWhenAskedFor) {
  const auto decided = [](Play* p) { p->decisions.resize(2); };
  EXPECT_EQ(OneCycle(decided, Nothing), "");
  EXPECT_EQ(plane->TakeDecisions().size(), 0u) << "nobody has asked";
  plane->EnableDecisionLog(true);
  HostOutputs ignored;
  plane->BeginCycle(kCycle + 1, {}, &ignored);
  plane->EndCycle(kCycle + 1);
  EXPECT_EQ(plane->TakeDecisions().size(), 2u);
  EXPECT_EQ(plane->TakeDecisions().size(), 0u) << "once";
}

TEST_F(LockstepMismatch, AnSmThatWasNotSteppedIsNotCompared) {
  auto rtl = std::make_unique<Play>();
  rtl->wires[kSm].tb_stop = 1;
  rtl->answer[kSm].command_credit = true;
  rtl->command[kSm].tick = true;
  const auto both = MakeLockstepControl(Sms(), std::make_unique<Play>(), std::move(rtl), &counts);
  SmOutputs ignored;
  both->StepSm(static_cast<SmId>(0), {}, &ignored);
  both->EndCycle(5);
  both->StepSm(static_cast<SmId>(kSm), {}, &ignored);
  EXPECT_THROW(both->EndCycle(6), CheckFailure);
}

}  // namespace
}  // namespace smk
