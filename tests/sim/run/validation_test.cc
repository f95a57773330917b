// SPDX-License-Identifier: Apache-2.0
// Traces beside the cycles that are expected of them, with a stand-in for the simulator; and which
// job a kernel slot holds.
#include "run/validation.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/csv_table.h"
#include "base/error.h"
#include "run/slot_jobs.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Validations : public ScratchTest {
 protected:
  // The trace at PATH/nM has M streams; a run ends at cycle 1000 times the number of its streams.
  Validations() {
    backend.load_trace = [](const std::string& path, const TraceReading&) {
      TraceSet set;
      for (int i = 0; i < path.back() - '0'; ++i) set.streams.push_back(FakeWorkload("s"));
      return set;
    };
    backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
      EXPECT_EQ(request.until, RunUntil::kDone) << "until its end";
      RunResult result = FakeResult(request);
      for (std::size_t k = 0; k < result.kernels.size(); ++k) {
        result.kernels[k].last_tb_end = 1000 * (k + 1);
      }
      return result;
    };
    options.cycles = "16000";
  }
  std::vector<ExpectedTrace> List(const std::string& rows,
                                  const std::vector<std::string>& only = {}) const {
    Write("expected.csv", "suite,trace,accelsim_cycles\n" + rows);
    return ReadExpected(folder().string(), only);
  }
  Validation Run(const std::string& rows) const {
    return Validate(List(rows), options, backend, 2, true);
  }

  Backend backend = FakeBackend();
  Options options;
};

TEST_F(Validations, TheListSaysWhereTracesAre) {
  const auto traces = List("x,a/n1,1500\ny,b/n2,77\n");
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0].trace, "a/n1");
  EXPECT_EQ(traces[0].path, Path("a/n1"));
  EXPECT_EQ(traces[1].cycles, 77u);
  EXPECT_EQ(List("x,a/n1,1\ny,b/n2,2\nz,c/n1,3\n", {"c", "a/"}).size(), 2u);
}

TEST_F(Validations, MistakesInTheListAreTold) {
  const std::string list = Path("expected.csv");
  EXPECT_EQ(Refusal([&] { List(""); }), list + ": expected at least one trace");
  EXPECT_EQ(Refusal([&] { List("x,a,1\n", {"b"}); }),
            list + ": expected at least one trace that --only lets through");
  EXPECT_EQ(Refusal([&] { List("x,a,0\n"); }), list + ": a: expected a number of cycles, got 0");
  EXPECT_EQ(Refusal([&] { List("x,a,many\n"); }),
            list + ":2: accelsim_cycles: expected a whole number, got 'many'");
  EXPECT_EQ(Refusal([&] { ReadExpected(Path("no"), {}); }),
            Path("no/expected.csv") + ": cannot be read");
}

TEST_F(Validations, ErrorsAreOfTheLastTbsEnd) {
  const Validation v = Run("x,a/n1,800\nx,b/n2,4000\nx,c/n3,3000\n");
  ASSERT_EQ(v.traces.size(), 3u);
  EXPECT_EQ(v.traces[0].cycles, 1000u);
  EXPECT_EQ(v.traces[1].cycles, 2000u) << "of the stream that ends last";
  EXPECT_DOUBLE_EQ(v.traces[0].error(), 0.25);
  EXPECT_DOUBLE_EQ(v.traces[1].error(), -0.5);
  EXPECT_DOUBLE_EQ(v.traces[2].error(), 0);
  EXPECT_DOUBLE_EQ(v.mean_error(), 0.25);
  EXPECT_EQ(v.worst().expected.trace, "b/n2") << "too few cycles are as bad as too many";
  EXPECT_EQ(v.outside(0.25), 1u) << "no more than that is inside";
  EXPECT_EQ(v.outside(0.1), 2u);
}

TEST_F(Validations, FilesHaveWhatWasMeasured) {
  const Validation v = Run("x,\"a \"\"q\"\", b/n1\",800\nx,b/n2,4000\n");
  CsvTable csv(Write("v.csv", ValidationCsv(v)), {"trace", "error"});
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Text(csv.Column("trace")), "a \"q\", b/n1");
  EXPECT_EQ(csv.Number(csv.Column("cycles")), 1000u);
  EXPECT_EQ(csv.Text(csv.Column("error")), "0.250000");
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Number(csv.Column("expected_cycles")), 4000u);
  EXPECT_FALSE(csv.Next());
  const auto j = nlohmann::json::parse(ValidationJson(v));
  EXPECT_EQ(j["traces"][1]["error"], -0.5);
  EXPECT_EQ(j["worst"]["trace"], "b/n2");
  EXPECT_EQ(j["mean_error"], 0.375);
}

TEST_F(Validations, ATraceThatDoesNotEndIsAFailureWithItsName) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    RunResult result = FakeResult(request);
    result.cut_short = true;
    return result;
  };
  try {
    Run("x,a/n1,800\n");
    FAIL();
  } catch (const CheckFailure& failure) {
    EXPECT_STREQ(failure.what(), "a/n1: it has not ended in 16000 cycles");
  }
}

LaunchRecord Launch(unsigned slot, unsigned job, Cycle start) {
  LaunchRecord launch;
  launch.slot = static_cast<KernelId>(slot);
  launch.job = static_cast<JobId>(job);
  launch.start = start;
  return launch;
}

TEST(SlotsOfJobs, ASlotHoldsTheJobOfItsLastLaunch) {
  const SlotJobs jobs({Launch(0, 5, 10), Launch(1, 6, 12), Launch(0, 5, 20), Launch(0, 7, 30)});
  EXPECT_EQ(jobs.At(KernelId{0}, 9), 0u) << "that of its own number, before any";
  EXPECT_EQ(jobs.At(KernelId{0}, 10), 5u);
  EXPECT_EQ(jobs.At(KernelId{0}, 29), 5u);
  EXPECT_EQ(jobs.At(KernelId{0}, 30), 7u);
  EXPECT_EQ(jobs.At(KernelId{0}, ~Cycle{0}), 7u);
  EXPECT_EQ(jobs.At(KernelId{1}, 11), 1u);
  EXPECT_EQ(jobs.At(KernelId{1}, 12), 6u);
  EXPECT_EQ(jobs.At(KernelId{3}, 100), 3u) << "nothing was launched there";
}

TEST(SlotsOfJobs, OfTheBaselineEachHasASlotOfItsOwn) {
  Results results;
  results.result.launches = {Launch(0, 2, 0)};
  EXPECT_EQ(SlotJobsOf(results).At(KernelId{0}, 5), 2u);
  results.policy.time_shared = true;
  EXPECT_EQ(SlotJobsOf(results).At(KernelId{0}, 5), 0u);
}

}  // namespace
}  // namespace smk::sim
