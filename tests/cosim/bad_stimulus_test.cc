// SPDX-License-Identifier: Apache-2.0
// What nobody should do to the control logic has a defined outcome: refused with an error code,
// held back, or found by an assertion; never silent.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "cosim/seeded_plane.h"

namespace smk {
namespace {

constexpr unsigned kSms = 4;
const ResourceVector kLimits{32, 24, 8, 4};

PolicyConfig Policy(DispatchMode mode) {
  PolicyConfig policy;
  policy.dispatch = mode;
  policy.kernels_per_sm = 2;
  return policy;
}

// The machine around the control logic: TBs run for ever and memory takes lines as the test says.
class Machine {
 public:
  explicit Machine(DispatchMode mode) : plane_(Policy(mode)) { plane_.EnableDecisionLog(true); }

  void Step(const HostInputs& in = {}) {
    plane_.BeginCycle(now_, in, &host);
    for (unsigned sm = 0; sm < kSms; ++sm) StepSm(sm);
    plane_.EndCycle(now_++);
    decisions += plane_.TakeDecisions().size();
  }
  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Step();
  }
  LaunchError Launch(unsigned kernel, const ResourceVector& need, std::uint32_t tbs = 64) {
    HostInputs in;
    in.launch_valid = true;
    in.launch_kernel = static_cast<KernelId>(kernel);
    in.launch.need = need;
    in.launch.tb_count = tbs;
    in.launch.context_base = std::uint64_t{kernel + 1} << 30;
    Step(in);
    EXPECT_TRUE(host.launch_ready) << "a launch never waits";
    return host.launch_error;
  }

  HostOutputs host;
  std::array<SmOutputs, kSms> out{};
  std::array<std::uint32_t, kSms> finish{};  // pulses of the next cycle
  std::array<unsigned, kSms> grants{}, stored{}, owed{}, released{};
  bool memory_answers = true;
  std::uint64_t decisions = 0;

 private:
  void StepSm(unsigned sm) {
    SmInputs in;
    for (unsigned warp = 0; warp < kLimits.threads; ++warp) {
      if (running_[sm] >> owner_[sm][warp] & 1) {
        in.ready[warp % 2] |= static_cast<std::uint16_t>(1u << (warp / 2));
      }
    }
    in.tb_finished = finish[sm];
    finish[sm] = 0;
    in.tb_quiet = ~0u;
    if (memory_answers && owed[sm] != 0) {
      in.context_done = 1;
      --owed[sm];
    }
    SmOutputs& o = out[sm];
    plane_.StepSm(static_cast<SmId>(sm), in, &o);
    if (o.warp_start.valid) {
      owner_[sm][Index(o.warp_start.warp)] = static_cast<std::uint8_t>(Index(o.warp_start.tb_slot));
    }
    running_[sm] |= o.tb_activate;
    if (o.release_valid) running_[sm] &= ~(1u << Index(o.release_slot));
    released[sm] += o.release_valid ? 1 : 0;
    grants[sm] += static_cast<unsigned>(__builtin_popcount(o.grant_valid));
    owed[sm] += o.context.valid ? 1 : 0;
    stored[sm] += o.context.valid && o.context.store ? 1 : 0;
  }

  SeededPlane plane_;
  Cycle now_ = 0;
  std::array<std::array<std::uint8_t, 8>, kSms> owner_{};
  std::array<std::uint32_t, kSms> running_{};
};

// Assertions that fail in `run`, as the simulation prints them.
template <typename Run>
std::string FailuresOf(Run run) {
  testing::internal::CaptureStdout();
  try {
    run();
  } catch (const AssertionFired&) {
  }
  return testing::internal::GetCapturedStdout();
}

TEST(BadStimulus, LaunchWhoseTbExceedsTheSmIsRefused) {
  Machine machine(DispatchMode::kPartitioned);
  EXPECT_EQ(machine.Launch(0, {33, 0, 4, 1}), LaunchError::kTooLarge);
  EXPECT_EQ(machine.Launch(0, {8, 25, 4, 1}), LaunchError::kTooLarge);
  EXPECT_EQ(machine.Launch(0, {8, 0, 9, 1}), LaunchError::kTooLarge);
  EXPECT_EQ(machine.Launch(0, {65535, 65535, 65535, 1}), LaunchError::kTooLarge);
  EXPECT_EQ(machine.Launch(0, {8, 0, 0, 1}), LaunchError::kTooLarge) << "no warps at all";
  machine.Run(200);
  EXPECT_EQ(machine.decisions, 0u) << "a refused kernel is nobody's candidate";
  EXPECT_EQ(machine.Launch(0, {32, 24, 8, 1}), LaunchError::kNone) << "the whole SM";
  machine.Run(200);
  EXPECT_GT(machine.grants[0], 0u) << "a refusal leaves nothing behind";
}

TEST(BadStimulus, LaunchOfAnUnknownKernelIsRefused) {
  Machine machine(DispatchMode::kPartitioned);
  for (const unsigned kernel : {2u, 3u}) {
    EXPECT_EQ(machine.Launch(kernel, {8, 0, 4, 1}), LaunchError::kBadSlot) << kernel;
  }
  EXPECT_EQ(machine.Launch(0, {8, 0, 4, 1}, 0), LaunchError::kNoTbs);
  machine.Run(200);
  EXPECT_EQ(machine.decisions, 0u);
  EXPECT_EQ(machine.Launch(0, {8, 0, 4, 1}), LaunchError::kNone);
  EXPECT_EQ(machine.Launch(0, {8, 0, 4, 1}), LaunchError::kSlotBusy);
}

TEST(BadStimulus, FinishOfAnEmptySlotIsFound) {
  const std::string found = FailuresOf([] {
    Machine machine(DispatchMode::kPartitioned);
    machine.Run(5);
    machine.finish[1] = 4;
    machine.Run(5);
  });
  EXPECT_NE(found.find("u_tb_table.GoersRan_M"), std::string::npos) << found;
}

// The ports of an SM towards the driver, driven by the test.
struct FakeTables {
  std::uint64_t event_o = 0;
  bool command_credit_o = false;
  bool command_waits_o = false;
  bool buffer_request_o = false;
  bool buffer_withdraw_o = false;
  std::uint8_t buffer_kernel_o = 0;
};
struct FakeProfile {
  bool report_valid_o = false;
  std::uint32_t report_issued_o = 0;
};
struct FakeSample {
  bool valid_o = false;
  std::uint16_t issued_o = 0;
  std::uint16_t stalled_o = 0;
};

// The driver alone.
class Driver {
 public:
  Driver() : driver_(QuietContext(&context_), Policy(DispatchMode::kPartitioned)) {}

  void Step() {
    for (unsigned sm = 0; sm < kSms; ++sm) {
      driver_.Hear(sm, sms[sm], FakeProfile{}, FakeSample{});
    }
    driver_.Edge(true, true);
    HostOutputs host;
    driver_.Step({}, 0, &host, nullptr);
    for (FakeTables& sm : sms) sm.event_o = 0;
    if (context_.gotError()) throw AssertionFired{0};
  }
  void Send(unsigned sm, EventKind kind, unsigned kernel, unsigned buffer) {
    SmEvent event;
    event.valid = true;
    event.kind = kind;
    event.kernel = static_cast<KernelId>(kernel);
    event.buffer = static_cast<std::uint16_t>(buffer);
    Pack<SmEventFields<RtlSeeded::Package>>(event, &sms[sm].event_o);
  }
  // The SM that is given a buffer within so many cycles; kSms if none is.
  unsigned Granted(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) {
      Step();
      for (FakeTables& tables : sms) tables.buffer_request_o = false;  // a pulse
      const unsigned mask = driver_.model().buffer_valid_o;
      if (mask == 0) continue;
      const auto sm = static_cast<unsigned>(__builtin_ctz(mask));
      buffer = driver_.model().buffer_o;
      Step();  // as the SM sees it a cycle later
      return sm;
    }
    return kSms;
  }

  std::array<FakeTables, kSms> sms{};
  unsigned buffer = 0;

 private:
  VerilatedContext context_;
  RtlDriver<RtlSeeded> driver_;
};

TEST(BadStimulus, CompletionOfATbThatWasNotDispatchedIsFound) {
  const std::string found = FailuresOf([] {
    Driver driver;
    driver.Step();
    driver.Send(2, EventKind::kFinished, 1, 0);
    driver.Step();
    driver.Step();
  });
  EXPECT_NE(found.find("LeaverIsResident_M"), std::string::npos) << found;
}

TEST(BadStimulus, ARequestWaitsWhileThePreemptedQueueIsFull) {
  Driver driver;
  unsigned buffers = 0;
  for (unsigned i = 0; i < 8; ++i) {
    driver.sms[i % kSms].buffer_request_o = true;
    ASSERT_EQ(driver.Granted(10), i % kSms);
    buffers |= 1u << driver.buffer;
  }
  EXPECT_EQ(buffers, 0xffu) << "each buffer once";
  driver.sms[1].buffer_request_o = true;
  EXPECT_EQ(driver.Granted(2000), kSms) << "all are in use";
  driver.sms[2].buffer_request_o = true;
  driver.sms[2].buffer_kernel_o = 1;
  EXPECT_EQ(driver.Granted(10), 2u) << "another kernel's are not";
  driver.Send(3, EventKind::kBufferFree, 0, 6);
  EXPECT_EQ(driver.Granted(10), 1u) << "it has waited";
  EXPECT_EQ(driver.buffer, 6u);
}

TEST(BadStimulus, MemoryThatNeverAnswersHoldsBackOneTbOnly) {
  Machine machine(DispatchMode::kPartitioned);
  ASSERT_EQ(machine.Launch(0, {8, 0, 2, 1}), LaunchError::kNone);
  machine.Run(300);
  machine.memory_answers = false;
  ASSERT_EQ(machine.Launch(1, {8, 0, 2, 1}), LaunchError::kNone);
  machine.Run(2000);
  for (unsigned sm = 0; sm < kSms; ++sm) {
    ASSERT_GT(machine.stored[sm], 0u) << "SM " << sm << " saves a TB";
    EXPECT_EQ(machine.released[sm], 0u) << "its context is not stored";
    EXPECT_EQ(__builtin_popcount(machine.out[sm].tb_stop), 1) << "one TB is stopped";
  }
  const auto before = machine.grants;
  machine.Run(1000);
  for (unsigned sm = 0; sm < kSms; ++sm) {
    EXPECT_GE(machine.grants[sm] - before[sm], 1000u) << "the others of SM " << sm << " run on";
  }
  machine.memory_answers = true;
  machine.Run(2000);
  for (unsigned sm = 0; sm < kSms; ++sm) EXPECT_GT(machine.released[sm], 0u);
}

}  // namespace
}  // namespace smk
