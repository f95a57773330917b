// SPDX-License-Identifier: Apache-2.0
// rtl/sm/smk_preempt_engine.sv against PreemptEngine: every output, every cycle.
#include <Vfermi_preempt_engine.h>
#include <Vfermi_preempt_engine_smk_pkg.h>
#include <Vsmk_preempt_engine.h>
#include <Vsmk_preempt_engine_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "control/preempt_engine.h"
#include "unit/lockstep.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_preempt_engine_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_preempt_engine_smk_pkg>(), "rtl and model disagree");

using Inputs = PreemptEngine::Inputs;
using Step = PreemptEngine::Step;

// What the TB table and the driver hold beside the engine.
struct Tables {
  std::array<KernelId, kMaxTbSlots> kernel{};
  std::array<TbId, kMaxTbSlots> tb{};
  std::array<std::uint16_t, kMaxTbSlots> buffer{};
  KernelViews views{};
};

// The block and its reference. With `distort` the block is compared with a second reference that
// is told something else: one rule broken.
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
      Inputs told = in;
      distort(&told);
      const PreemptEngine::Outputs broken = broken_.Eval(told);
      Compare(broken_, broken);
      lockstep_.ClockEdge();
      broken_.Tick(told, broken);
    } else {
      Compare(model_, out);
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
  static constexpr unsigned kSlotWidth = CntWidth(kSlots - 1);
  static constexpr unsigned kLineWidth = CntWidth(Package::MaxContextLines);
  static constexpr unsigned kLogLinesWidth = CntWidth(kLineWidth);
  static constexpr unsigned kAddressWidth = Package::AddressWidth;

  void Connect(Inputs* in) const {
    in->slot_kernel = &tables.kernel;
    in->slot_tb = &tables.tb;
    in->slot_buffer = &tables.buffer;
    in->kernels = &tables.views;
  }

  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    SetBits(&dut.leave_i, 0, kSlots, in.leave);
    dut.leave_counted_i = in.leave_counted;
    dut.mode_valid_i = in.mode_valid;
    dut.mode_i = static_cast<CData>(in.mode);
    dut.whole_sm_i = in.whole_sm;
    SetBits(&dut.load_i, 0, kSlots, in.load);
    SetBits(&dut.running_i, 0, kSlots, in.running);
    const unsigned slot = model_.state().slot;
    const KernelView& view = tables.views[Index(tables.kernel[slot])];
    FieldWriter(&dut.view_i)
        .Put(kLogLinesWidth, view.context_log2_lines)
        .Put(kLineWidth, view.context_lines)
        .Put(kAddressWidth, view.context_base);
    dut.slot_buffer_i = tables.buffer[slot];
    SetBits(&dut.finished_i, 0, kSlots, in.finished);
    SetBits(&dut.quiet_i, 0, kSlots, in.quiet);
    SetBits(&dut.flushable_i, 0, kSlots, in.flushable);
    dut.context_ready_i = in.context_ready;
    dut.context_done_i = in.context_done;
    dut.buffer_valid_i = in.buffer_valid;
    dut.buffer_i = in.buffer;
    dut.event_sent_i = in.event_sent;
    dut.event_ack_i = in.event_ack;
  }

  void Compare(const PreemptEngine& want, const PreemptEngine::Outputs& out) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("stop", dut.stop_o, out.stop);
    lockstep_.Expect("stop_next", dut.stop_next_o, want.StopNext());
    CompareContext(out.context);
    lockstep_.Expect("release_valid", dut.release_valid_o, out.release_valid);
    lockstep_.Expect("loaded_valid", dut.loaded_valid_o, out.loaded_valid);
    lockstep_.Expect("buffer_request", dut.buffer_request_o, out.buffer_request);
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

  void CompareContext(const ContextRequest& want) {
    FieldReader context(lockstep_.dut().context_o);
    const std::uint64_t address = context.Take(kAddressWidth), line = context.Take(kLineWidth);
    const std::uint64_t slot = context.Take(kSlotWidth), store = context.Take(1);
    lockstep_.Expect("context.valid", context.Take(1), want.valid);
    if (!want.valid) return;
    lockstep_.Expect("context.address", address, want.address);
    lockstep_.Expect("context.line", line, want.line);
    lockstep_.Expect("context.tb_slot", slot, Index(want.tb_slot));
    lockstep_.Expect("context.store", store, want.store);
  }

  Lockstep<Dut> lockstep_;
  PreemptEngine model_;
  PreemptEngine broken_;
  Inputs idle_;
};

using Gtx980 = Bench<Vsmk_preempt_engine, Vsmk_preempt_engine_smk_pkg>;
using Fermi = Bench<Vfermi_preempt_engine, Vfermi_preempt_engine_smk_pkg>;

// How often the cases that matter came up.
struct Tally {
  std::array<unsigned, 5> events{};  // by EventKind
  unsigned loaded = 0, withdrawn = 0, late_buffers = 0, finished_in_drain = 0;
};

// The SM, the driver and memory around the engine: TBs that come, run and finish, commands that
// make them leave, buffers, acknowledgements and context lines that take their time.
template <typename AnyBench>
class Surroundings {
 public:
  Surroundings(AnyBench* bench, std::uint64_t seed, Tally* tally)
      : bench_(*bench), dice_(seed), tally_(*tally) {
    Tables& t = bench_.tables;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      // Mostly small ones, so that much happens; room for carries up to the last bit.
      const unsigned log2 = k == 3 && seed % 3 == 0 ? 12 : 1 + dice_.Below(5);
      t.views[k].context_base = dice_.Bits() & 0xfeff'ffff'ff80;
      t.views[k].context_log2_lines = static_cast<std::uint8_t>(log2);
      t.views[k].context_lines =
          static_cast<std::uint16_t>(1 + dice_.Below(std::min(1u << log2, AnyBench::kMaxLines)));
    }
  }

  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles && bench_.lockstep().ok(); ++i) {
      if (i % 512 == 0) ChangePhase();
      const Inputs in = Next();
      const Step step = bench_.model().state().step;
      const PreemptEngine::Outputs out = bench_.Cycle(in);
      Count(step, in, out);
      After(in, out);
    }
  }

 private:
  static constexpr std::uint32_t kAll =
      static_cast<std::uint32_t>((std::uint64_t{1} << AnyBench::kSlots) - 1);

  void ChangePhase() {
    ready_ = 10 + dice_.Below(91);
    done_ = dice_.Percent(20) ? 2 : ready_;
    answer_ = dice_.Percent(20) ? 1 : 5 + dice_.Below(95);
    leave_ = 1 + dice_.Below(10);
    finish_ = dice_.Below(6);
    quiet_ = 1 + dice_.Below(5);
  }
  std::uint32_t Mask(unsigned sparse) {
    return static_cast<std::uint32_t>(dice_.Sparse(sparse)) & kAll;
  }

  Inputs Next() {
    const PreemptEngine::State& s = bench_.model().state();
    Inputs in;
    in.running = running_;
    // Nothing finishes that is stopped and quiet; a TB that is saved cannot finish any more.
    std::uint32_t can_finish = running_;
    if (s.step >= Step::kTransfer && s.step <= Step::kWait) can_finish &= ~(1u << s.slot);
    if (dice_.Percent(finish_)) in.finished = Mask(2) & can_finish;
    if (s.step == Step::kBuffer && dice_.Percent(finish_)) in.finished |= 1u << s.slot & can_finish;
    in.quiet = Mask(quiet_);
    in.flushable = Mask(1);
    in.context_ready = dice_.Percent(ready_);
    in.context_done = static_cast<std::uint8_t>(
        dice_.Percent(done_) ? dice_.Below(std::min(in_flight_ + 1, 256u)) : 0);
    in.buffer_valid = (s.step == Step::kBuffer && dice_.Percent(answer_)) ||
                      (s.step == Step::kWithdraw && dice_.Percent(50));
    in.buffer = static_cast<std::uint16_t>(dice_.Below(512));
    in.event_sent = bench_.Peek(in).event_valid && dice_.Percent(80);
    in.event_ack = s.step == Step::kAck && dice_.Percent(answer_);
    Command(s, &in);
    return in;
  }

  void Command(const PreemptEngine::State& s, Inputs* in) {
    if (arriving_ != 0 && dice_.Percent(50)) {
      in->load = arriving_ & (0u - arriving_);
      arriving_ &= arriving_ - 1;
    }
    if (!dice_.Percent(leave_)) return;
    in->leave = Mask(1 + dice_.Below(4)) & (running_ | s.to_load) & ~in->finished & ~s.leaving;
    in->leave_counted = dice_.Percent(50);
    in->mode_valid = true;
    in->whole_sm = dice_.Percent(30);
    in->mode = in->whole_sm ? static_cast<PreemptMode>(dice_.Below(3)) : PreemptMode::kSwitch;
  }

  void Count(Step step, const Inputs& in, const PreemptEngine::Outputs& out) {
    if (in.event_sent) ++tally_.events[static_cast<unsigned>(out.event.kind)];
    tally_.loaded += out.loaded_valid;
    tally_.withdrawn += step == Step::kWithdraw;
    tally_.late_buffers += step == Step::kWithdraw && in.buffer_valid;
    tally_.finished_in_drain +=
        step == Step::kDrain && (in.finished >> bench_.model().state().slot & 1);
  }
  // What the engine did to the TBs; slots that are free are taken again.
  void After(const Inputs& in, const PreemptEngine::Outputs& out) {
    const PreemptEngine::State& s = bench_.model().state();
    in_flight_ += (out.context.valid && in.context_ready ? 1u : 0u) - in.context_done;
    running_ &= ~in.finished;
    resident_ &= ~in.finished;
    if (out.release_valid) running_ &= ~(1u << Index(out.release_slot));
    if (out.release_valid) resident_ &= ~(1u << Index(out.release_slot));
    if (out.loaded_valid) running_ |= 1u << Index(out.loaded_slot);
    std::uint32_t free = kAll & ~resident_;
    // The table keeps what a slot held until its event is sent.
    if (s.step != Step::kIdle) free &= ~(1u << s.slot);
    if (free == 0 || !dice_.Percent(40)) return;
    const auto slot = static_cast<unsigned>(__builtin_ctz(free));
    Tables& t = bench_.tables;
    t.kernel[slot] = static_cast<KernelId>(dice_.Below(kMaxKernels));
    t.tb[slot] = static_cast<TbId>(dice_.Bits());
    t.buffer[slot] = static_cast<std::uint16_t>(dice_.Below(512));
    resident_ |= 1u << slot;
    (dice_.Percent(30) ? arriving_ : running_) |= 1u << slot;
  }

  AnyBench& bench_;
  Dice dice_;
  Tally& tally_;
  std::uint32_t resident_ = 0, running_ = 0, arriving_ = 0;
  unsigned in_flight_ = 0;  // context lines issued and not completed
  unsigned ready_ = 50, done_ = 50, answer_ = 50, leave_ = 1, finish_ = 1, quiet_ = 1;
};

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

TEST(PreemptEngineLockstep, EqualsTheReferenceUnderRandomStimulus) { RunSeeds<Gtx980>(6, 50'000); }

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
