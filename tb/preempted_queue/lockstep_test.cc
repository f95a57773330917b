// SPDX-License-Identifier: Apache-2.0
// smk_preempted_queue against PreemptedQueue: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_preempted_queue.h>
#include <Vfermi_preempted_queue_smk_pkg.h>
#include <Vsmall_preempted_queue.h>
#include <Vsmall_preempted_queue_smk_pkg.h>
#include <Vsmk_preempted_queue.h>
#include <Vsmk_preempted_queue_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "control/driver/preempted_queue.h"
#include "preempted_queue/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_preempted_queue_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_preempted_queue_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vsmall_preempted_queue_smk_pkg>(), "rtl and model disagree");

using Inputs = PreemptedQueue::Inputs;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr unsigned kSms = Pkg::NumSms;
  static constexpr unsigned kKernels = Pkg::NumKernels;
  static constexpr unsigned kDepth = Pkg::PreemptedDepth;

  explicit Bench(std::uint64_t seed) : lockstep_("preempted_queue", seed), dice_(seed) {
    Drive({});
    lockstep_.Reset();
  }
  void Cycle(const Inputs& in = {}) {
    Drive(in);
    lockstep_.Eval();
    Compare(distort ? broken_ : model_);
    lockstep_.ClockEdge();
    model_.Tick(in);
    if (!distort) return;
    Inputs distorted = in;
    distort(&distorted);
    broken_.Tick(distorted);
  }
  const PreemptedQueue& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    Pack<Bits<kSms>>(in.request_mask, &dut.request_i);
    Pack<Bits<kSms>>(in.withdraw_mask, &dut.withdraw_i);
    Pack<Bits<kSms>>(in.event_mask, &dut.events_valid_i);
    for (unsigned sm = 0; sm < kSms; ++sm) {
      PackAt<SmKernelId<Package>>(sm, in.request_kernel[sm], &dut.request_kernel_i);
      if (in.event_mask.Test(sm)) {
        PackAt<SmEvents<Package>>(sm, in.event[sm], &dut.events_i);
      }
    }
    // The event of an SM that reports none means nothing.
    const unsigned sm = dice_.Below(kSms);
    if (!in.event_mask.Test(sm)) {
      CopyAt<SmEvents<Package>>(sm, dice_.Bits(), &dut.events_i);
    }
    dut.pop_i = static_cast<CData>(in.pop_valid ? 1u << Index(in.pop_kernel) : 0);
    front_kernel_ = dice_.Below(kKernels);
    dut.front_kernel_i = static_cast<CData>(front_kernel_);
  }

  void Compare(const PreemptedQueue& want) {
    const Dut& dut = lockstep_.dut();
    const PreemptedQueue::State& s = want.state();
    ExpectMessage<Bits<kSms>>(&lockstep_, "ack", dut.ack_o, s.ack);
    ExpectMessage<Bits<kSms>>(&lockstep_, "grant", dut.grant_o, s.grant);
    ExpectMessage<Bits<kSms>>(&lockstep_, "none", dut.none_o, s.none);
    lockstep_.Expect("grant_buffer", dut.grant_buffer_o, s.grant_buffer);
    lockstep_.Expect("busy", dut.busy_o,
                     (s.pending | s.ack | s.grant | s.none | s.asked).Any() || s.popped);
    for (unsigned k = 0; k < kKernels; ++k) {
      ExpectAt<BufferCntVec<Package>>(&lockstep_, "count", k, dut.count_o, want.count(k));
      ExpectAt<BufferCntVec<Package>>(&lockstep_, "free", k, dut.free_o, want.buffers_free(k));
    }
    if (want.empty(front_kernel_)) return;
    ExpectMessage<PreemptedEntryFields<Package>>(&lockstep_, "front", dut.front_o,
                                                 want.front(front_kernel_));
  }

  Lockstep<Dut> lockstep_;
  Dice dice_;
  unsigned front_kernel_ = 0;
  PreemptedQueue model_{{kSms, kDepth}};
  PreemptedQueue broken_{{kSms, kDepth}};
};

using Gtx980 = Bench<Vsmk_preempted_queue, Vsmk_preempted_queue_smk_pkg>;
using Fermi = Bench<Vfermi_preempted_queue, Vfermi_preempted_queue_smk_pkg>;
// 2 SMs, 2 kernels, 8 buffers each.
using Small = Bench<Vsmall_preempted_queue, Vsmall_preempted_queue_smk_pkg>;

template <typename AnyBench>
QueueTraffic RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  QueueTraffic traffic(seed, AnyBench::kSms, AnyBench::kKernels);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    bench->Cycle(traffic.Next(bench->model(), i));
  }
  return traffic;
}

template <typename AnyBench>
void RunSeeds(unsigned seeds, unsigned cycles) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed);
    const QueueTraffic traffic = RunRandom(&bench, seed, cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
    EXPECT_GT(traffic.waited(), 1000u) << "never full, --seed=" << seed;
    EXPECT_GT(traffic.two_came_back(), 10u) << "--seed=" << seed;
  }
}

TEST(PreemptedQueueLockstep, EqualsTheReferenceUnderRandomStimulus) { RunSeeds<Gtx980>(4, 50'000); }

TEST(PreemptedQueueLockstep, EqualsTheReferenceInConfigurationFermi) { RunSeeds<Fermi>(2, 50'000); }

TEST(PreemptedQueueLockstep, EqualsTheReferenceInConfigurationSmall) { RunSeeds<Small>(4, 50'000); }

class PreemptedQueueLockstepRule : public testing::Test {
 protected:
  ~PreemptedQueueLockstepRule() override {
    EXPECT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
  static Inputs RequestOf(unsigned sm, unsigned kernel) {
    Inputs in;
    in.request_mask = SmMask::Of(sm);
    in.request_kernel[sm] = static_cast<KernelId>(kernel);
    return in;
  }
  static Inputs PopOf(unsigned kernel) {
    Inputs in;
    in.pop_valid = true;
    in.pop_kernel = static_cast<KernelId>(kernel);
    return in;
  }
  static Inputs EventOf(unsigned sm, EventKind kind, unsigned kernel, unsigned tb,
                        unsigned buffer) {
    Inputs in;
    AddQueueEvent(&in, sm, kind, kernel, tb, buffer);
    return in;
  }
  // Two SMs take turns, so that one buffer is granted in every cycle.
  void TakeBuffers(unsigned kernel, unsigned buffers) {
    for (unsigned n = 0; n < buffers; ++n) {
      bench.Cycle(RequestOf(n % 2, kernel));
      EXPECT_EQ(dut().grant_o, 1u << n % 2);
    }
  }
  // One TB per cycle is reported, and queued in the cycle after.
  void Save(unsigned kernel, unsigned tbs, EventKind kind = EventKind::kSaved) {
    for (unsigned n = 0; n < tbs; ++n) {
      bench.Cycle(EventOf(n % 2, kind, kernel, 1000 + n, n));
    }
    bench.Cycle();
  }
  Vsmk_preempted_queue& dut() { return bench.lockstep().dut(); }

  Gtx980 bench{1};
};

TEST_F(PreemptedQueueLockstepRule, GrantAndAckComeExactlyOneCycleAfterTheyWin) {
  bench.Cycle();
  EXPECT_EQ(dut().grant_o, 0u);
  bench.Cycle(RequestOf(5, 1));
  EXPECT_EQ(dut().grant_o, 1u << 5) << "later than the contract";
  bench.Cycle();
  EXPECT_EQ(dut().grant_o, 0u) << "it asked once";
  bench.Cycle(EventOf(5, EventKind::kSaved, 1, 42, 0));
  EXPECT_EQ(dut().ack_o, 0u) << "earlier than the contract";
  bench.Cycle();
  EXPECT_EQ(dut().ack_o, 1u << 5) << "later than the contract";
  EXPECT_TRUE(dut().busy_o);
  bench.Cycle();
  EXPECT_EQ(dut().ack_o, 0u) << "a pulse";
  EXPECT_FALSE(dut().busy_o);
}

TEST_F(PreemptedQueueLockstepRule, EventsOfAllSmsAreQueuedLowestFirst) {
  TakeBuffers(3, 16);
  Inputs in;
  for (unsigned sm = 0; sm < 16; ++sm) AddQueueEvent(&in, sm, EventKind::kSaved, 3, sm, sm);
  bench.Cycle(in);
  for (unsigned sm = 0; sm < 16; ++sm) {
    bench.Cycle();
    EXPECT_EQ(dut().ack_o, 1u << sm);
  }
  for (unsigned sm = 0; sm < 16; ++sm) bench.Cycle(PopOf(3));
  EXPECT_EQ(dut().count_o, 0u);
}

TEST_F(PreemptedQueueLockstepRule, AFullKernelWaitsAndHoldsNobodyUp) {
  TakeBuffers(2, Gtx980::kDepth);
  for (unsigned i = 0; i < 100; ++i) {
    bench.Cycle(i == 0 ? RequestOf(0, 2) : Inputs{});
    EXPECT_EQ(dut().grant_o, 0u) << "full";
  }
  bench.Cycle(RequestOf(9, 1));
  EXPECT_EQ(dut().grant_o, 1u << 9) << "another kernel has buffers";
  // A buffer comes back: captured, free, granted.
  Inputs in;
  AddQueueEvent(&in, 4, EventKind::kBufferFree, 2, 0, 77);
  bench.Cycle(in);
  bench.Cycle({});
  EXPECT_EQ(dut().grant_o, 0u) << "earlier than the contract";
  bench.Cycle({});
  EXPECT_EQ(dut().grant_o, 1u) << "later than the contract";
  EXPECT_EQ(dut().grant_buffer_o, 77u);
}

TEST_F(PreemptedQueueLockstepRule, AsManyTbsAsBuffersWaitAndArePoppedOnePerCycle) {
  for (const EventKind kind : {EventKind::kSaved, EventKind::kFlushed}) {
    for (const unsigned kernel : {0u, 3u}) {
      TakeBuffers(kernel, Gtx980::kDepth);
      Save(kernel, Gtx980::kDepth, kind);
      EXPECT_EQ(bench.model().count(kernel), Gtx980::kDepth);
      for (unsigned n = 0; n < Gtx980::kDepth; ++n) {
        EXPECT_EQ(bench.model().front(kernel).tb, static_cast<TbId>(1000 + n));
        bench.Cycle(PopOf(kernel));
      }
      if (kind == EventKind::kSaved) Save(kernel, Gtx980::kDepth, EventKind::kBufferFree);
      bench.Cycle();
      EXPECT_EQ(bench.model().buffers_free(kernel), Gtx980::kDepth);
    }
  }
}

// The list of free buffers is full, and begins at even and at odd places.
TEST_F(PreemptedQueueLockstepRule, AllBuffersComeBackInTheirOrder) {
  for (unsigned kernel = 0; kernel < Gtx980::kKernels; ++kernel) {
    for (unsigned odd = 0; odd < 2; ++odd) {
      TakeBuffers(kernel, Gtx980::kDepth);
      Save(kernel, Gtx980::kDepth, EventKind::kBufferFree);
      for (unsigned idle = 0; idle < 4; ++idle) bench.Cycle();
      TakeBuffers(kernel, 1);
      const unsigned buffer = dut().grant_buffer_o;
      bench.Cycle(EventOf(0, EventKind::kBufferFree, kernel, 0, buffer));
      for (unsigned idle = 0; idle < 4; ++idle) bench.Cycle();
      EXPECT_EQ(bench.model().buffers_free(kernel), Gtx980::kDepth);
    }
  }
}

// The flushed TB's buffer and the one reported free come back at once, in this order.
TEST_F(PreemptedQueueLockstepRule, TwoBuffersOfAKernelComeBackInOneCycle) {
  for (unsigned odd = 0; odd < 2; ++odd) {
    TakeBuffers(1, 2);
    const unsigned first = 2 * odd, second = 2 * odd + 1;
    bench.Cycle(EventOf(0, EventKind::kFlushed, 1, 9, first));
    bench.Cycle();
    Inputs both = EventOf(1, EventKind::kBufferFree, 1, 0, second);
    both.pop_valid = true;
    both.pop_kernel = KernelId{1};
    bench.Cycle(both);
    const unsigned free = bench.model().buffers_free(1);
    bench.Cycle();
    EXPECT_EQ(bench.model().buffers_free(1), free + 2);
    // The ring gives them back in the order in which they came; the next round is at odd places.
    bench.Cycle(RequestOf(0, 1));
    EXPECT_EQ(dut().grant_buffer_o, first);
    bench.Cycle(RequestOf(1, 1));
    EXPECT_EQ(dut().grant_buffer_o, second);
    bench.Cycle(EventOf(0, EventKind::kBufferFree, 1, 0, first));
    bench.Cycle();
    bench.Cycle(RequestOf(1, 1));
  }
}

TEST(PreemptedQueueLockstep, FindsEachBrokenRule) {
  const auto all_events = [](const std::function<void(SmEvent*)>& change) {
    return [change](Inputs* in) {
      for (SmEvent& event : in->event) change(&event);
    };
  };
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->request_mask &= SmMask(0x7fff); },
      [](Inputs* in) { in->pop_valid = in->pop_valid && Index(in->pop_kernel) != 3; },
      [](Inputs* in) { in->request_kernel[2] = KernelId{1}; },
      all_events([](SmEvent* e) { e->tb = static_cast<TbId>(Index(e->tb) & 0x7fff'ffff); }),
      all_events([](SmEvent* e) { e->buffer &= 0xff; }),
      all_events([](SmEvent* e) {
        if (e->kind == EventKind::kFlushed) e->kind = EventKind::kSaved;
      }),
      all_events([](SmEvent* e) {
        if (e->kind == EventKind::kBufferFree) e->kind = EventKind::kFlushed;
      })};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
