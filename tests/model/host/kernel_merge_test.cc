// SPDX-License-Identifier: Apache-2.0
// KernelMerge: what the groups of a merged launch take, and what they execute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "control/reference_control.h"
#include "host/kernel_merge/merge.h"
#include "host/kernel_merge/scheduler.h"
#include "machine/merged_launch.h"
#include "model/micro.h"
#include "test_options.h"

namespace smk {
namespace {

using testing::HasSubstr;

MergedLaunch Queue(std::uint32_t a, std::uint32_t b, MergeSplit split = {}) {
  std::vector<MergedLaunch::Member> members(2);
  members[0].tb_count = a;
  members[1].tb_count = b;
  members[1].slot = KernelId{1};
  return MergedLaunch(std::move(members), split);
}

// "a0 b0": what groups take that ask in this order, four on each SM.
std::string Taken(MergedLaunch* queue, const std::vector<unsigned>& groups) {
  std::string text;
  for (const unsigned group : groups) {
    const auto item = queue->Take(TbId{group}, SmId{static_cast<std::uint8_t>(group / 4)});
    text += item ? std::string(1, static_cast<char>('a' + item->member)) +
                       std::to_string(Index(item->tb)) + ' '
                 : "- ";
  }
  return text;
}

// [KernelMerge] Fig. 3a: alternating places, and the extra ones of the longer kernel at the end.
TEST(MergedQueue, AlternatesAndHasTheRestAtTheEnd) {
  MergedLaunch longer_second = Queue(2, 4);
  EXPECT_EQ(Taken(&longer_second, {0, 1, 2, 3, 0, 1, 2}), "a0 b0 a1 b1 b2 b3 - ");
  MergedLaunch longer_first = Queue(4, 1);
  EXPECT_EQ(Taken(&longer_first, {0, 0, 0, 0, 0, 0}), "a0 b0 a1 a2 a3 - ");
}

// Fig. 3b: with four groups, a quarter takes of one kernel only, whoever is free.
TEST(MergedQueue, PartitionsAreConstant) {
  MergedLaunch queue = Queue(3, 5, {1, 0});
  EXPECT_EQ(Taken(&queue, {0, 1, 2, 3, 0, 3, 0, 0, 1, 1}), "a0 b0 b1 b2 a1 b3 a2 - b4 - ");
}

// Sec. 2.5: a scheduler that sees the SM's number can give kernels whole SMs.
TEST(MergedQueue, PartitionsCanBeSms) {
  MergedLaunch queue = Queue(3, 5, {0, 1});
  EXPECT_EQ(Taken(&queue, {4, 0, 1, 8, 3, 2, 4, 5, 4, 4}), "b0 a0 a1 b1 a2 - b2 b3 b4 - ");
}

TEST(MergedQueue, IsCompleteWhenEveryTbIs) {
  MergedLaunch queue = Queue(1, 2);
  queue.Complete(0);
  queue.Complete(1);
  EXPECT_FALSE(queue.complete());
  queue.Complete(1);
  EXPECT_TRUE(queue.complete());
}

// Two SMs and kernels that are counted, compute or wait for memory.
class KernelMergeHost : public testing::Test {
 protected:
  KernelMergeHost() {
    run.repeat = false;
    run.request.machine.sms = 2;
    run.request.machine.host.merge_spoof = 10;
    run.request.until = RunUntil::kDone;
    run.request.cycles = 3'000'000;
    run.request.record_tbs = true;
  }
  static MicroKernel Kernel(const std::string& name, unsigned tbs, unsigned threads = 256,
                            unsigned loads = 1) {
    MicroKernel kernel;
    kernel.name = name;
    kernel.threads = threads;
    kernel.tbs = tbs;
    kernel.registers = 32;
    for (unsigned i = 0; i < loads; ++i) kernel.Load(1, {1}, MicroKernel::kNewLine);
    for (unsigned i = 0; i < 20; ++i) kernel.Op(OpClass::kAlu, 2, {2});
    return kernel;
  }
  static MicroKernel WithBarrier(MicroKernel kernel) {
    kernel.Op(OpClass::kBarrier);
    return kernel;
  }
  RunResult Run(const std::vector<MicroKernel>& kernels, MergeSplit split = {}) {
    PolicyConfig policy;
    policy.dispatch = DispatchMode::kLeftover;
    run.request.policy = policy;
    const auto control = MakeReferenceControl(run.Control(), policy);
    RunResult result =
        run.Run(kernels, control.get(), MakeKernelMerge({run.request.machine, split}));
    EXPECT_FALSE(result.cut_short);
    return result;
  }
  std::string Refusal(const std::vector<MicroKernel>& kernels, MergeSplit split = {}) {
    try {
      Run(kernels, split);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  unsigned Groups(const MicroKernel& a, const MicroKernel& b) const {
    return MergedKernel(a.Build()->kernels[0], &b.Build()->kernels[0], run.request.machine)
        .tb_count();
  }
  static void ExpectEachTbOnce(const RunResult& result, const std::vector<MicroKernel>& kernels) {
    std::map<std::pair<unsigned, unsigned>, unsigned> completed;
    for (const TbRecord& tb : result.tbs) {
      EXPECT_EQ(tb.outcome, 'C');
      ++completed[{Index(tb.job), Index(tb.tb)}];
    }
    std::size_t all = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      all += kernels[i].tbs;
      EXPECT_EQ(result.kernels[i].tbs_completed, kernels[i].tbs);
      for (unsigned tb = 0; tb < kernels[i].tbs; ++tb) {
        EXPECT_EQ((completed[{static_cast<unsigned>(i), tb}]), 1u) << i << ' ' << tb;
      }
    }
    EXPECT_EQ(completed.size(), all);
  }
  // TBs of a job on the GPU in a cycle, all SMs.
  static unsigned TbsAt(const RunResult& result, unsigned job, Cycle cycle) {
    return static_cast<unsigned>(
        std::count_if(result.tbs.begin(), result.tbs.end(), [&](const TbRecord& tb) {
          return Index(tb.job) == job && tb.start <= cycle && cycle < tb.end;
        }));
  }

  MicroRun run;
};

TEST_F(KernelMergeHost, AGroupNeedsTheMostOfBoth) {
  MicroKernel a = Kernel("a", 1, 512), b = Kernel("b", 1, 128);
  a.registers = 16;
  b.registers = 40;
  b.shared_memory = 3000;
  const KernelSpec merged =
      MergedKernel(a.Build()->kernels[0], &b.Build()->kernels[0], run.request.machine);
  EXPECT_EQ(merged.threads, 512u);
  EXPECT_EQ(merged.need, TbNeed(512, 40, 3000));
  EXPECT_EQ(merged.tb_count(), 2 * MaxTbs(merged.need, run.request.machine.sm.limits));
  EXPECT_EQ(merged.tb_count(), SchedulerGroups(merged, run.request.machine));
  run.request.machine.host.merge_registers = 44;
  EXPECT_EQ(MergedKernel(a.Build()->kernels[0], nullptr, run.request.machine).need,
            TbNeed(512, 44, 0));
}

TEST_F(KernelMergeHost, ExecutesBothInOneLaunch) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 50), Kernel("b", 31)};
  const RunResult result = Run(kernels);
  ExpectEachTbOnce(result, kernels);
  ASSERT_EQ(result.launches.size(), 2u);
  EXPECT_EQ(result.launches[0].start, result.launches[1].start);
  EXPECT_EQ(result.launches[0].end, result.launches[1].end);
  EXPECT_EQ(result.jobs[0].finish, result.jobs[1].finish);
}

// Sec. 2.2: "at the beginning half the scheduler workgroups are running one kernel".
TEST_F(KernelMergeHost, BeginsHalfAndHalf) {
  run.sm().l1.mshrs = 256;  // no group's first atomic waits for loads of others
  const std::vector<MicroKernel> kernels = {Kernel("a", 60, 256, 8), Kernel("b", 60, 256, 8)};
  const unsigned groups = Groups(kernels[0], kernels[1]);
  const RunResult result = Run(kernels);
  Cycle last = 0;  // of the first TB of every group
  std::map<std::pair<unsigned, unsigned>, Cycle> first;
  for (const TbRecord& tb : result.tbs) {
    Cycle& start = first.emplace(std::pair(Index(tb.sm), Index(tb.slot)), tb.start).first->second;
    start = std::min(start, tb.start);
  }
  ASSERT_EQ(first.size(), groups);
  for (const auto& group : first) last = std::max(last, group.second);
  EXPECT_EQ(TbsAt(result, 0, last), groups / 2);
  EXPECT_EQ(TbsAt(result, 1, last), groups / 2);
}

// Sec. 2.2: "only reassigned work from one kernel".
TEST_F(KernelMergeHost, APartitionStaysAsItIs) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 40, 256, 1), Kernel("b", 40, 256, 6)};
  const unsigned groups = Groups(kernels[0], kernels[1]);
  for (const std::uint32_t first : {1u, 5u, groups - 1}) {
    const RunResult result = Run(kernels, {first, 0});
    ExpectEachTbOnce(result, kernels);
    std::array<std::set<std::pair<unsigned, unsigned>>, 2> places;  // of groups, by job
    for (const TbRecord& tb : result.tbs) {
      places[Index(tb.job)].emplace(Index(tb.sm), Index(tb.slot));
      EXPECT_LE(TbsAt(result, 0, tb.start), first);
      EXPECT_LE(TbsAt(result, 1, tb.start), groups - first);
    }
    EXPECT_EQ(places[0].size(), std::min<std::size_t>(first, 40));
    EXPECT_EQ(places[1].size(), std::min<std::size_t>(groups - first, 40));
    for (const auto& place : places[0]) EXPECT_EQ(places[1].count(place), 0u);
  }
}

// What a job executes is the same as alone, and its own; the scheduler's code comes on top.
TEST_F(KernelMergeHost, CountsInstructionsByJob) {
  const MicroKernel a = Kernel("a", 20), b = Kernel("b", 30, 64);
  const RunResult alone = Run({a});
  run.request.machine.host.merge_spoof = 0;
  const RunResult result = Run({a, b});
  const std::uint64_t body = 20 * 8 * 22, other = 30 * 2 * 22;  // TBs x warps x instructions
  EXPECT_EQ(alone.kernels[0].tbs_completed, 20u);
  EXPECT_GE(result.kernels[0].warp_instructions, body);
  EXPECT_GE(result.kernels[1].warp_instructions, other);
  const unsigned groups = Groups(a, b), rounds = 50 + groups;
  // Each warp: barrier, load_shared, exit; the first also atomic and store_shared.
  EXPECT_EQ(result.warp_instructions, body + other + rounds * (8 * 3 + 2));
}

// Instructions of a group always go from place to place; those of a launch by itself may pass.
TEST_F(KernelMergeHost, ExecutesTheSameThroughOperandCollectors) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 20), Kernel("b", 30, 64), Kernel("c", 9)};
  const RunResult without = Run(kernels);
  run.request.machine.sm.collectors = 2;
  const RunResult result = Run(kernels);
  ExpectEachTbOnce(result, kernels);
  EXPECT_EQ(result.warp_instructions, without.warp_instructions);
  EXPECT_NE(result.cycles, without.cycles);
  run.request.passing = false;
  const RunResult waiting = Run(kernels);
  EXPECT_EQ(waiting.cycles, result.cycles);
  for (unsigned i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(waiting.kernels[i].warp_instructions, result.kernels[i].warp_instructions) << i;
    EXPECT_EQ(waiting.kernels[i].stalls, result.kernels[i].stalls) << i;
  }
}

// The queue is one line in memory: every round of a group is an atomic there.
TEST_F(KernelMergeHost, EveryTakeIsAnAtomicOnOneLine) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 33), Kernel("b", 12)};
  Run(kernels);
  std::map<std::uint64_t, unsigned> atomics;
  for (const FixedMemory::Call& call : run.memory.calls) {
    if (call.access == MemoryAccess::kAtomic) ++atomics[call.address];
  }
  ASSERT_EQ(atomics.size(), 1u);
  EXPECT_EQ(atomics.begin()->second, 33 + 12 + Groups(kernels[0], kernels[1]));
}

// A queue in hardware needs no memory, and gives the same TBs.
TEST_F(KernelMergeHost, AQueueInHardwareCostsNoMemory) {
  run.request.machine.host.merge_spoof = 0;
  const std::vector<MicroKernel> kernels = {Kernel("a", 33), Kernel("b", 12, 64)};
  const Cycle in_memory = Run(kernels).jobs[0].finish;
  const std::size_t before = run.memory.calls.size();
  run.request.machine.host.merge_queue = "hardware";
  const RunResult result = Run(kernels);
  ExpectEachTbOnce(result, kernels);
  for (std::size_t i = before; i < run.memory.calls.size(); ++i) {
    EXPECT_NE(run.memory.calls[i].access, MemoryAccess::kAtomic);
  }
  EXPECT_LT(result.jobs[0].finish, in_memory);
  // Each warp: barrier and exit, in every round of a group.
  const std::uint64_t bodies = 33 * 8 * 22 + 12 * 2 * 22;
  const unsigned rounds = 33 + 12 + Groups(kernels[0], kernels[1]);
  EXPECT_EQ(result.warp_instructions, bodies + rounds * 8 * 2);
  // Its latency is seen.
  run.request.machine.host.merge_queue_latency = 500;
  EXPECT_GT(Run(kernels).jobs[0].finish, result.jobs[0].finish + 500);
}

// As smk_work_queue: a request per cycle, an answer to each.
TEST(MergedQueue, InHardwareAnswersOneGroupPerCycle) {
  MergedLaunch memory({}, {}), hardware({}, {}, 3);
  EXPECT_EQ(memory.Answered(10), 10u);
  EXPECT_EQ(memory.Answered(10), 10u);
  EXPECT_EQ(hardware.Answered(10), 13u);
  EXPECT_EQ(hardware.Answered(10), 14u);
  EXPECT_EQ(hardware.Answered(11), 15u);
  EXPECT_EQ(hardware.Answered(40), 43u);
}

// A group holds what the larger kernel needs also while it executes the smaller one.
TEST_F(KernelMergeHost, HoldsTheMostOfBothAllTheTime) {
  MicroKernel large = Kernel("large", 4, 256), small = Kernel("small", 400, 64);
  large.shared_memory = 40000;  // two groups on an SM
  const RunResult result = Run({large, small});
  ExpectEachTbOnce(result, {large, small});
  for (const TbRecord& tb : result.tbs) {
    EXPECT_LE(TbsAt(result, 0, tb.start) + TbsAt(result, 1, tb.start), 4u);
  }
}

TEST_F(KernelMergeHost, SpoofingCostsShortTbsMost) {
  const auto overhead = [&](unsigned loads) {
    Cycle cycles[2];
    for (const unsigned spoof : {0u, 200u}) {
      run.request.machine.host.merge_spoof = spoof;
      cycles[spoof != 0] = Run({Kernel("a", 64, 256, loads)}).jobs[0].finish;
    }
    return static_cast<double>(cycles[1]) / static_cast<double>(cycles[0]);
  };
  const double few = overhead(1), many = overhead(12);
  EXPECT_GT(few, 1.2);
  EXPECT_LT(many, few);
}

// Merged: the first two; then the third with what has come meanwhile, or alone.
TEST_F(KernelMergeHost, MergesTwoAtATimeInOrder) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 20), Kernel("b", 40), Kernel("c", 30)};
  const RunResult result = Run(kernels);
  ExpectEachTbOnce(result, kernels);
  EXPECT_EQ(result.jobs[0].start, result.jobs[1].start);
  EXPECT_GE(result.jobs[2].start, result.jobs[0].finish + run.request.machine.launch_latency);
}

// Whatever the kernels are like and whenever they come: each TB once.
TEST_F(KernelMergeHost, ExecutesEachTbOnceWhateverTheSizes) {
  std::mt19937 random(GetTestOptions().seed);
  SCOPED_TRACE("--seed=" + std::to_string(GetTestOptions().seed));
  for (int round = 0; round < 15; ++round) {
    std::vector<MicroKernel> kernels;
    run.arrivals.clear();
    const unsigned jobs = 1 + random() % 5;
    const bool equal = random() % 2 == 0;
    for (unsigned i = 0; i < jobs; ++i) {
      const unsigned threads = equal ? 224 : 32 + random() % 300;
      kernels.push_back(Kernel("k" + std::to_string(i), 1 + random() % 80, threads, random() % 4));
      if (equal && random() % 2 == 0) kernels.back() = WithBarrier(kernels.back());
      if (equal && random() % 4 == 0) kernels.back().BarrierOfFirstWarpOnly();
      kernels.back().shared_memory = random() % 3 * 5000;
      run.arrivals.push_back(random() % 6000);
    }
    run.request.machine.sm.collectors = random() % 3;
    // Of two SMs, one at most may be for the first kernel.
    const MergeSplit splits[] = {{}, {1 + static_cast<std::uint32_t>(random() % 3), 0}, {0, 1}};
    ExpectEachTbOnce(Run(kernels, splits[random() % 3]), kernels);
  }
}

// Sec. 2.4: "the disabled workitems will never execute the barrier".
TEST_F(KernelMergeHost, RefusesBarriersInTheSmallerKernel) {
  const MicroKernel small = WithBarrier(Kernel("small", 4, 64)), large = Kernel("large", 4, 256);
  EXPECT_THAT(Refusal({small, large}),
              HasSubstr("kernel-merge: small has barriers and 64 threads, large 256"));
  EXPECT_THAT(Refusal({large, small}), HasSubstr("small has barriers"));
  EXPECT_EQ(Refusal({WithBarrier(large), Kernel("small", 4, 64)}), "accepted");
  EXPECT_EQ(Refusal({WithBarrier(large), WithBarrier(Kernel("other", 4, 256))}), "accepted");
  EXPECT_EQ(Refusal({small}), "accepted");
}

// Sec. 2.5: "allow the scheduler to specify to the barriers how many workitems to expect".
TEST_F(KernelMergeHost, BarriersThatAreToldTheirWarpsAreAccepted) {
  run.request.machine.host.merge_barrier = "tb";
  const std::vector<MicroKernel> kernels = {WithBarrier(Kernel("small", 30, 64)),
                                            Kernel("large", 20, 256)};
  ExpectEachTbOnce(Run(kernels), kernels);
}

TEST_F(KernelMergeHost, SmsOfAPartitionExecuteOneKernelOnly) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 40), Kernel("b", 50)};
  const RunResult result = Run(kernels, {0, 1});
  ExpectEachTbOnce(result, kernels);
  for (const TbRecord& tb : result.tbs) EXPECT_EQ(Index(tb.sm), Index(tb.job));
  EXPECT_THAT(Refusal(kernels, {0, 2}), HasSubstr("a+b has 2 SMs: expected 1 to 1"));
}

TEST_F(KernelMergeHost, RefusesWhatDoesNotFit) {
  MicroKernel threads = Kernel("threads", 1, 1024), registers = Kernel("registers", 1, 64);
  registers.registers = 128;
  EXPECT_EQ(Refusal({threads}), "accepted");
  EXPECT_EQ(Refusal({registers}), "accepted");
  EXPECT_THAT(Refusal({threads, registers}), HasSubstr("threads+registers needs 1024 threads"));
}

TEST_F(KernelMergeHost, RefusesPartitionsWithoutGroupsForTheSecond) {
  const std::vector<MicroKernel> kernels = {Kernel("a", 4), Kernel("b", 4)};
  const unsigned groups = Groups(kernels[0], kernels[1]);
  EXPECT_EQ(Refusal(kernels, {groups - 1, 0}), "accepted");
  EXPECT_THAT(Refusal(kernels, {groups, 0}),
              HasSubstr("expected 1 to " + std::to_string(groups - 1)));
}

}  // namespace
}  // namespace smk
