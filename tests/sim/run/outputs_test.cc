// SPDX-License-Identifier: Apache-2.0
// What a run is written as, by example: CSV files, the table on the terminal, manifest.json.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/csv_table.h"
#include "base/sha256.h"
#include "experiment/config_file.h"
#include "experiment/requests.h"
#include "run/manifest.h"
#include "run/results.h"
#include "run/run_folder.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunOutputs : public ScratchTest {
 protected:
  RunOutputs() {
    options.kernels = "a+b";
    options.cycles = "1600";
    Remake();
  }
  void Remake(const std::string& policy = "smk") {
    experiment = Resolve(options, backend);
    results.experiment = &experiment;
    results.policy = FindPolicy(policy, experiment.names.size());
    results.result = FakeResult(SharedRequest(experiment, results.policy, {}));
    results.metrics =
        ComputeMetrics(results.result, std::vector<double>(experiment.names.size(), 8));
  }
  // The lines of a CSV file after its header.
  static std::vector<std::string> Rows(const std::string& csv) {
    std::vector<std::string> lines;
    std::istringstream in(csv);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    lines.erase(lines.begin());
    return lines;
  }

  Backend backend = FakeBackend();
  Options options;
  Experiment experiment;
  Results results;
};

TEST_F(RunOutputs, ARowForEachKernel) {
  KernelStats& b = results.result.kernels[1];
  b.name = "b,\"c\"";
  b.l1_accesses = 8;
  b.l1_hits = 2;
  b.preemptions = 3;
  results.metrics.normalized[1] = std::nullopt;
  CsvTable table(Write("k.csv", KernelsCsv(results)), {"slot", "name", "stall_data_memory"});
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Text(table.Column("name")), "a");
  EXPECT_EQ(table.Text(table.Column("normalized_ipc")), "0.5");
  EXPECT_EQ(table.Number(table.Column("stall_data_memory")), 700u);
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Number(table.Column("slot")), 1u);
  EXPECT_EQ(table.Text(table.Column("name")), "b,\"c\"");
  EXPECT_TRUE(table.IsEmpty(table.Column("normalized_ipc"))) << "there is none";
  EXPECT_EQ(table.Text(table.Column("l1_hit_rate")), "0.25");
  EXPECT_EQ(table.Text(table.Column("l2_hit_rate")), "0") << "nobody asked";
  EXPECT_EQ(table.Number(table.Column("preemptions")), 3u);
  EXPECT_FALSE(table.Next());
  for (const std::string& name : table.header())
    EXPECT_EQ(name.find("stall_issued"), std::string::npos);
}

TEST_F(RunOutputs, NumbersReadBackAsTheSame) {
  Chance chance;
  for (int round = 0; round < 100; ++round) {
    const double ipc = static_cast<double>(chance.Any()) / static_cast<double>(chance.Any() | 1);
    results.metrics.ipc[0] = ipc;
    CsvTable table(Write("k.csv", KernelsCsv(results)), {});
    ASSERT_TRUE(table.Next());
    ASSERT_EQ(std::stod(table.Text(table.Column("ipc"))), ipc);
  }
}

TEST_F(RunOutputs, ARowForEachStayOfATb) {
  TbRecord tb;
  tb.start = 10;
  tb.end = 90;
  tb.kernel = KernelId{0};  // the slot is not the job
  tb.job = JobId{1};
  tb.launch = 2;
  tb.tb = TbId{77};
  tb.sm = SmId{3};
  tb.slot = TbSlot{5};
  results.result.tbs = {tb, tb, tb, tb};
  results.result.tbs[1].outcome = 'S';
  results.result.tbs[2].outcome = 'F';
  results.result.tbs[2].restored = true;
  results.result.tbs[2].base = TbBase{240, 12};
  results.result.tbs[3].outcome = 'R';
  EXPECT_EQ(TbsCsv(results),
            "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome,id,"
            "dispatched_by,preempted_by,replaced_by,registers_base,shared_memory_base\n"
            "1,b,2,77,3,5,10,90,0,completed,0,,,,,\n"
            "1,b,2,77,3,5,10,90,0,saved,1,,,,,\n"
            "1,b,2,77,3,5,10,90,1,flushed,2,,,,240,12\n"
            "1,b,2,77,3,5,10,90,0,running,3,,,,,\n");
}

TEST_F(RunOutputs, ADecisionHasTheCellsThatItsReasonHas) {
  Decision d;
  d.cycle = 5;
  d.kernel = KernelId{1};
  d.sm = SmId{2};
  d.tb = TbId{9};
  d.victim = KernelId{0};
  d.victim_tbs = 3;
  d.share = {10, 20, 30, 40};
  std::vector<DecisionReason> reasons = {
      DecisionReason::kDispatchNew, DecisionReason::kDispatchRestored,
      DecisionReason::kDispatchRestarted, DecisionReason::kPreempt, DecisionReason::kNoRoom};
  for (const DecisionReason reason : reasons) {
    d.reason = reason;
    results.result.decisions.push_back(d);
  }
  EXPECT_EQ(DecisionsCsv(results),
            "cycle,reason,kernel,sm,tb,victim,victim_tbs,share_0,share_1,id\n"
            "5,dispatch-new,1,2,9,,,10,20,0\n"
            "5,dispatch-restored,1,2,9,,,10,20,1\n"
            "5,dispatch-restarted,1,2,9,,,10,20,2\n"
            "5,preempt,1,2,,0,3,10,20,3\n"
            "5,no-room,1,2,,,,10,20,4\n");
}

TEST_F(RunOutputs, ADecisionIsOfTheJobThatIsInTheSlot) {
  LaunchRecord launch;
  launch.slot = KernelId{0};
  launch.job = JobId{1};
  launch.start = 50;
  results.result.launches = {launch};
  Decision d;
  d.reason = DecisionReason::kNoRoom;
  for (const Cycle cycle : {49, 50, 51}) {
    d.cycle = cycle;
    results.result.decisions.push_back(d);
  }
  EXPECT_THAT(
      Rows(DecisionsCsv(results)),
      ElementsAre("49,no-room,0,0,,,,0,0,0", "50,no-room,1,0,,,,0,0,1", "51,no-room,1,0,,,,0,0,2"));
}

TEST_F(RunOutputs, ARowForTheStallsOfEachSm) {
  results.result.sms.resize(2);
  results.result.sms[1].scheduler_cycles = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  results.result.sms[1].sim_stalls = {10, 11, 12};
  const std::string csv = StallsCsv(results);
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "sm,issued,pipeline,control,data_memory,data_short,barrier,quota,preemption,empty,"
            "sim_pipeline,sim_control,sim_data");
  ASSERT_EQ(Rows(csv).size(), 2u);
  EXPECT_EQ(Rows(csv)[1], "1,1,2,3,4,5,6,7,8,9,10,11,12");
}

TEST_F(RunOutputs, ARowForEachJobAndLaunch) {
  JobStats& job = results.result.jobs[1];
  job.client = "alice";
  job.arrival = 100;
  job.ready = 105;
  job.start = 110;
  job.finish = 900;
  job.end = 950;
  results.result.kernels[1].last_tb_end = 940;
  job.slices_begun = 3;
  job.slices_completed = 2;
  results.result.jobs[0].slices_begun = 0;
  EXPECT_EQ(JobsCsv(results),
            "job,name,client,kernel_slot,arrival,ready,start,finish,end,last_tb_end,turnaround,"
            "executions,kernels_completed,slices_begun,slices_completed,tbs_completed\n"
            "0,a,a,,0,,,,,,,0,0,0,0,0\n"
            "1,b,alice,1,100,105,110,900,950,940,800,0,0,3,2,0\n");
  LaunchRecord launch;
  launch.start = 110;
  launch.job = JobId{1};
  launch.slot = KernelId{1};
  launch.number = 1;
  launch.tb_count = 100;
  results.result.launches = {launch};
  EXPECT_EQ(LaunchesCsv(results),
            "job,name,launch,kernel,kernel_slot,first_tb,tb_count,start,end\n"
            "1,b,1,b_kernel,1,0,100,110,\n");
}

// A sample of an SM in which kernel 0 has issued so much.
EpochSample Sample(Cycle cycle, unsigned sm, std::uint64_t issued) {
  EpochSample sample;
  sample.cycle = cycle;
  sample.sm = static_cast<SmId>(sm);
  sample.warp_instructions[0] = issued;
  sample.resident_tbs[0] = 2;
  sample.quota[0] = 100;
  sample.job = {JobId{0}, JobId{1}, kNoJob, kNoJob};
  return sample;
}

TEST_F(RunOutputs, ASampleTellsItsLength) {
  results.result.epochs = {Sample(0, 0, 0), Sample(100, 0, 50), Sample(250, 0, 60)};
  const std::vector<std::string> rows = Rows(SamplesCsv(results));
  EXPECT_THAT(rows, ElementsAre("100,100,0,0,a,50,2,100", "100,100,0,1,b,0,0,0",
                                "250,150,0,0,a,60,2,100", "250,150,0,1,b,0,0,0"))
      << "nothing ran before cycle 0";
}

// A slot that changes hands is sampled then, so that each job has what it issued; a slot without a
// job has no row.
TEST_F(RunOutputs, ASampleIsOfOneJobInASlot) {
  EpochSample other = Sample(180, 0, 7);
  other.job = {JobId{1}, kNoJob, kNoJob, kNoJob};
  results.result.epochs = {Sample(0, 0, 0), Sample(100, 0, 50), Sample(150, 0, 20), other};
  results.result.epochs[2].job[1] = kNoJob;
  EXPECT_THAT(Rows(SamplesCsv(results)),
              ElementsAre("100,100,0,0,a,50,2,100", "100,100,0,1,b,0,0,0", "150,50,0,0,a,20,2,100",
                          "180,30,0,1,b,7,2,100"));
}

// Added up are only those of the same jobs.
TEST_F(RunOutputs, SamplesOfOtherJobsAreNotAddedUp) {
  results.result.cycles = 4000;
  for (Cycle cycle = 1; cycle <= 4000; ++cycle) {
    results.result.epochs.push_back(Sample(cycle, 0, 1));
    if (cycle > 1001) results.result.epochs.back().job[0] = JobId{1};
  }
  CsvTable table(Write("s.csv", SamplesCsv(results)), {});
  std::array<std::uint64_t, 2> issued{};
  while (table.Next()) {
    if (table.Number(table.Column("quota")) == 0) continue;  // of the other slot
    issued.at(table.Number(table.Column("kernel"))) +=
        table.Number(table.Column("warp_instructions"));
  }
  EXPECT_THAT(issued, ElementsAre(1001, 2999));
}

TEST_F(RunOutputs, OfManySamplesSomeAreAddedUp) {
  results.result.sms.resize(2);
  results.result.cycles = 5001;
  for (Cycle cycle = 1; cycle <= 5001; ++cycle) {
    for (unsigned sm = 0; sm < 2; ++sm) results.result.epochs.push_back(Sample(cycle, sm, 1));
  }
  CsvTable table(Write("s.csv", SamplesCsv(results)), {});
  std::uint64_t rows = 0, issued = 0, length = 0, last = 0;
  while (table.Next()) {
    if (table.Number(table.Column("sm")) != 0 || table.Number(table.Column("kernel")) != 0)
      continue;
    ++rows;
    issued += table.Number(table.Column("warp_instructions"));
    length += table.Number(table.Column("length"));
    last = table.Number(table.Column("cycle"));
  }
  EXPECT_EQ(rows, 1667u) << "three at a time";
  EXPECT_EQ(issued, 5001u) << "nothing is lost";
  EXPECT_EQ(length, 5001u);
  EXPECT_EQ(last, 5001u);
}

TEST_F(RunOutputs, TheSummaryByExample) {
  results.result.kernels[0].l1_accesses = 3;
  results.result.kernels[0].l1_hits = 1;
  results.result.kernels[1].preemptions = 4;
  results.result.kernels[1].context_bytes = 2'500'000;
  results.result.kernels[1].preemption_cycles = 400;
  results.result.checks = 19;
  const std::size_t sms = results.result.sms.size();
  results.result.kernels[0].alu_busy = 1600 * sms * experiment.machine.sm.units.sp / 2;
  results.result.kernels[1].lsu_busy = 1600 * sms / 4;
  EXPECT_EQ(Summary(results),
            "a+b: policy smk, machine " + experiment.machine.name +
                ", control reference, 1600 cycles, seed 1\n"
                "\n"
                "kernel    IPC  isolated  normalized  TBs done  L1 hits  L2 hits  waits for\n"
                "a       4.000     8.000       0.500         0   33.3 %        -  data_memory 70 "
                "%, pipeline 30 %\n"
                "b       4.000     8.000       0.500         0        -        -  data_memory 70 "
                "%, pipeline 30 %\n"
                "\n"
                "STP 1.000   fairness 1.000   ANTT 2.000\n"
                "units taken: ALU 50 %, SFU 0 %, LSU 25 %\n"
                "preemptions 4 (2.5 MB, 100 cycles each)   3200 simulated cycles/s   19 checks\n");
}

TEST_F(RunOutputs, TheSummaryTellsWhatIsSpecial) {
  EXPECT_THAT(Summary(results), HasSubstr("preemptions 0   "));
  EXPECT_THAT(Summary(results), Not(HasSubstr("flushed")));
  results.result.kernels[0].flushes = 2;
  EXPECT_THAT(Summary(results), HasSubstr("   flushed TBs 2   "));
  EXPECT_THAT(Summary(results), Not(HasSubstr("late reservations")));
  results.result.late_reservations = 77;
  EXPECT_THAT(Summary(results), HasSubstr("\nlate reservations 77: "));
  options.arrivals = {"b@100"};
  options.control = "lockstep";
  Remake();
  results.result.lockstep_events = 12345;
  EXPECT_THAT(Summary(results), HasSubstr("\nb arrives at cycle 100\n"));
  EXPECT_THAT(Summary(results), HasSubstr("lockstep: 12345 outputs of RTL and reference compared"));
  EXPECT_THAT(Summary(results), Not(HasSubstr("last TB")));
  options.until = "done";
  Remake();
  results.result.jobs[0].end = results.result.jobs[0].finish = 700;
  results.result.kernels[0].last_tb_end = 690;
  EXPECT_THAT(Summary(results), HasSubstr("1600 cycles until all programs had ended, "));
  EXPECT_THAT(Summary(results), HasSubstr("  starts  last TB  ends  "));
  EXPECT_THAT(Summary(results), HasSubstr("  690   700  "));
  results.result.cut_short = true;
  EXPECT_THAT(Summary(results), HasSubstr("1600 cycles (CUT SHORT by --cycles), "));
  options.until.reset();
  Remake("isolated");
  EXPECT_THAT(Summary(results), HasSubstr("each kernel runs alone, they take turns"));
  EXPECT_THAT(Summary(results), Not(HasSubstr("arrives"))) << "each starts at 0";
}

TEST_F(RunOutputs, OnlyTheLargestReasonsToWaitAreTold) {
  auto& stalls = results.result.kernels[0].stalls;
  stalls = {};
  const std::vector<std::pair<Stall, unsigned>> waited = {{Stall::kPipeline, 100},
                                                          {Stall::kQuota, 400},
                                                          {Stall::kControl, 200},
                                                          {Stall::kBarrier, 300}};
  for (const auto& [reason, cycles] : waited) stalls[static_cast<unsigned>(reason)] = cycles;
  EXPECT_THAT(Summary(results), HasSubstr("  quota 40 %, barrier 30 %, control 20 %\n"));
  stalls = {};
  stalls[static_cast<unsigned>(Stall::kQuota)] = 1000;
  stalls[static_cast<unsigned>(Stall::kBarrier)] = 4;
  EXPECT_THAT(Summary(results), HasSubstr("  quota 100 %\n")) << "less than half a percent";
  stalls = {};
  EXPECT_THAT(Summary(results), HasSubstr("-        -\n")) << "it never waited";
}

TEST_F(RunOutputs, StatisticsHaveWhatTheyAreOf) {
  const nlohmann::ordered_json j = StatsJson(results);
  EXPECT_EQ(j["workload"], "a+b");
  EXPECT_EQ(j["policy"], "smk");
  EXPECT_EQ(j["cycles"], 1600);
  EXPECT_EQ(j["stp"], 1.0);
  EXPECT_EQ(j["kernels"].size(), 2u);
  EXPECT_EQ(j["kernels"][1]["name"], "b");
  EXPECT_EQ(j["kernels"][1]["normalized_ipc"], 0.5);
  EXPECT_EQ(j["sms"].size(), experiment.machine.sms);
  nlohmann::ordered_json again = StatsJson(results);
  EXPECT_EQ(again.dump(), j.dump());
  results.result.wall_seconds *= 2;
  nlohmann::ordered_json slower = StatsJson(results);
  EXPECT_NE(slower["wall"], j["wall"]);
  slower.erase("wall");
  again.erase("wall");
  EXPECT_EQ(slower, again) << "nothing else depends on the clock";
}

TEST_F(RunOutputs, StatisticsOfWhatIsMissingAreNull) {
  results.metrics = ComputeMetrics(results.result, {0.0, 8.0});
  const nlohmann::ordered_json j = StatsJson(results);
  EXPECT_TRUE(j["stp"].is_null());
  EXPECT_TRUE(j["antt"].is_null());
  EXPECT_TRUE(j["kernels"][0]["normalized_ipc"].is_null());
}

TEST_F(RunOutputs, AManifestTellsInputsWithTheirHashes) {
  backend.find_machine = [this](const std::string&) { return Write("m.toml", "name = 'm'"); };
  Remake();
  const auto j = nlohmann::json::parse(ManifestJson(experiment, "smk run a+b", "PASS", {}));
  EXPECT_EQ(j["status"], "PASS");
  EXPECT_EQ(j["command_line"], "smk run a+b");
  EXPECT_EQ(j["seed"], 1);
  ASSERT_EQ(j["inputs"].size(), 3u);
  EXPECT_EQ(j["inputs"][0]["kind"], "machine");
  EXPECT_EQ(j["inputs"][0]["sha256"], HashText("name = 'm'"));
  EXPECT_EQ(j["inputs"][1]["kind"], "workload");
  EXPECT_EQ(j["inputs"][1]["sha256"], "") << "the stand-in has no file";
  EXPECT_EQ(j["executable_sha256"], HashFile("/proc/self/exe"));
  EXPECT_EQ(j["date"].get<std::string>().size(), std::string("2026-01-02T03:04:05Z").size());
}

TEST(CommandLines, WordsAreQuotedWhereAShellNeedsIt) {
  EXPECT_EQ(CommandLine({"smk", "run", "lbm+sgemm", "--set", "a.b=1,2", "x@5k"}),
            "smk run lbm+sgemm --set a.b=1,2 x@5k");
  EXPECT_EQ(CommandLine({"smk", "", "a b", "it's", "$HOME", "~", "*"}),
            "smk '' 'a b' 'it'\\''s' '$HOME' '~' '*'");
}

TEST(CommandLines, AShellReadsThemBack) {
  Chance chance;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> words = {"printf", "%s|"};
    std::string expected;
    for (std::uint64_t n = 1 + chance.Below(4); n > 0; --n) {
      words.push_back(chance.Text(8, "a'\"\\ $`*~;&|<>()!#-=\t"));
      expected += words.back() + "|";
    }
    FILE* pipe = popen(CommandLine(words).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[256] = "";
    const std::size_t size = fread(buffer, 1, sizeof buffer - 1, pipe);
    pclose(pipe);
    EXPECT_EQ(std::string(buffer, size), expected);
  }
}

class RunFolders : public RunOutputs {};

TEST_F(RunFolders, AFolderIsCompleteWhenItHasAManifest) {
  WriteRun(OutputFolder::Prepare(Path("out"), false), "smk run a+b", results, false);
  EXPECT_THAT(Names("out"),
              ElementsAre("config.toml", "decisions.csv", "jobs.csv", "kernels.csv", "launches.csv",
                          "manifest.json", "samples.csv", "stalls.csv", "stats.json", "tbs.csv"));
  EXPECT_EQ(nlohmann::ordered_json::parse(Read("out/stats.json")), StatsJson(results));
  EXPECT_EQ(Read("out/tbs.csv"), TbsCsv(results));
  EXPECT_EQ(Read("out/config.toml"), ConfigToml(experiment, results.policy));
}

TEST_F(RunFolders, KernelsThatTookTurnsHaveNoSamples) {
  Remake("isolated");
  WriteRun(OutputFolder::Prepare(Path("out"), false), "smk", results, false);
  EXPECT_FALSE(Exists("out/samples.csv"));
  options.kernels = "a";
  Remake("isolated");
  WriteRun(OutputFolder::Prepare(Path("one"), false), "smk", results, false);
  EXPECT_TRUE(Exists("one/samples.csv")) << "one alone has";
}

TEST_F(RunFolders, AFailureLeavesAManifestOnly) {
  const OutputFolder folder = OutputFolder::Prepare(Path("out"), false);
  WriteRun(folder, "smk run a+b", results, true);
  EXPECT_TRUE(Exists("out/timeline.json.gz"));
  EXPECT_THROW(RunInto(folder, "smk run a+b", experiment, [] { throw InputError("no"); }),
               InputError);
  EXPECT_TRUE(Exists("out/timeline.json.gz")) << "bad input alone clears nothing";
  EXPECT_THROW(
      RunInto(folder, "smk run a+b", experiment, [] { throw std::runtime_error("cycle 7: no"); }),
      std::runtime_error);
  EXPECT_THAT(Names("out"), ElementsAre(".smk-run", "manifest.json"));
  EXPECT_EQ(nlohmann::json::parse(Read("out/manifest.json"))["status"], "FAIL: cycle 7: no");
}

TEST_F(RunFolders, AFailureToWriteAFailureIsAWarning) {
  const OutputFolder folder = OutputFolder::Prepare(Path("out"), false);
  std::filesystem::remove_all(Path("out"));
  testing::internal::CaptureStderr();
  const auto fail = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(RunInto(folder, "smk", experiment, fail), std::runtime_error);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), StartsWith("smk: warning: " + Path("out")));
  EXPECT_THROW(RunInto(OutputFolder(), "smk", experiment, fail), std::runtime_error);
}

TEST(RunOptions, WhatIsRecordedFollowsFromTheOptions) {
  Options options;
  Recording recording = MakeRecording(options);
  EXPECT_FALSE(recording.tbs || recording.decisions || recording.samples || recording.timeline ||
               recording.wave);
  options.force = true;
  EXPECT_EQ(Refusal([&] { MakeRecording(options); }), "--force: needs --out DIR");
  options.out = "x";
  options.timeline = "";
  options.wave = "";
  recording = MakeRecording(options);
  EXPECT_TRUE(recording.tbs && recording.decisions && recording.samples && recording.timeline &&
              recording.wave);
}

TEST(RunOptions, HowItIsRun) {
  const Environment cache("SMK_CACHE_DIR", "/c");
  Options options;
  EXPECT_EQ(MakeRunnerOptions(options).jobs, Processors());
  EXPECT_EQ(MakeRunnerOptions(options).cache_folder, "/c");
  options.jobs = "3";
  options.quiet = options.no_cache = true;
  EXPECT_EQ(MakeRunnerOptions(options).jobs, 3u);
  EXPECT_TRUE(MakeRunnerOptions(options).quiet);
  EXPECT_EQ(MakeRunnerOptions(options).cache_folder, "");
  for (const char* jobs : {"0", "1025", "x"}) {
    options.jobs = jobs;
    EXPECT_EQ(Refusal([&] { MakeRunnerOptions(options); }),
              std::string("--jobs: expected a whole number from 1 to 1024, got '") + jobs + "'");
  }
}

}  // namespace
}  // namespace smk::sim
