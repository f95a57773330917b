// SPDX-License-Identifier: Apache-2.0
// Runs that are written down can be made again: by the command that a sweep keeps of each run.
#include <gtest/gtest.h>

#include <sstream>

#include "experiment/knobs.h"
#include "sim/main_call.h"
#include "sweep/plan.h"

namespace smk::sim {
namespace {

// What the last call of the simulator was asked for. The isolated runs that a command makes besides
// are made in child processes.
struct Asked {
  RunRequest request;
  ControlKind control{};
};

// The words of a command line without quotes.
Asked AskedBy(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  words.erase(words.begin());
  words.emplace_back("--no-cache");
  Asked asked;
  Backend backend = MakeBackend();
  backend.run = [&](const RunRequest& request, ControlKind kind, const ControlConfig&) {
    asked = {request, kind};
    return FakeResult(request);
  };
  const Ended ended = CallMain(backend, words);
  EXPECT_EQ(ended.status, 0) << command << '\n' << ended.out << ended.err;
  return asked;
}

void ExpectEqual(const RunRequest& a, const RunRequest& b) {
  EXPECT_EQ(ToToml(a.machine), ToToml(b.machine));
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.until, b.until);
  EXPECT_EQ(a.ideal_preemption, b.ideal_preemption);
  Configuration in_a, in_b;
  in_a.policy = a.policy;
  in_b.policy = b.policy;
  for (const Knob& knob : Knobs()) EXPECT_EQ(knob.print(in_a), knob.print(in_b)) << knob.path;
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t k = 0; k < a.jobs.size(); ++k) {
    EXPECT_EQ(a.jobs[k].workload->content_hash, b.jobs[k].workload->content_hash);
    EXPECT_EQ(a.jobs[k].arrival, b.jobs[k].arrival);
    EXPECT_EQ(a.jobs[k].repeat, b.jobs[k].repeat);
  }
}

TEST(Repeating, TheCommandOfARunOfASweepAsksForTheSame) {
  SweepSpec spec;
  spec.path = "s.toml";
  SpecExperiment experiment;
  experiment.workloads = {{"lbm+sgemm", 1}, {"sad+sad", 1}};
  experiment.policies = {{"smk-pw", 1}, {"spatial", 1}, {"smk-pw2", 1}, {"table:1,2", 1}};
  experiment.preempt = {{"drain", 1}};
  experiment.machines = {{"gtx980", 1}, {"fermi", 1}};
  experiment.control = {{"reference", 1}, {"rtl", 1}};
  experiment.cycles = {{"5k", 1}};
  experiment.seeds = {{"77", 1}};
  experiment.repeat = false;
  experiment.set = {{"policy.epoch_length", {{"500", 1}, {"5000", 1}}},
                    {"run.ideal_preemption", {{"true", 1}}},
                    {"launch_latency", {{"80", 1}}}};
  SpecExperiment other;
  other.name = "other";
  other.workloads = {{"sgemm+lbm", 1}};
  other.until = {{"cycles", 1}, {"done", 1}};
  other.arrive = {{"lbm@100", 1}};
  spec.experiments = {experiment, other};
  const Backend backend = RememberingBackend(MakeBackend());
  const SweepPlan plan = ExpandSweep(spec, backend);
  EXPECT_GT(plan.runs.size(), 64u);
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    SCOPED_TRACE(RunCommandLine(plan.runs[i]));
    if (plan.runs[i].is_isolated()) continue;  // in a child
    const LoadedRun loaded = LoadRun(plan.runs[i], backend);
    const Asked asked = AskedBy(RunCommandLine(plan.runs[i]));
    EXPECT_EQ(asked.control, loaded.experiment.control);
    ExpectEqual(asked.request, loaded.request);
  }
}

}  // namespace
}  // namespace smk::sim
