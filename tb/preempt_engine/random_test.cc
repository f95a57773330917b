// SPDX-License-Identifier: Apache-2.0
// The preemption engine among random TBs, line by line.
#include <gtest/gtest.h>

#include <random>

#include "preempt_engine/bench.h"

namespace smk {
namespace {

using Bench = PreemptEngineBench;
using Step = PreemptEngine::Step;
constexpr unsigned kLines = Bench::kLines;

// Random TBs leave and come under random back-pressure; what goes to memory is followed line by
// line.
class RandomEngine {
 public:
  explicit RandomEngine(unsigned seed) : random_(seed) { bench_.wires.running = 0xffff; }

  void Cycle() {
    auto& in = bench_.wires;
    if (!bench_.engine.busy() && Chance(4)) Command();
    in.quiet = static_cast<std::uint32_t>(random_());
    in.context_ready = Chance(2);
    in.context_done = 0;
    while (in_flight_ != 0 && in.context_done < 200 && Chance(2)) {
      ++in.context_done;
      --in_flight_;
    }
    const bool saving = bench_.step() == Step::kTransfer || bench_.step() == Step::kWait;
    if (Chance(30) && !saving) in.finished = in.running & static_cast<std::uint32_t>(random_());
    finished_ |= in.finished;
    in.buffer_valid = bench_.step() == Step::kBuffer && Chance(5);
    in.buffer_none = bench_.step() == Step::kWithdraw && Chance(5);
    in.buffer = static_cast<std::uint16_t>(random_() % 512);
    if (in.buffer_valid) buffer_ = in.buffer;
    bench_.take_events = Chance(3);
    in.event_ack = bench_.step() == Step::kAck && Chance(3);
    const PreemptEngine::Inputs driven = in;
    Check(driven, bench_.Step());
  }
  unsigned saved() const { return saved_; }
  unsigned loaded() const { return loaded_; }
  unsigned returned() const { return returned_; }

 private:
  bool Chance(unsigned n) { return random_() % n == 0; }

  void Command() {
    ASSERT_EQ(left_, 0u) << "a TB that had to leave was forgotten";
    auto& in = bench_.wires;
    in.running |= finished_;  // other TBs have come
    finished_ = 0;
    for (unsigned slot = 0; slot < 16; ++slot) {
      if (Chance(4)) left_ |= 1u << slot;
    }
    left_ &= in.running;
    in.leave = left_;
    in.load = 0xffff & ~in.running;
    to_load_ = in.load;
  }

  void Check(const PreemptEngine::Inputs& in, const PreemptEngine::Outputs& out) {
    left_ &= ~in.finished;
    if (out.context.valid) CheckLine(in, out.context);
    if (out.release_valid) {
      const std::uint32_t bit = 1u << Index(out.release_slot);
      ASSERT_TRUE(left_ & bit);
      ASSERT_EQ(line_, kLines);
      ASSERT_EQ(in_flight_, 0u);
      left_ &= ~bit;
      to_load_ |= bit;
      line_ = 0;
      ++saved_;
      expected_ = EventKind::kSaved;
    }
    if (out.loaded_valid) {
      const std::uint32_t bit = 1u << Index(out.loaded_slot);
      ASSERT_TRUE(to_load_ & bit);
      ASSERT_EQ(line_, kLines);
      ASSERT_EQ(in_flight_, 0u);
      to_load_ &= ~bit;
      line_ = 0;
      ++loaded_;
      buffer_ = bench_.slot_buffer[Index(out.loaded_slot)];
    }
    if (out.event_valid && bench_.wires.event_sent) {
      ASSERT_EQ(out.event.kind, expected_);
      ASSERT_EQ(out.event.buffer, buffer_);
      returned_ += out.event.kind == EventKind::kBufferFree ? 1 : 0;
      expected_ = EventKind::kBufferFree;
    }
  }

  void CheckLine(const PreemptEngine::Inputs& in, const ContextRequest& request) {
    const unsigned slot = Index(request.tb_slot);
    ASSERT_EQ(request.line, line_);
    ASSERT_EQ(request.store, (left_ >> slot & 1) != 0 && (in.running >> slot & 1) != 0);
    const unsigned buffer = request.store ? buffer_ : bench_.slot_buffer[slot];
    ASSERT_EQ(request.address, Bench::kBase + buffer * 4096u + line_ * 128u);
    if (!in.context_ready) return;
    ++line_;
    ++in_flight_;
  }

  Bench bench_;
  std::mt19937 random_;
  std::uint32_t left_ = 0, to_load_ = 0, finished_ = 0;
  unsigned line_ = 0, in_flight_ = 0, buffer_ = 0;
  unsigned saved_ = 0, loaded_ = 0, returned_ = 0;
  EventKind expected_ = EventKind::kBufferFree;
};

TEST(PreemptEngineTest, MovesEveryLineOnceUnderRandomBackPressure) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomEngine engine(seed);
  for (int i = 0; i < 300000; ++i) ASSERT_NO_FATAL_FAILURE(engine.Cycle()) << "cycle " << i;
  EXPECT_GT(engine.saved(), 200u);
  EXPECT_GT(engine.loaded(), 200u);
  EXPECT_GT(engine.returned(), engine.loaded()) << "some TBs finished before they could leave";
}

}  // namespace
}  // namespace smk
