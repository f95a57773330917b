// SPDX-License-Identifier: Apache-2.0
// Crossbar ports that serve in turn, beside theory: TurnSwitch and TurnQueues by themselves.
#include "memory/turn_switch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "memory/turn_queues.h"

namespace smk {
namespace {

// A switch whose queues are kept filled.
class Backlog {
 public:
  Backlog(unsigned inputs, unsigned outputs, unsigned stride = 1)
      : inputs_(inputs), switch_(inputs, outputs, stride) {}

  void Push(unsigned input, unsigned output, unsigned flits = 1, Cycle ready = 0) {
    switch_.Push(input,
                 {ready, 0, static_cast<std::uint16_t>(output), static_cast<std::uint16_t>(flits)});
  }
  // The inputs that pass in the next cycle.
  std::vector<unsigned> Step(unsigned closed = ~0u) {
    std::vector<unsigned> passed;
    switch_.Step(
        now_++, [closed](unsigned output) { return output != closed; },
        [&](unsigned input, const TurnSwitch::Packet&) { passed.push_back(input); });
    return passed;
  }
  // Packets per output and cycle, when each input always has one for an output drawn at random.
  double Share(unsigned cycles) {
    std::uint64_t random = 1, passed = 0;
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
      for (unsigned input = 0; input < inputs_; ++input) {
        if (switch_.waiting(input) != 0) continue;
        random = random * 6364136223846793005u + 1442695040888963407u;
        Push(input, static_cast<unsigned>(random >> 40) % inputs_, 1, now_);
      }
      passed += Step().size();
    }
    return static_cast<double>(passed) / cycles / inputs_;
  }
  const TurnSwitch& get() const { return switch_; }

 private:
  unsigned inputs_;
  TurnSwitch switch_;
  Cycle now_ = 0;
};

TEST(TurnSwitch, TwoInputsAlternate) {
  Backlog two(2, 1);
  for (unsigned i = 0; i < 8; ++i) two.Push(0, 0);
  for (unsigned i = 0; i < 8; ++i) two.Push(1, 0);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(two.Step(), std::vector<unsigned>{i % 2}) << "cycle " << i;
  }
  EXPECT_TRUE(two.Step().empty());
  EXPECT_EQ(two.get().next(), TurnSwitch::kNoWork);
}

// Each of sixteen gets every sixteenth cycle, whatever the others' queues hold; one that comes
// later waits for at most the fifteen others.
TEST(TurnSwitch, SixteenInputsAreServedInTurn) {
  Backlog all(16, 1);
  for (unsigned input = 0; input < 16; ++input) {
    for (unsigned i = 0; i < 4 + input % 3; ++i) all.Push(input, 0);
  }
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(all.Step(), std::vector<unsigned>{i % 16});
  for (unsigned newcomer = 0; newcomer < 16; ++newcomer) {
    Backlog rest(16, 1);
    for (unsigned input = 0; input < 16; ++input) {
      for (unsigned i = 0; input != newcomer && i < 40; ++i) rest.Push(input, 0);
    }
    for (unsigned i = 0; i < 50; ++i) rest.Step();
    rest.Push(newcomer, 0);
    unsigned waited = 0;
    while (rest.Step() != std::vector<unsigned>{newcomer}) ++waited;
    EXPECT_LE(waited, 15u);
  }
}

TEST(TurnSwitch, TheHeadHoldsBackThoseBehindIt) {
  Backlog two(2, 2);
  two.Push(0, 0);
  two.Push(1, 0);
  two.Push(1, 1);
  EXPECT_EQ(two.Step(), std::vector<unsigned>{0}) << "output 1 is free, but not asked for";
  EXPECT_EQ(two.Step(), std::vector<unsigned>{1});
  EXPECT_EQ(two.Step(), std::vector<unsigned>{1});
}

// One packet from an input per cycle: the next head asks in the next.
TEST(TurnSwitch, AnInputSendsOnePerCycle) {
  Backlog one(1, 4);
  for (unsigned output = 0; output < 4; ++output) one.Push(0, output);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(one.Step().size(), 1u);
}

// With a stride of 2 the even inputs have their turns first, and the odd ones when those are done.
TEST(TurnSwitch, AStrideOfTwoPassesOverEverySecondInput) {
  Backlog six(6, 1, 2);
  for (unsigned input = 0; input < 6; ++input) {
    for (unsigned i = 0; i < 2; ++i) six.Push(input, 0);
  }
  for (const unsigned input : {0, 2, 4, 0, 2, 4, 1, 3, 5, 1, 3, 5}) {
    EXPECT_EQ(six.Step(), std::vector<unsigned>{input});
  }
  EXPECT_TRUE(six.Step().empty());
  EXPECT_EQ(six.get().next(), TurnSwitch::kNoWork);
}

TEST(TurnSwitch, APacketOfFlitsKeepsBothPorts) {
  Backlog two(2, 2);
  two.Push(0, 0, 3);
  two.Push(0, 1);
  two.Push(1, 0);
  EXPECT_EQ(two.Step(), std::vector<unsigned>{0});
  EXPECT_TRUE(two.Step().empty());
  EXPECT_TRUE(two.Step().empty());
  EXPECT_EQ(two.Step(), (std::vector<unsigned>{1, 0})) << "in the order of the outputs";
}

TEST(TurnSwitch, AClosedOutputTakesNone) {
  Backlog two(2, 2);
  two.Push(0, 0);
  two.Push(1, 1);
  EXPECT_EQ(two.Step(0), std::vector<unsigned>{1});
  EXPECT_EQ(two.Step(), std::vector<unsigned>{0});
}

TEST(TurnSwitch, WaitsUntilAPacketIsReady) {
  Backlog one(1, 1);
  one.Push(0, 0, 1, 5);
  EXPECT_EQ(one.get().next(), 5u);
  for (unsigned i = 0; i < 5; ++i) EXPECT_TRUE(one.Step().empty());
  EXPECT_EQ(one.Step().size(), 1u);
}

// Saturated input queues (Karol, Hluchyj and Morgan, IEEE Trans. Comm. 1987, Table I): 0.75 with
// two ports, 0.6553 with four, 0.6184 with eight, 0.5858 with very many. No share is above 1.
TEST(TurnSwitch, RandomTrafficLosesWhatTheoryHasItLose) {
  EXPECT_NEAR(Backlog(2, 2).Share(20000), 0.75, 0.015);
  EXPECT_NEAR(Backlog(4, 4).Share(20000), 0.6553, 0.015);
  EXPECT_NEAR(Backlog(8, 8).Share(20000), 0.6184, 0.015);
  const double sixteen = Backlog(16, 16).Share(20000);
  EXPECT_GT(sixteen, 0.5858);
  EXPECT_LT(sixteen, 0.6184);
  EXPECT_NEAR(Backlog(16, 16, 2).Share(20000), sixteen, 0.015) << "whose turn it is costs nothing";
}

constexpr Cycle kSwitchLatency = 8;
constexpr Cycle kService = 120;

// What passes through both directions: an SM's packets for one slice.
struct Loop {
  TurnQueues queues{1, 1, kSwitchLatency};
  unsigned asked = 0, served = 0, answered = 0, most = 0;
  Cycle last = 0;

  void Ask(Cycle now, unsigned reply_flits) {
    TurnPacket packet;
    packet.reply_flits = static_cast<std::uint16_t>(reply_flits);
    queues.Ask(packet, 1, now);
    ++asked;
  }
  void Step(Cycle now) {
    queues.Step(
        now,
        [this](const TurnPacket&, Cycle arrival) {
          ++served;
          return arrival + kService;
        },
        [this](const TurnPacket&, Cycle done) {
          ++answered;
          last = done;
        });
    most = std::max(most, served - answered);
  }
};

TEST(TurnQueues, ARequestAloneTakesTheSumOfItsParts) {
  Loop loop;
  loop.Ask(100, 1);
  Cycle now = 100;
  while (loop.answered == 0) loop.Step(now++);
  EXPECT_EQ(loop.last, 100 + (1 + kSwitchLatency) + kService + (1 + kSwitchLatency));
  loop.Step(now);
  EXPECT_EQ(loop.queues.next(), TurnSwitch::kNoWork);
}

TEST(TurnQueues, OneWithoutReplyEndsAtItsSlice) {
  Loop loop;
  loop.Ask(100, 0);
  loop.Step(100);
  EXPECT_EQ(loop.last, 100 + (1 + kSwitchLatency) + kService);
}

// Stepping only when next() says so gives what stepping in each cycle does.
TEST(TurnQueues, NothingHappensBeforeNext) {
  Loop each, some;
  unsigned steps = 0;
  for (Cycle now = 0; now < 5200; ++now) {
    if (now % 700 == 0) {
      for (unsigned i = 0; i < 5; ++i) {
        each.Ask(now, 2);
        some.Ask(now, 2);
      }
    }
    each.Step(now);
    if (some.queues.next() <= now) {
      some.Step(now);
      ++steps;
    }
    ASSERT_EQ(each.last, some.last);
    ASSERT_EQ(each.answered, some.answered);
  }
  EXPECT_EQ(each.answered, each.asked);
  EXPECT_LT(steps, 300u) << "it sleeps";
}

// Replies of four flits to one SM: the slice's queue fills, then the SM's, then the SM must wait.
TEST(TurnQueues, FullQueuesHoldBackTheSm) {
  Loop loop;
  constexpr Cycle kCycles = 8000;
  bool full = false;
  for (Cycle now = 0; now < kCycles; ++now) {
    if (!loop.queues.Full(SmId{0})) {
      loop.Ask(now, 4);
    } else {
      full = true;
    }
    loop.Step(now);
  }
  EXPECT_TRUE(full);
  EXPECT_NEAR(loop.answered, kCycles / 4.0, 40) << "as many as the port of the SM carries";
  EXPECT_LE(loop.most, TurnQueues::kQueue + TurnQueues::kInSlice) << "no more at the slice";
  EXPECT_LE(loop.asked - loop.served, TurnQueues::kQueue) << "no more at the SM";
}

}  // namespace
}  // namespace smk
