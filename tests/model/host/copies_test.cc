// SPDX-License-Identifier: Apache-2.0
// Copies between host and GPU: when a job is ready, when it has ended, what overlaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "host/in_order.h"
#include "model/micro.h"

namespace smk {
namespace {

using testing::HasSubstr;

constexpr Cycle kLatency = 100;

// At 1 GHz and 1 GB/s a byte takes a cycle.
class Copies : public testing::Test {
 protected:
  Copies() {
    run.repeat = false;
    run.request.until = RunUntil::kDone;
    run.request.cycles = 1'000'000;
    run.request.machine.core_clock_mhz = 1000;
    run.request.machine.host.copy_bandwidth = 1;
    run.request.machine.host.copy_latency = kLatency;
    run.request.machine.host.memory = 1;
  }
  // A kernel of about `loads` times the latency of memory.
  static MicroKernel Kernel(const std::string& name, unsigned loads) {
    MicroKernel kernel;
    kernel.name = name;
    kernel.Loop(loads);
    kernel.Load(1, {1}, MicroKernel::kNewLine);
    kernel.End();
    return kernel;
  }
  MicroRun run;
};

TEST_F(Copies, OneJobByHand) {
  run.copies = {{1000, 500}};
  const RunResult result = run.Run({Kernel("a", 10)});
  const JobStats& job = result.jobs[0];
  EXPECT_EQ(job.arrival, 0u);
  EXPECT_EQ(job.ready, kLatency + 1000);
  EXPECT_GE(job.start, job.ready);
  EXPECT_EQ(job.finish, result.cycles - 1) << "the run ends with the last copy";
  EXPECT_EQ(job.end, job.finish);
  EXPECT_GT(job.finish, job.start + kLatency + 500);
  EXPECT_EQ(result.copies.copies, 2u);
  EXPECT_EQ(result.copies.in_bytes, 1000u);
  EXPECT_EQ(result.copies.out_bytes, 500u);
  EXPECT_EQ(result.copies.in_cycles, kLatency + 1000);
  EXPECT_EQ(result.copies.out_cycles, kLatency + 500);
  EXPECT_EQ(result.copies.overlapped_cycles, 0u);
  EXPECT_FALSE(result.cut_short);
  EXPECT_TRUE(result.copy_records.empty()) << "nothing is recorded";
}

TEST_F(Copies, AreRecordedWhenTheRunIs) {
  run.request.record_tbs = true;
  run.copies = {{1000, 500}, {0, 300}};
  run.arrivals = {0, 0};
  const RunResult result = run.Run({Kernel("a", 10), Kernel("b", 10)}, nullptr, MakeSequential());
  ASSERT_EQ(result.copy_records.size(), 3u) << "one of no bytes is none";
  const CopyRecord& in = result.copy_records[0];
  EXPECT_EQ(in.job, JobId{0});
  EXPECT_FALSE(in.out);
  EXPECT_EQ(in.bytes, 1000u);
  EXPECT_EQ(in.start, 0u);
  EXPECT_EQ(in.end, result.jobs[0].ready);
  for (unsigned i = 1; i < 3; ++i) {
    const CopyRecord& out = result.copy_records[i];
    EXPECT_TRUE(out.out);
    EXPECT_EQ(out.end - out.start, kLatency + out.bytes);
    EXPECT_EQ(out.end, result.jobs[Index(out.job)].finish);
  }
}

TEST_F(Copies, WithoutBytesTakeNoTime) {
  const RunResult none = run.Run({Kernel("a", 10)});
  EXPECT_EQ(none.jobs[0].ready, 0u);
  EXPECT_EQ(none.copies.copies, 0u);
  run.copies = {{0, 300}};
  const RunResult out = run.Run({Kernel("a", 10)});
  EXPECT_EQ(out.jobs[0].start, none.jobs[0].start);
  EXPECT_EQ(out.copies.copies, 1u);
  EXPECT_EQ(out.copies.in_cycles, 0u);
  // The copy begins in the cycle after the end is seen.
  EXPECT_EQ(out.jobs[0].finish, none.jobs[0].finish + 1 + kLatency + 300);
}

// The second input comes while the first kernel runs, and both engines work at a time.
TEST_F(Copies, OverlapWithKernelsAndEachOther) {
  run.copies = {{1000, 1000}, {1000, 0}};
  run.arrivals = {0, 0};
  const RunResult result = run.Run({Kernel("a", 40), Kernel("b", 10)}, nullptr, MakeSequential());
  EXPECT_EQ(result.jobs[0].ready, kLatency + 1000);
  EXPECT_EQ(result.jobs[1].ready, 2 * (kLatency + 1000)) << "one copy at a time in a direction";
  EXPECT_LT(result.jobs[0].start, result.jobs[1].ready);
  EXPECT_GT(result.copies.overlapped_cycles, 1000u);
  EXPECT_LE(result.copies.overlapped_cycles, result.copies.in_cycles + result.copies.out_cycles);
}

TEST_F(Copies, WithoutOverlapTheyWaitForKernelsAndTheReverse) {
  run.request.overlap_copies = false;
  run.copies = {{1000, 1000}, {1000, 700}, {0, 0}};
  run.arrivals = {0, 0, 0};
  const RunResult result =
      run.Run({Kernel("a", 40), Kernel("b", 10), Kernel("c", 10)}, nullptr, MakeInOrder());
  EXPECT_EQ(result.copies.overlapped_cycles, 0u);
  EXPECT_EQ(result.copies.copies, 4u);
  for (const JobStats& job : result.jobs) {
    EXPECT_GE(job.start, 2 * (kLatency + 1000)) << "inputs that can be copied go first";
    EXPECT_NE(job.finish, kNever);
  }
}

// 1 MB holds one of the jobs: the second waits until the first has taken its output away.
TEST_F(Copies, WaitForMemory) {
  run.copies = {{600'000, 100}, {600'000, 0}};
  run.request.cycles = 3'000'000;
  const RunResult result = run.Run({Kernel("a", 10), Kernel("b", 10)});
  EXPECT_EQ(result.jobs[0].ready, kLatency + 600'000);
  EXPECT_EQ(result.jobs[1].ready, result.jobs[0].finish + kLatency + 600'000);
}

TEST_F(Copies, GoInTheOrderOfArrival) {
  run.copies = {{1000, 0}, {10, 0}, {10, 0}};
  run.arrivals = {20, 30, 10};
  const RunResult result = run.Run({Kernel("a", 2), Kernel("b", 2), Kernel("c", 2)});
  EXPECT_EQ(result.jobs[2].ready, 10 + kLatency + 10);
  EXPECT_EQ(result.jobs[0].ready, result.jobs[2].ready + kLatency + 1000);
  EXPECT_EQ(result.jobs[1].ready, result.jobs[0].ready + kLatency + 10);
}

TEST_F(Copies, RefusesWhatCannotBe) {
  const auto refused = [&] {
    try {
      run.Run({Kernel("a", 2)});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  run.copies = {{1 << 20, 0}};
  EXPECT_EQ(refused(), "accepted");
  run.copies = {{1 << 20, 1}};
  EXPECT_THAT(refused(), HasSubstr("at most the 1 MB of the GPU's memory"));
  run.copies = {{0, ~std::uint64_t{0}}};
  EXPECT_THAT(refused(), HasSubstr("at most the 1 MB"));
  run.copies = {{8, 8}};
  run.repeat = true;
  EXPECT_THAT(refused(), HasSubstr("executed again"));
  run.repeat = false;
  run.request.until = RunUntil::kWork;
  EXPECT_THAT(refused(), HasSubstr("until equal work"));
}

}  // namespace
}  // namespace smk
