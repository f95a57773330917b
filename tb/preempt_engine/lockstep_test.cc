// SPDX-License-Identifier: Apache-2.0
// smk_preempt_engine against PreemptEngine: every output, every cycle.
#include <Vfermi_preempt_engine.h>
#include <Vfermi_preempt_engine_smk_pkg.h>
#include <Vsmk_preempt_engine.h>
#include <Vsmk_preempt_engine_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "preempt_engine/surroundings.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_preempt_engine_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_preempt_engine_smk_pkg>(), "rtl and model disagree");

using preempt_engine::Inputs;
using preempt_engine::Step;
using preempt_engine::Surroundings;
using preempt_engine::Tables;
using preempt_engine::Tally;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSlots = Package::NumSlots;

  explicit Bench(std::uint64_t seed) : lockstep_("preempt_engine", seed) {
    tables.views.fill({{}, std::uint64_t{1} << 40, 5, 3});
    Connect(&idle_);
    Drive(idle_);
    lockstep_.Reset();
  }
  // The outputs of this cycle, which do not depend on event_sent.
  PreemptEngine::Outputs Peek(Inputs in) {
    Connect(&in);
    return model_.Eval(in);
  }
  PreemptEngine::Outputs Cycle(Inputs in) {
    Connect(&in);
    Drive(in);
    lockstep_.Eval();
    const PreemptEngine::Outputs out = model_.Eval(in);
    if (distort) {
      Inputs distorted = in;
      distort(&distorted);
      const PreemptEngine::Outputs broken = broken_.Eval(distorted);
      Compare(broken_, distorted, broken);
      lockstep_.ClockEdge();
      broken_.Tick(distorted, broken);
    } else {
      Compare(model_, in, out);
      lockstep_.ClockEdge();
    }
    model_.Tick(in, out);
    return out;
  }
  void Cycles(const Inputs& in, unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Cycle(in);
  }
  const PreemptEngine& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  static constexpr unsigned kMaxLines = Package::MaxContextLines;
  Tables tables;
  std::function<void(Inputs*)> distort;

 private:
  using Slots = Bits<kSlots>;

  void Connect(Inputs* in) const {
    in->slot_kernel = &tables.kernel;
    in->slot_tb = &tables.tb;
    in->slot_buffer = &tables.buffer;
    in->kernels = &tables.views;
  }

  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    Pack<Slots>(in.leave, &dut.leave_i);
    dut.leave_counted_i = in.leave_counted;
    dut.mode_valid_i = in.mode_valid;
    dut.mode_i = static_cast<CData>(in.mode);
    dut.whole_sm_i = in.whole_sm;
    Pack<Slots>(in.go, &dut.go_i);
    Pack<Slots>(in.flush, &dut.flush_i);
    Pack<Slots>(in.load, &dut.load_i);
    Pack<Slots>(in.running, &dut.running_i);
    const unsigned slot = model_.state().slot;
    Pack<ContextViewFields<Package>>(tables.views[Index(tables.kernel[slot])], &dut.view_i);
    dut.slot_buffer_i = tables.buffer[slot];
    Pack<Slots>(in.finished, &dut.finished_i);
    Pack<Slots>(in.quiet, &dut.quiet_i);
    Pack<Slots>(in.flushable, &dut.flushable_i);
    dut.context_ready_i = in.context_ready;
    dut.context_done_i = in.context_done;
    dut.buffer_valid_i = in.buffer_valid;
    dut.buffer_i = in.buffer;
    dut.buffer_none_i = in.buffer_none;
    dut.event_sent_i = in.event_sent;
    dut.event_ack_i = in.event_ack;
  }

  void Compare(const PreemptEngine& want, const Inputs& in, const PreemptEngine::Outputs& out) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("stop", dut.stop_o, out.stop);
    lockstep_.Expect("stop_next", dut.stop_next_o, want.StopNext(in.go));
    ExpectMessage<ContextRequestFields<Package>>(&lockstep_, "context", dut.context_o, out.context);
    lockstep_.Expect("release_valid", dut.release_valid_o, out.release_valid);
    lockstep_.Expect("loaded_valid", dut.loaded_valid_o, out.loaded_valid);
    lockstep_.Expect("buffer_request", dut.buffer_request_o, out.buffer_request);
    lockstep_.Expect("buffer_withdraw", dut.buffer_withdraw_o, out.buffer_withdraw);
    lockstep_.Expect("event_valid", dut.event_valid_o, out.event_valid);
    if (want.state().step != Step::kIdle) {
      lockstep_.Expect("slot", dut.slot_o, Index(out.release_slot));
    }
    if (out.release_valid) {
      lockstep_.Expect("release_kind", dut.release_kind_o, static_cast<unsigned>(out.release_kind));
    }
    if (out.event_valid) {
      lockstep_.Expect("event_kind", dut.event_kind_o, static_cast<unsigned>(out.event.kind));
      lockstep_.Expect("event_buffer", dut.event_buffer_o, out.event.buffer);
      lockstep_.Expect("event_counted", dut.event_counted_o, out.event.counted);
    }
    lockstep_.Expect("leaving", dut.leaving_o, want.state().leaving);
    lockstep_.Expect("counted", dut.counted_o, want.state().counted);
    lockstep_.Expect("settled", dut.settled_o, want.settled());
    lockstep_.Expect("busy", dut.busy_o, want.busy());
  }

  Lockstep<Dut> lockstep_;
  PreemptEngine model_;
  PreemptEngine broken_;
  Inputs idle_;
};

using Gtx980 = Bench<Vsmk_preempt_engine, Vsmk_preempt_engine_smk_pkg>;
using Fermi = Bench<Vfermi_preempt_engine, Vfermi_preempt_engine_smk_pkg>;

template <typename AnyBench>
void RunSeeds(unsigned seeds, unsigned cycles) {
  Tally tally;
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed);
    Surroundings<AnyBench>(&bench, seed, &tally).Run(cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
  for (const EventKind kind : {EventKind::kSaved, EventKind::kFlushed, EventKind::kBufferFree}) {
    EXPECT_GT(tally.events[static_cast<unsigned>(kind)], 20u) << static_cast<unsigned>(kind);
  }
  EXPECT_GT(tally.loaded, 100u);
  EXPECT_GT(tally.withdrawn, 20u);
  EXPECT_GT(tally.late_buffers, 10u);
  EXPECT_GT(tally.finished_in_drain, 10u);
}

TEST(PreemptEngineLockstep, EqualsTheReferenceUnderRandomStimulus) { RunSeeds<Gtx980>(8, 80'000); }

TEST(PreemptEngineLockstep, EqualsTheReferenceInConfigurationFermi) { RunSeeds<Fermi>(3, 50'000); }

// A TB of 5 lines in slot 3 leaves through buffer 9.
TEST(PreemptEngineLockstep, SavesEveryLineOnceAndReportsExactlyAfterTheLast) {
  Gtx980 bench(1);
  Inputs in;
  in.running = 1u << 3;
  in.leave = 1u << 3;
  bench.Cycle(in);
  in.leave = 0;
  for (unsigned n = 0; n < 2; ++n) EXPECT_FALSE(bench.Cycle(in).buffer_request) << n;
  in.buffer_valid = true;
  in.buffer = 9;
  EXPECT_TRUE(bench.Cycle(in).buffer_request);
  in.buffer_valid = false;
  for (unsigned n = 0; n < 3; ++n) EXPECT_EQ(bench.Cycle(in).stop, 0u) << n;
  EXPECT_EQ(bench.Cycle(in).stop, 1u << 3) << "fetch is stopped before the TB is quiet";
  in.quiet = 1u << 3;
  EXPECT_FALSE(bench.Cycle(in).context.valid);
  EXPECT_FALSE(bench.Cycle(in).context.valid) << "quiet for two cycles";
  in.context_ready = true;
  for (unsigned line = 0; line < 5; ++line) {
    const PreemptEngine::Outputs out = bench.Cycle(in);
    EXPECT_TRUE(out.context.valid && out.context.store);
    EXPECT_EQ(out.context.address, (std::uint64_t{1} << 40) + (9 * 8 + line) * kLineBytes);
  }
  in.context_done = 4;
  EXPECT_FALSE(bench.Cycle(in).release_valid) << "earlier than the contract";
  in.context_done = 1;
  EXPECT_TRUE(bench.Cycle(in).release_valid) << "later than the contract";
  in.context_done = 0;
  in.running = 0;
  in.event_sent = true;
  const PreemptEngine::Outputs report = bench.Cycle(in);
  EXPECT_EQ(report.event.kind, EventKind::kSaved);
  EXPECT_EQ(report.event.buffer, 9);
  in.event_sent = false;
  in.event_ack = true;
  bench.Cycle(in);
  EXPECT_FALSE(bench.lockstep().dut().busy_o);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PreemptEngineLockstep, BackPressureHoldsTheLine) {
  Gtx980 bench(1);
  bench.tables.buffer[2] = 3;
  Inputs in;
  in.load = 1u << 2;
  bench.Cycle(in);
  in.load = 0;
  for (unsigned n = 0; n < 4; ++n) EXPECT_FALSE(bench.Cycle(in).context.valid) << n;
  for (unsigned n = 0; n < 4; ++n) {
    const PreemptEngine::Outputs out = bench.Cycle(in);
    EXPECT_TRUE(out.context.valid && !out.context.store);
    EXPECT_EQ(out.context.line, 0) << "not taken yet";
  }
  in.context_ready = true;
  for (unsigned line = 0; line < 5; ++line) EXPECT_EQ(bench.Cycle(in).context.line, line);
  in.context_done = 5;
  EXPECT_TRUE(bench.Cycle(in).loaded_valid);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PreemptEngineLockstep, BufferOfATbThatFinishedFirstIsGivenBack) {
  Gtx980 bench(1);
  Inputs in;
  in.running = in.leave = 1;
  bench.Cycle(in);
  in.leave = 0;
  bench.Cycles(in, 2);
  in.finished = 1;
  bench.Cycle(in);
  in.finished = in.running = 0;
  in.buffer_valid = true;
  in.buffer = 17;
  bench.Cycle(in);
  in.buffer_valid = false;
  in.event_sent = true;
  const PreemptEngine::Outputs report = bench.Cycle(in);
  EXPECT_TRUE(report.event_valid);
  EXPECT_EQ(report.event.kind, EventKind::kBufferFree);
  EXPECT_EQ(report.event.buffer, 17);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PreemptEngineLockstep, SwitchedSmStandsStillForABufferButNotForEver) {
  Gtx980 bench(1);
  Inputs in;
  in.running = in.leave = 0b11;
  in.mode_valid = in.whole_sm = true;
  bench.Cycle(in);
  in.leave = 0;
  EXPECT_EQ(bench.Cycle(in).stop, 0u);
  for (unsigned n = 0; n < PreemptEngine::kBufferPatience + 2; ++n) {
    EXPECT_EQ(bench.Cycle(in).stop, 0b11u) << "earlier than the contract: " << n;
  }
  EXPECT_EQ(bench.Cycle(in).stop, 0u) << "later than the contract";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PreemptEngineLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->context_ready = true; }, [](Inputs* in) { in->quiet = ~0u; },
      [](Inputs* in) { in->flushable = 0; },        [](Inputs* in) { in->leave_counted = false; },
      [](Inputs* in) { in->finished &= ~4u; },      [](Inputs* in) { in->whole_sm = false; },
      [](Inputs* in) { in->load &= ~2u; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    Tally tally;
    Surroundings<Gtx980>(&bench, GetTestOptions().seed, &tally).Run(50'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
