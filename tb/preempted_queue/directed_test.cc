// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "common/oracle.h"
#include "control/preempted_queue.h"

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
  // Requests a buffer as an SM does: until it is granted, and one cycle longer.
  std::optional<unsigned> Request(unsigned sm, unsigned kernel) {
    PreemptedQueue::Inputs in;
    in.request_mask = SmMask::Of(sm);
    in.request_kernel[sm] = static_cast<KernelId>(kernel);
    queue_.Tick(in);
    if (queue_.state().grant.None()) return std::nullopt;
    EXPECT_EQ(queue_.state().grant, SmMask::Of(sm));
    const unsigned buffer = queue_.state().grant_buffer;
    queue_.Tick(in);
    EXPECT_TRUE(queue_.state().grant.None()) << "the SM has not yet seen the grant";
    return buffer;
  }
  void Event(unsigned sm, EventKind kind, unsigned kernel, unsigned tb, unsigned buffer) {
    PreemptedQueue::Inputs in;
    AddEvent(&in, sm, kind, kernel, tb, buffer);
    queue_.Tick(in);
    queue_.Tick({});
  }

  PreemptedQueue queue_{{16, 4}};
};

TEST_F(PreemptedQueueTest, StartsEmptyWithAllBuffersFree) {
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    EXPECT_TRUE(queue_.empty(k));
    EXPECT_EQ(queue_.buffers_free(k), 4u);
  }
  EXPECT_EQ(queue_.waiting(), 0);
}

TEST_F(PreemptedQueueTest, GrantsInTheCycleAfterTheRequest) {
  EXPECT_EQ(Request(5, 1), 0u);
  EXPECT_EQ(queue_.buffers_free(1), 3u);
  EXPECT_EQ(queue_.buffers_free(0), 4u) << "each kernel has its own buffers";
}

TEST_F(PreemptedQueueTest, LowestSmIsGrantedFirstAndOnePerCycle) {
  PreemptedQueue::Inputs in;
  in.request_mask = SmMask(0b1010'0100);
  SmMask granted[3];
  for (SmMask& grant : granted) {
    queue_.Tick(in);
    grant = queue_.state().grant;
    in.request_mask -= grant;
  }
  EXPECT_EQ(granted[0], SmMask::Of(2));
  EXPECT_EQ(granted[1], SmMask::Of(5));
  EXPECT_EQ(granted[2], SmMask::Of(7));
}

TEST_F(PreemptedQueueTest, AKernelWithoutBuffersDoesNotHoldUpTheOthers) {
  for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(Request(0, 2));
  EXPECT_EQ(Request(0, 2), std::nullopt) << "full";
  PreemptedQueue::Inputs in;
  in.request_mask = SmMask(0b0011);
  in.request_kernel = {KernelId{2}, KernelId{3}};
  queue_.Tick(in);
  EXPECT_EQ(queue_.state().grant, SmMask(0b0010));
}

TEST_F(PreemptedQueueTest, AFullKernelIsServedWhenABufferReturns) {
  for (unsigned i = 0; i < 4; ++i) Request(0, 2);
  Event(3, EventKind::kBufferFree, 2, 0, 1);
  EXPECT_EQ(queue_.buffers_free(2), 1u);
  EXPECT_EQ(Request(0, 2), 1u) << "the buffer that came back";
}

TEST_F(PreemptedQueueTest, EventIsQueuedAndAcknowledgedOneCycleAfterItIsCaptured) {
  PreemptedQueue::Inputs in;
  AddEvent(&in, 7, EventKind::kSaved, 1, 42, 3);
  queue_.Tick(in);
  EXPECT_TRUE(queue_.empty(1)) << "earlier than the contract";
  EXPECT_TRUE(queue_.state().ack.None());
  queue_.Tick({});
  ASSERT_FALSE(queue_.empty(1));
  EXPECT_EQ(queue_.state().ack, SmMask::Of(7));
  EXPECT_EQ(queue_.front(1).tb, TbId{42});
  EXPECT_EQ(queue_.front(1).buffer, 3);
  EXPECT_FALSE(queue_.front(1).restart);
  queue_.Tick({});
  EXPECT_TRUE(queue_.state().ack.None()) << "a pulse";
}

TEST_F(PreemptedQueueTest, EventsOfAllSmsAreKeptAndQueuedLowestFirst) {
  PreemptedQueue::Inputs in;
  for (unsigned sm = 0; sm < 4; ++sm) AddEvent(&in, 15 - sm, EventKind::kSaved, 0, sm, sm);
  queue_.Tick(in);
  for (unsigned i = 0; i < 4; ++i) {
    queue_.Tick({});
    EXPECT_EQ(queue_.state().ack, SmMask::Of(12 + i));
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(queue_.front(0).tb, static_cast<TbId>(3 - i));
    queue_.Tick(PopOf(0));
  }
  EXPECT_TRUE(queue_.empty(0));
}

TEST_F(PreemptedQueueTest, FirstInFirstOut) {
  for (unsigned tb = 0; tb < 3; ++tb) Event(tb, EventKind::kSaved, 1, 10 + tb, *Request(tb, 1));
  EXPECT_EQ(queue_.waiting(), 0b0010);
  for (unsigned tb = 0; tb < 3; ++tb) {
    EXPECT_EQ(queue_.front(1).tb, static_cast<TbId>(10 + tb));
    queue_.Tick(PopOf(1));
  }
  EXPECT_EQ(queue_.waiting(), 0);
}

TEST_F(PreemptedQueueTest, ASavedTbKeepsItsBufferUntilItIsLoaded) {
  const unsigned buffer = *Request(0, 1);
  Event(0, EventKind::kSaved, 1, 9, buffer);
  queue_.Tick(PopOf(1));
  EXPECT_EQ(queue_.buffers_free(1), 3u) << "its context is still being read";
  Event(4, EventKind::kBufferFree, 1, 9, buffer);
  EXPECT_EQ(queue_.buffers_free(1), 4u);
}

TEST_F(PreemptedQueueTest, AFlushedTbRestartsAndGivesItsBufferBackAtOnce) {
  const unsigned buffer = *Request(0, 1);
  Event(0, EventKind::kFlushed, 1, 9, buffer);
  EXPECT_TRUE(queue_.front(1).restart);
  queue_.Tick(PopOf(1));
  EXPECT_EQ(queue_.buffers_free(1), 4u);
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
      Sm& sm = sms_[i];
      if (sm.phase == Phase::kGranted) sm.phase = Phase::kHold;
      if (sm.phase == Phase::kIdle && oracle::Pick(&random_, 3) == 0) {
        sm = {Phase::kRequest, oracle::Pick(&random_, kMaxKernels), next_tb_++, 0,
              EventKind::kSaved};
        if (!loading_.empty() && oracle::Pick(&random_, 2) == 0) {
          sm.phase = Phase::kHold;
          sm.kind = EventKind::kBufferFree;
          std::tie(sm.kernel, sm.buffer) = loading_.front();
          loading_.pop_front();
        }
      } else if (sm.phase == Phase::kHold && oracle::Pick(&random_, 4) == 0) {
        const EventKind kinds[] = {EventKind::kSaved, EventKind::kFlushed, EventKind::kBufferFree};
        if (sm.kind != EventKind::kBufferFree) sm.kind = kinds[oracle::Pick(&random_, 3)];
        AddEvent(in, i, sm.kind, sm.kernel, sm.tb, sm.buffer);
        sm.phase = Phase::kReport;
      }
      // The TB finished while it waited: without this, all may wait for the buffers of TBs that
      // only they could load.
      if (sm.phase == Phase::kRequest && oracle::Pick(&random_, 50) == 0) sm.phase = Phase::kIdle;
      // As seen by the driver: the request falls two cycles after the grant.
      if (sm.phase == Phase::kRequest || queue_.state().grant.Test(i)) {
        in->request_mask.Set(i);
        in->request_kernel[i] = static_cast<KernelId>(sm.kernel);
      }
    }
    const unsigned k = oracle::Pick(&random_, kMaxKernels);
    if (!queue_.empty(k) && oracle::Pick(&random_, 2) == 0) *in = WithPop(*in, k);
  }
  PreemptedQueue::Inputs WithPop(PreemptedQueue::Inputs in, unsigned k) {
    in.pop_valid = true;
    in.pop_kernel = static_cast<KernelId>(k);
    const auto [tb, buffer, restart] = want_[k].front();
    EXPECT_EQ(queue_.front(k).tb, static_cast<TbId>(tb));
    EXPECT_EQ(queue_.front(k).buffer, buffer);
    EXPECT_EQ(queue_.front(k).restart, restart);
    want_[k].pop_front();
    if (restart) {
      used_[k].erase(buffer);
    } else {
      loading_.emplace_back(k, buffer);
    }
    return in;
  }
  void Observe() {
    for (unsigned i = 0; i < kSms; ++i) {
      Sm& sm = sms_[i];
      if (queue_.state().grant.Test(i)) {
        ASSERT_EQ(sm.phase, Phase::kRequest) << "granted to SM " << i << " without a request";
        sm.phase = Phase::kGranted;
        sm.buffer = queue_.state().grant_buffer;
        ASSERT_LT(sm.buffer, kDepth);
        ASSERT_TRUE(used_[sm.kernel].insert(sm.buffer).second) << "a buffer was given out twice";
      }
      if (!queue_.state().ack.Test(i)) continue;
      ASSERT_EQ(sm.phase, Phase::kReport);
      sm.phase = Phase::kIdle;
      if (sm.kind == EventKind::kBufferFree) {
        used_[sm.kernel].erase(sm.buffer);
      } else {
        want_[sm.kernel].push_back({sm.tb, sm.buffer, sm.kind == EventKind::kFlushed});
      }
    }
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      ASSERT_EQ(queue_.empty(k), want_[k].empty());
      ASSERT_EQ(queue_.state().queue[k].count, want_[k].size());
      ASSERT_EQ(queue_.buffers_free(k), kDepth - used_[k].size());
    }
  }

  std::mt19937 random_;
  PreemptedQueue queue_{{kSms, kDepth}};
  std::array<Sm, kSms> sms_{};
  unsigned next_tb_ = 0;
  struct Entry {
    unsigned tb, buffer;
    bool restart;
  };
  std::array<std::deque<Entry>, kMaxKernels> want_;
  std::array<std::set<unsigned>, kMaxKernels> used_;
  std::deque<std::pair<unsigned, unsigned>> loading_;  // kernel, buffer
};

TEST_F(PreemptedQueueRandom, LosesAndInventsNothingAndBuffersAreDisjoint) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  random_.seed(seed);
  for (int cycle = 0; cycle < 50000; ++cycle) {
    PreemptedQueue::Inputs in;
    Drive(&in);
    queue_.Tick(in);
    Observe();
    if (HasFatalFailure()) FAIL() << "cycle " << cycle;
  }
  EXPECT_GT(next_tb_, 1000u);
}

}  // namespace
}  // namespace smk
