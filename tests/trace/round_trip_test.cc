// SPDX-License-Identifier: Apache-2.0
// A program exported as a trace and read back gives the statistics of the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "model/workload/rig.h"
#include "trace/export.h"
#include "trace/rig.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

constexpr const char* kDataDir = SMK_SOURCE_DIR;

// The first `tbs` TBs of some kernels, launched one after the other.
std::shared_ptr<const Workload> Cut(const Workload& whole,
                                    const std::vector<std::uint16_t>& kernels, unsigned tbs) {
  auto cut = std::make_shared<Workload>(whole);
  cut->launches = kernels;
  for (KernelSpec& kernel : cut->kernels) {
    kernel.idempotence = Idempotence::kNo;  // a trace does not say
    const unsigned x = std::min(kernel.grid_x, tbs);
    EXPECT_EQ(tbs % x, 0u) << kernel.name;
    EXPECT_LE(tbs / x, kernel.grid_y) << kernel.name;
    kernel.grid_x = x;
    kernel.grid_y = tbs / x;
    kernel.grid_z = 1;
  }
  return cut;
}

// Every number of a result, in the order of its fields.
std::vector<std::uint64_t> Numbers(const RunResult& result) {
  std::vector<std::uint64_t> numbers = {result.cycles, result.warp_instructions,
                                        result.dram_row_hits, result.dram_row_misses,
                                        result.checks};
  const auto add = [&numbers](auto... values) {
    (numbers.push_back(static_cast<std::uint64_t>(values)), ...);
  };
  for (const KernelStats& k : result.kernels) {
    add(k.warp_instructions, k.thread_instructions, k.cycles_present, k.tbs_completed,
        k.launches_completed, k.program_runs, k.l1_accesses, k.l1_hits, k.l2_accesses, k.l2_hits,
        k.dram_read_bytes, k.dram_write_bytes, k.context_bytes, k.preemptions, k.restores,
        k.flushes, k.preemption_cycles);
    numbers.insert(numbers.end(), k.stalls.begin(), k.stalls.end());
  }
  for (const SmStats& sm : result.sms) {
    numbers.insert(numbers.end(), sm.scheduler_cycles.begin(), sm.scheduler_cycles.end());
    numbers.insert(numbers.end(), sm.tb_cycles.begin(), sm.tb_cycles.end());
  }
  for (const TbRecord& tb : result.tbs) {
    add(tb.start, tb.end, Index(tb.kernel), tb.launch, Index(tb.tb), Index(tb.sm), Index(tb.slot),
        tb.restored, tb.outcome);
  }
  return numbers;
}

class TraceRoundTrip : public TraceFolder {
 protected:
  TraceRoundTrip() {
    SetMachine("gtx980");
    request.policy.dispatch = DispatchMode::kLeftover;
    request.record_tbs = true;
  }
  void SetMachine(const std::string& name) {
    request.machine = MachineConfig::Load(std::string(kDataDir) + "/machines/" + name + ".toml");
  }
  // Writes the workload and reads it back.
  std::shared_ptr<const Workload> ThereAndBack(const Workload& workload, const std::string& name,
                                               std::uint64_t max_instructions) {
    TraceExport what;
    what.folder = (folder / name).string();
    what.launches = workload.launches.size();
    what.max_instructions = max_instructions;
    what.seed = request.seed;
    ExportTrace(workload, what);
    return LoadTrace(what.folder, {Cache(), true}).streams.at(0);
  }
  RunResult Run(const std::vector<Job>& programs) {
    request.jobs = programs;
    return RunSimulation(request,
                         MakeReferenceControl(ControlConfigOf(request.machine), request.policy));
  }

  RunRequest request;
};

class TraceRoundTripOf : public TraceRoundTrip, public testing::WithParamInterface<const char*> {};

// As long as no warp can have executed more than was written. Of the machines one has sectors, and
// one a cache of textures.
TEST_P(TraceRoundTripOf, EveryKernelGivesTheSameStatistics) {
  request.cycles = 1500;
  const auto whole = FindWorkload(GetParam(), kDataDir);
  for (std::size_t k = 0; k < whole->kernels.size(); ++k) {
    const auto program = Cut(*whole, {static_cast<std::uint16_t>(k)}, 4);
    const auto trace = ThereAndBack(*program, whole->kernels[k].name, request.cycles);
    for (const char* const machine : {"gtx980", "v100", "fermi-gpgpusim"}) {
      SetMachine(machine);
      const RunResult expected = Run({{program, 0, true}});
      EXPECT_GT(expected.warp_instructions, 100u);
      EXPECT_EQ(Numbers(Run({{trace, 0, true}})), Numbers(expected))
          << whole->kernels[k].name << " on " << machine;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parboil, TraceRoundTripOf,
                         testing::Values("cutcp", "histo", "lbm", "mri-g", "mri-q", "sad", "sgemm",
                                         "spmv", "stencil", "tpacf"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(TraceRoundTrip, LaunchesFollowEachOtherAndBeginAgain) {
  request.cycles = 100000;
  const auto program = Cut(*FindWorkload("histo", kDataDir), {0, 3, 0}, 2);
  const auto trace = ThereAndBack(*program, "histo", 0);
  const RunResult expected = Run({{program, 0, true}});
  EXPECT_GT(expected.kernels[0].program_runs, 0u) << "it must begin again";
  EXPECT_EQ(Numbers(Run({{trace, 0, true}})), Numbers(expected));
}

// Lanes on one word are one transaction of a program, and are one in its trace.
TEST_F(TraceRoundTrip, AtomicsOfOneTransactionStayOne) {
  request.cycles = 20000;
  TestFile file;
  file.idempotence = "idempotence = \"no\"";
  file.program =
      "loop i 9 {\natomic_global [a + tb*256] stride 0\natomic_global v = [a + i*4096] stride 0 "
      "bytes 8\nalu v = v\n}";
  const auto program = file.Parse();
  const auto trace = ThereAndBack(*program, "atomics", 0);
  const RunResult expected = Run({{program, 0, true}});
  EXPECT_GT(expected.kernels[0].launches_completed, 0u);
  EXPECT_EQ(Numbers(Run({{trace, 0, true}})), Numbers(expected));
}

// Accesses whose sectors the lanes of one word each cannot tell: wide lanes, lanes with gaps, and
// gathers, whose lanes are not known.
TEST_F(TraceRoundTrip, SectorsStayWhatTheyAre) {
  SetMachine("v100");
  request.cycles = 30000;
  TestFile file;
  file.idempotence = "idempotence = \"no\"";
  file.threads = "threads = 80";
  file.program = R"(loop i 9 {
load_global v = [a + tb*256 + warp*65536] bytes 64
load_global v = [a + tb*96] stride 96 bytes 12
load_global v = [a] rows 8 pitch 4096 stride 12 bytes 8
load_global v = [a] gather 20 window 262144
load_global v = [a] gather 32 window 262144 bytes 64
load_global v = [a] gather 30.5 window 262144 bytes 33
load_global v = [a] gather 1 window 4096 bytes 1
store_global [a] gather 5.5 window 262144 bytes 8
atomic_global [a] gather 3 window 65536 bytes 4
store_global [a + tb*256] stride 128 bytes 128
alu v = v
})";
  const auto program = file.Parse();
  const auto trace = ThereAndBack(*program, "sectors", 0);
  const RunResult expected = Run({{program, 0, true}});
  EXPECT_GT(expected.kernels[0].launches_completed, 0u);
  EXPECT_EQ(Numbers(Run({{trace, 0, true}})), Numbers(expected));
}

// Through the texture cache, and behind a memory barrier.
TEST_F(TraceRoundTrip, TexturesAndMemoryBarriers) {
  SetMachine("fermi-gpgpusim");
  request.cycles = 30000;
  TestFile file;
  file.idempotence = "idempotence = \"no\"";
  file.program =
      "loop i 9 {\ntexture v = [a + tb*512 + i*128]\nload_global w = [b]\nmembar\nalu x =\n}";
  const auto program = file.Parse();
  const auto trace = ThereAndBack(*program, "textures", 0);
  const RunResult expected = Run({{program, 0, true}});
  EXPECT_GT(expected.kernels[0].launches_completed, 0u);
  EXPECT_EQ(Numbers(Run({{trace, 0, true}})), Numbers(expected));
}

TEST_F(TraceRoundTrip, BesideAProgramAndPreempted) {
  request.machine.sms = 2;
  request.cycles = 12000;
  request.policy.dispatch = DispatchMode::kOnDemand;
  const auto sgemm = Cut(*FindWorkload("sgemm", kDataDir), {0}, 32);
  const auto lbm = FindWorkload("lbm", kDataDir);
  const auto trace = ThereAndBack(*sgemm, "sgemm", request.cycles);
  const RunResult expected = Run({{sgemm, 0, true}, {lbm, 3000, true}});
  EXPECT_GT(expected.kernels[0].preemptions, 0u) << "TBs must have been saved";
  EXPECT_EQ(Numbers(Run({{trace, 0, true}, {lbm, 3000, true}})), Numbers(expected));
}

}  // namespace
}  // namespace smk
