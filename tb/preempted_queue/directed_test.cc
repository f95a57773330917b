// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "common/oracle.h"
#include "control/driver/preempted_queue.h"

namespace smk {
namespace {

void AddEvent(PreemptedQueue::Inputs* in, unsigned sm, EventKind kind, unsigned kernel, unsigned tb,
              unsigned buffer) {
  in->event_mask.Set(sm);
  SmEvent& event = in->event[sm];
  event.valid = true;
  event.kind = kind;
  event.kernel = static_cast<KernelId>(kernel);
  event.tb = static_cast<TbId>(tb);
  event.buffer = static_cast<std::uint16_t>(buffer);
}

PreemptedQueue::Inputs PopOf(unsigned kernel) {
  PreemptedQueue::Inputs in;
  in.pop_valid = true;
  in.pop_kernel = static_cast<KernelId>(kernel);
  return in;
}

class PreemptedQueueTest : public testing::Test {
 protected:
  // Requests a buffer as an SM does: once.
  std::optional<unsigned> Request(unsigned sm, unsigned kernel) {
    PreemptedQueue::Inputs in;
    in.request_mask = SmMask::Of(sm);
    in.request_kernel[sm] = static_cast<KernelId>(kernel);
    queue.Tick(in);
    if (queue.state().grant.None()) return std::nullopt;
    EXPECT_EQ(queue.state().grant, SmMask::Of(sm));
    const unsigned buffer = queue.state().grant_buffer;
    queue.Tick({});
    EXPECT_TRUE(queue.state().grant.None()) << "it asked once";
    return buffer;
  }
  void Event(unsigned sm, EventKind kind, unsigned kernel, unsigned tb, unsigned buffer) {
    PreemptedQueue::Inputs in;
    AddEvent(&in, sm, kind, kernel, tb, buffer);
    queue.Tick(in);
    queue.Tick({});
  }

  PreemptedQueue queue{{16, 4}};
};

TEST_F(PreemptedQueueTest, StartsEmptyWithAllBuffersFree) {
  for (unsigned k = 0; k < kNumKernels; ++k) {
    EXPECT_TRUE(queue.empty(k));
    EXPECT_EQ(queue.buffers_free(k), 4u);
  }
  EXPECT_EQ(queue.waiting(), 0);
}

TEST_F(PreemptedQueueTest, GrantsInTheCycleAfterTheRequest) {
  EXPECT_EQ(Request(5, 1), 0u);
  EXPECT_EQ(queue.buffers_free(1), 3u);
  EXPECT_EQ(queue.buffers_free(0), 4u) << "each kernel has its own buffers";
}

TEST_F(PreemptedQueueTest, LowestSmIsGrantedFirstAndOnePerCycle) {
  PreemptedQueue::Inputs in;
  in.request_mask = SmMask(0b1010'0100);
  SmMask granted[3];
  for (SmMask& grant : granted) {
    queue.Tick(in);
    grant = queue.state().grant;
    in.request_mask = SmMask();
  }
  EXPECT_EQ(granted[0], SmMask::Of(2));
  EXPECT_EQ(granted[1], SmMask::Of(5));
  EXPECT_EQ(granted[2], SmMask::Of(7));
}

TEST_F(PreemptedQueueTest, AKernelWithoutBuffersDoesNotHoldUpTheOthers) {
  for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(Request(0, 2));
  EXPECT_EQ(Request(0, 2), std::nullopt) << "full";
  PreemptedQueue::Inputs in;
  in.request_mask = SmMask(0b0010);
  in.request_kernel = {KernelId{2}, KernelId{3}};
  queue.Tick(in);
  EXPECT_EQ(queue.state().grant, SmMask(0b0010));
}

TEST_F(PreemptedQueueTest, AFullKernelIsServedWhenABufferReturns) {
  for (unsigned i = 0; i < 4; ++i) Request(0, 2);
  Event(3, EventKind::kBufferFree, 2, 0, 1);
  EXPECT_EQ(queue.buffers_free(2), 1u);
  EXPECT_EQ(Request(0, 2), 1u) << "the buffer that came back";
}

TEST_F(PreemptedQueueTest, EventIsQueuedAndAcknowledgedOneCycleAfterItIsCaptured) {
  PreemptedQueue::Inputs in;
  AddEvent(&in, 7, EventKind::kSaved, 1, 42, 3);
  queue.Tick(in);
  EXPECT_TRUE(queue.empty(1)) << "earlier than the contract";
  EXPECT_TRUE(queue.state().ack.None());
  queue.Tick({});
  ASSERT_FALSE(queue.empty(1));
  EXPECT_EQ(queue.state().ack, SmMask::Of(7));
  EXPECT_EQ(queue.front(1).tb, TbId{42});
  EXPECT_EQ(queue.front(1).buffer, 3);
  EXPECT_FALSE(queue.front(1).restart);
  queue.Tick({});
  EXPECT_TRUE(queue.state().ack.None()) << "a pulse";
}

TEST_F(PreemptedQueueTest, EventsOfAllSmsAreKeptAndQueuedLowestFirst) {
  PreemptedQueue::Inputs in;
  for (unsigned sm = 0; sm < 4; ++sm) AddEvent(&in, 15 - sm, EventKind::kSaved, 0, sm, sm);
  queue.Tick(in);
  for (unsigned i = 0; i < 4; ++i) {
    queue.Tick({});
    EXPECT_EQ(queue.state().ack, SmMask::Of(12 + i));
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(queue.front(0).tb, static_cast<TbId>(3 - i));
    queue.Tick(PopOf(0));
  }
  EXPECT_TRUE(queue.empty(0));
}

TEST_F(PreemptedQueueTest, FirstInFirstOut) {
  for (unsigned tb = 0; tb < 3; ++tb) Event(tb, EventKind::kSaved, 1, 10 + tb, *Request(tb, 1));
  EXPECT_EQ(queue.waiting(), 0b0010);
  for (unsigned tb = 0; tb < 3; ++tb) {
    EXPECT_EQ(queue.front(1).tb, static_cast<TbId>(10 + tb));
    queue.Tick(PopOf(1));
  }
  EXPECT_EQ(queue.waiting(), 0);
}

TEST_F(PreemptedQueueTest, ASavedTbKeepsItsBufferUntilItIsLoaded) {
  const unsigned buffer = *Request(0, 1);
  Event(0, EventKind::kSaved, 1, 9, buffer);
  queue.Tick(PopOf(1));
  EXPECT_EQ(queue.buffers_free(1), 3u) << "its context is still being read";
  Event(4, EventKind::kBufferFree, 1, 9, buffer);
  EXPECT_EQ(queue.buffers_free(1), 4u);
}

TEST_F(PreemptedQueueTest, AFlushedTbRestartsAndGivesItsBufferBackOneCycleLater) {
  const unsigned buffer = *Request(0, 1);
  Event(0, EventKind::kFlushed, 1, 9, buffer);
  EXPECT_TRUE(queue.front(1).restart);
  queue.Tick(PopOf(1));
  EXPECT_EQ(queue.buffers_free(1), 3u) << "what was read comes late";
  queue.Tick({});
  EXPECT_EQ(queue.buffers_free(1), 4u);
}

// SMs that request, report and restore at random; the oracle is a list per kernel and the set of
// buffers in use.
class PreemptedQueueRandom : public testing::Test {
 protected:
  static constexpr unsigned kSms = 6;
  static constexpr unsigned kDepth = 5;
  enum class Phase { kIdle, kRequest, kGranted, kHold, kReport };
  struct Sm {
    Phase phase = Phase::kIdle;
    unsigned kernel = 0, tb = 0, buffer = 0;
    EventKind kind = EventKind::kSaved;
  };

  void Drive(PreemptedQueue::Inputs* in) {
    for (unsigned i = 0; i < kSms; ++i) {
      Sm& sm = sms[i];
      if (sm.phase == Phase::kGranted) sm.phase = Phase::kHold;
      if (sm.phase == Phase::kIdle && oracle::Pick(&random, 3) == 0) {
        Begin(i, in);
      } else if (sm.phase == Phase::kHold && oracle::Pick(&random, 4) == 0) {
        const EventKind kinds[] = {EventKind::kSaved, EventKind::kFlushed, EventKind::kBufferFree};
        if (sm.kind != EventKind::kBufferFree) sm.kind = kinds[oracle::Pick(&random, 3)];
        AddEvent(in, i, sm.kind, sm.kernel, sm.tb, sm.buffer);
        sm.phase = Phase::kReport;
      }
    }
    const unsigned k = oracle::Pick(&random, kNumKernels);
    if (!queue.empty(k) && oracle::Pick(&random, 2) == 0) *in = WithPop(*in, k);
  }
  // Two SMs only load: else all might wait for the buffers of TBs that only they could load.
  void Begin(unsigned i, PreemptedQueue::Inputs* in) {
    Sm& sm = sms[i];
    if (!loading.empty() && (i < 2 || oracle::Pick(&random, 2) == 0)) {
      sm = {Phase::kHold, 0, next_tb++, 0, EventKind::kBufferFree};
      std::tie(sm.kernel, sm.buffer) = loading.front();
      loading.pop_front();
    } else if (i >= 2) {
      sm = {Phase::kRequest, oracle::Pick(&random, kNumKernels), next_tb++, 0, EventKind::kSaved};
      in->request_mask.Set(i);
      in->request_kernel[i] = static_cast<KernelId>(sm.kernel);
    }
  }
  PreemptedQueue::Inputs WithPop(PreemptedQueue::Inputs in, unsigned k) {
    in.pop_valid = true;
    in.pop_kernel = static_cast<KernelId>(k);
    const auto [tb, buffer, restart] = want[k].front();
    EXPECT_EQ(queue.front(k).tb, static_cast<TbId>(tb));
    EXPECT_EQ(queue.front(k).buffer, buffer);
    EXPECT_EQ(queue.front(k).restart, restart);
    want[k].pop_front();
    if (restart) {
      popped = {k, buffer};
    } else {
      loading.emplace_back(k, buffer);
    }
    return in;
  }
  void Observe() {
    if (returning) used[returning->first].erase(returning->second);
    returning = std::exchange(popped, std::nullopt);
    for (unsigned i = 0; i < kSms; ++i) {
      Sm& sm = sms[i];
      if (queue.state().grant.Test(i)) {
        ASSERT_EQ(sm.phase, Phase::kRequest) << "granted to SM " << i << " without a request";
        sm.phase = Phase::kGranted;
        sm.buffer = queue.state().grant_buffer;
        ASSERT_LT(sm.buffer, kDepth);
        ASSERT_TRUE(used[sm.kernel].insert(sm.buffer).second) << "a buffer was given out twice";
      }
      if (!queue.state().ack.Test(i)) continue;
      ASSERT_EQ(sm.phase, Phase::kReport);
      sm.phase = Phase::kIdle;
      if (sm.kind == EventKind::kBufferFree) {
        used[sm.kernel].erase(sm.buffer);
      } else {
        want[sm.kernel].push_back({sm.tb, sm.buffer, sm.kind == EventKind::kFlushed});
      }
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      ASSERT_EQ(queue.empty(k), want[k].empty());
      ASSERT_EQ(queue.state().queue[k].count, want[k].size());
      ASSERT_EQ(queue.buffers_free(k), kDepth - used[k].size());
    }
  }

  std::mt19937 random;
  PreemptedQueue queue{{kSms, kDepth}};
  std::array<Sm, kSms> sms{};
  unsigned next_tb = 0;
  struct Entry {
    unsigned tb, buffer;
    bool restart;
  };
  std::array<std::deque<Entry>, kMaxKernels> want;
  std::array<std::set<unsigned>, kMaxKernels> used;
  std::deque<std::pair<unsigned, unsigned>> loading;  // kernel, buffer
  // Buffers of flushed TBs: popped in this cycle, in the last one.
  std::optional<std::pair<unsigned, unsigned>> popped, returning;
};

TEST_F(PreemptedQueueRandom, LosesAndInventsNothingAndBuffersAreDisjoint) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  random.seed(seed);
  for (int cycle = 0; cycle < 50000; ++cycle) {
    PreemptedQueue::Inputs in;
    Drive(&in);
    queue.Tick(in);
    Observe();
    if (HasFatalFailure()) FAIL() << "cycle " << cycle;
  }
  EXPECT_GT(next_tb, 1000u);
}

}  // namespace
}  // namespace smk
