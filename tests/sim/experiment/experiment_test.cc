// SPDX-License-Identifier: Apache-2.0
// What a user asked for, resolved against a stand-in for the simulator: names, numbers, arrivals,
// windows; every message in full.
#include "experiment/experiment.h"

#include <gmock/gmock.h>

#include "experiment/requests.h"
#include "experiment/trace_name.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Experiments : public ScratchTest {
 protected:
  Experiments() {
    options.kernels = "a+b";
    options.cycles = "10000";
  }
  Experiment Make() const { return Resolve(options, backend); }
  std::string Said() const {
    return Refusal([&] { Make(); });
  }

  Backend backend = FakeBackend();
  Options options;
};

TEST_F(Experiments, WhatIsNotGivenIsUsual) {
  options.cycles.reset();
  const Experiment e = Make();
  EXPECT_EQ(e.cycles, 2'000'000u);
  EXPECT_EQ(e.seed, 1u);
  EXPECT_EQ(e.machine_name, "gtx980");
  EXPECT_EQ(e.control, ControlKind::kReference);
  EXPECT_TRUE(e.repeat);
  EXPECT_THAT(e.arrivals, ElementsAre(0, 0));
  EXPECT_EQ(e.workload_name(), "a+b");
  EXPECT_EQ(e.control_config.num_sms, e.machine.sms);
  EXPECT_EQ(e.control_config.limits, e.machine.sm.limits);
}

TEST_F(Experiments, WhatIsGivenIsTaken) {
  options.seed = "7";
  options.control = "lockstep";
  options.machine = "other";
  options.no_repeat = true;
  const Experiment e = Make();
  EXPECT_EQ(e.cycles, 10'000u);
  EXPECT_EQ(e.seed, 7u);
  EXPECT_EQ(e.control, ControlKind::kLockstep);
  EXPECT_EQ(e.machine_path, "other");
  EXPECT_FALSE(e.repeat);
}

TEST_F(Experiments, KernelsAreNames) {
  options.kernels.reset();
  EXPECT_EQ(Said(), "no kernels given; write for example: smk run cutcp+stencil");
  for (const char* text : {"", "a+", "+"}) {
    options.kernels = text;
    EXPECT_EQ(Said(), std::string("kernels: expected KERNEL+KERNEL, got '") + text + "'");
  }
  options.kernels = "a+b+c+d+e";
  EXPECT_EQ(Make().workloads.size(), 5u) << "more than there are kernel slots";
}

TEST_F(Experiments, EqualKernelsAreNumbered) {
  options.kernels = "a+b+a+a";
  EXPECT_THAT(Make().labels, ElementsAre("a#1", "b", "a#2", "a#3"));
  options.kernels = "a";
  EXPECT_THAT(Make().labels, ElementsAre("a"));
}

TEST_F(Experiments, NumbersAreInTheirRanges) {
  options.cycles = "0";
  EXPECT_EQ(Said(), "--cycles: expected a whole number from 1 to 2000000000, got '0'");
  options.cycles = "2000000001";
  EXPECT_EQ(Said(), "--cycles: expected a whole number from 1 to 2000000000, got '2000000001'");
  options.cycles = "2G";
  EXPECT_EQ(Make().cycles, kMaxRunCycles) << "what a run can have is what may be asked for";
  options.cycles = "1";
  EXPECT_EQ(Make().cycles, 1u);
  options.seed = "-1";
  EXPECT_EQ(Said(), "--seed: expected a whole number from 0 to 18446744073709551615, got '-1'");
  options.seed = "0";
  EXPECT_EQ(Make().seed, 0u);
  options.control = "hardware";
  EXPECT_THAT(Said(), HasSubstr("hardware"));
}

TEST_F(Experiments, ArrivalsAreByLabelOrByName) {
  options.arrivals = {"b@500"};
  EXPECT_THAT(Make().arrivals, ElementsAre(0, 500));
  options.kernels = "a+b+a";
  options.arrivals = {"a#2@1k", "a#1@9999"};
  EXPECT_THAT(Make().arrivals, ElementsAre(9999, 0, 1000));
}

TEST_F(Experiments, MistakesInArrivalsAreTold) {
  options.kernels = "a+b+a";
  const auto said = [&](std::vector<std::string> arrivals) {
    options.arrivals = std::move(arrivals);
    return Said();
  };
  EXPECT_EQ(said({"a"}), "--arrive: expected KERNEL@CYCLE, got 'a'");
  EXPECT_EQ(said({"c@5"}), "--arrive c@5: 'c' is not in the run (one of a#1, b, a#2)");
  EXPECT_EQ(said({"a@5"}), "--arrive a@5: 'a' is in the run 2 times; write one of a#1, b, a#2");
  EXPECT_EQ(said({"b@5", "b@6"}), "--arrive b@6: the arrival of this kernel is given twice");
  EXPECT_EQ(said({"b@10000"}),
            "--arrive b@10000: expected a whole number from 0 to 9999, got '10000'");
  EXPECT_EQ(said({"b@"}), "--arrive b@: expected a whole number from 0 to 9999, got ''");
  EXPECT_EQ(said({"b@9999"}), "accepted");
}

TEST_F(Experiments, ClientsAreNamedLikeArrivals) {
  options.kernels = "a+b+a";
  options.clients = {"b@alice", "a#2@bob@home"};
  options.arrivals = {};
  EXPECT_EQ(Said(), "--client a#2@bob@home: 'a#2@bob' is not in the run (one of a#1, b, a#2)");
  options.clients = {"b@alice", "a#2@bob"};
  EXPECT_THAT(Make().clients, ElementsAre("", "alice", "bob"));
  const RunRequest request = SharedRequest(Make(), FindPolicy("smk", 3), {});
  EXPECT_EQ(request.jobs[1].client, "alice");
  for (const char* text : {"b", "b@"}) {
    options.clients = {text};
    EXPECT_EQ(Said(), std::string("--client: expected KERNEL@CLIENT, got '") + text + "'");
  }
  options.clients = {"b@x", "b@y"};
  EXPECT_EQ(Said(), "--client b@y: the client of this kernel is given twice");
  options.clients = {"a@x"};
  EXPECT_EQ(Said(), "--client a@x: 'a' is in the run 2 times; write one of a#1, b, a#2");
}

TEST_F(Experiments, TimelinesNeedAPlaceAndAWindow) {
  options.timeline_step = "5";
  EXPECT_EQ(Said(), "--timeline-step: needs --timeline");
  options.timeline_step.clear();
  options.timeline = "";
  EXPECT_EQ(Said(), "--timeline: needs --out DIR to write timeline.json.gz to");
  options.out = Path("out");
  for (const char* text : {"5", "1:2:3", "a"}) {
    options.timeline = text;
    EXPECT_EQ(Said(), std::string("--timeline: expected FROM:TO in cycles, got '") + text + "'");
  }
  options.timeline = "20:20";
  EXPECT_EQ(Said(), "--timeline: expected a whole number from 21 to 1000000000000, got '20'");
  options.timeline = "10000:20000";
  EXPECT_EQ(Said(), "--timeline: expected a whole number from 0 to 9999, got '10000'");
}

// Steps double in the run: its length, and --cycles, decide nothing here.
TEST_F(Experiments, ATimelineBeginsWithShortSteps) {
  options.out = Path("out");
  options.timeline = "";
  Experiment e = Make();
  EXPECT_EQ(e.timeline_from, 0u);
  EXPECT_EQ(e.timeline_to, 10'000u);
  EXPECT_EQ(e.timeline_step, 100u);
  EXPECT_EQ(e.timeline_most_steps, 1000u);
  options.cycles = "2M";
  EXPECT_EQ(Make().timeline_step, 100u);
  options.timeline = "1000:9M";
  e = Make();
  EXPECT_EQ(e.timeline_from, 1000u);
  EXPECT_EQ(e.timeline_to, 2'000'000u) << "to the end of the run";
  options.timeline = "";
  options.timeline_step = "1";
  e = Make();
  EXPECT_EQ(e.timeline_step, 1u) << "a step that is asked for is not refused";
  EXPECT_EQ(e.timeline_most_steps, 4000u);
  options.timeline_step = "0";
  EXPECT_EQ(Said(), "--timeline-step: expected a whole number from 1 to 1000000000000, got '0'");
}

TEST_F(Experiments, AWindowMayBeAnywhereInARunUntilEqualWork) {
  options.out = Path("out");
  options.until = "work";
  options.timeline = "";
  Experiment e = Make();
  EXPECT_EQ(e.timeline_to, 200'000u) << "ten times as long as both runs alone";
  options.timeline = "15000:16000";
  e = Make();
  EXPECT_EQ(e.timeline_from, 15'000u);
  EXPECT_EQ(e.timeline_to, 16'000u);
  options.timeline = "200k:201k";
  EXPECT_EQ(Said(), "--timeline: expected a whole number from 0 to 199999, got '200k'");
}

TEST_F(Experiments, WavesAreOfTheRtl) {
  options.wave = "";
  EXPECT_EQ(Said(), "--wave: needs --out DIR to write wave.fst to");
  options.out = "out";
  EXPECT_EQ(Said(), "--wave: draws the RTL; needs --control rtl or lockstep");
  options.control = "compiled";
  EXPECT_EQ(Said(), "--wave: compiled gates have no waveforms; needs --control rtl or lockstep");
  options.control = "rtl";
  EXPECT_EQ(Make().wave.path, "out/wave.fst.part") << "until the run has passed";
  EXPECT_EQ(Make().wave.to, ~Cycle{0});
  options.wave = "100:300";
  EXPECT_EQ(Make().wave.from, 100u);
  EXPECT_EQ(Make().wave.to, 300u);
  options.wave = "300:100";
  EXPECT_EQ(Said(), "--wave: expected a whole number from 301 to 1000000000000, got '100'");
}

TEST_F(Experiments, ATbMustFitInAnSm) {
  backend.find_workload = [](const std::string& name) {
    return FakeWorkload(name, name == "b" ? 4096 : 128);
  };
  EXPECT_EQ(Said(),
            "b.toml: kernel b_kernel: a TB is larger than an SM of " + MachineConfig{}.name +
                ": it takes 512 of 256 register units, 0 of 384 shared-memory units, 128 of 64 "
                "warps");
}

TEST_F(Experiments, ASharedRunHasAllKernelsAnIsolatedOneHasOne) {
  options.arrivals = {"b@500"};
  options.seed = "3";
  options.no_repeat = true;
  const Experiment e = Make();
  const RunRequest shared = SharedRequest(e, FindPolicy("smk-pw", 2), {});
  ASSERT_EQ(shared.jobs.size(), 2u);
  EXPECT_EQ(shared.jobs[1].arrival, 500u);
  EXPECT_FALSE(shared.jobs[1].repeat);
  EXPECT_EQ(shared.seed, 3u);
  EXPECT_EQ(shared.cycles, 10'000u);
  EXPECT_TRUE(shared.policy.quota_enable);
  EXPECT_FALSE(shared.record_tbs);
  const RunRequest alone = IsolatedRequest(e, 1, {});
  ASSERT_EQ(alone.jobs.size(), 1u);
  EXPECT_EQ(alone.jobs[0].workload->name, "b");
  EXPECT_EQ(alone.jobs[0].arrival, 0u) << "from cycle 0";
  EXPECT_EQ(alone.cycles, 10'000u) << "for as many cycles";
  EXPECT_EQ(alone.policy.latency_scale, 1);
}

TEST_F(Experiments, OnlyWhatIsAskedForIsRecorded) {
  options.out = Path("out");
  options.timeline = "100:200";
  options.timeline_step = "10";
  const Experiment e = Make();
  const Policy policy = FindPolicy("smk", 2);
  RunRequest r = SharedRequest(e, policy, {});
  EXPECT_FALSE(r.record_tbs || r.record_decisions || r.record_timeline);
  Recording samples;
  samples.samples = true;
  r = SharedRequest(e, policy, samples);
  EXPECT_TRUE(r.record_timeline);
  EXPECT_EQ(r.timeline_step, 0u) << "an epoch";
  EXPECT_EQ(r.timeline_most_steps, 4000u);
  EXPECT_EQ(r.timeline_to, ~Cycle{0});
  Recording timeline;
  timeline.timeline = true;
  r = SharedRequest(e, policy, timeline);
  EXPECT_EQ(r.timeline_from, 100u);
  EXPECT_EQ(r.timeline_to, 200u);
  EXPECT_EQ(r.timeline_step, 10u);
}

TEST_F(Experiments, PreemptIsForThosePoliciesThatUseIt) {
  const Experiment e = Make();
  EXPECT_EQ(ResolvePolicy("spatial", "drain", e).config.preempt, PreemptMode::kDrain);
  EXPECT_EQ(Refusal([&] { ResolvePolicy("smk", "drain", e); }),
            "--preempt: only the policies spatial, warped-slicer, warped-slicer+w, tokens use it, "
            "not smk");
  EXPECT_EQ(ResolvePolicy("warped-slicer", "switch", e).config.preempt, PreemptMode::kSwitch);
  EXPECT_EQ(ResolvePolicy("warped-slicer", std::nullopt, e).config.preempt, PreemptMode::kDrain);
  EXPECT_THAT(Refusal([&] { ResolvePolicy("warped-slicer", "flush", e); }),
              HasSubstr("takes switch, drain or chimera, not flush"));
  EXPECT_THAT(Refusal([&] { ResolvePolicy("spatial", "wait", e); }), HasSubstr("wait"));
  EXPECT_EQ(ResolvePolicy("smk", std::nullopt, e).name, "smk");
}

TEST(TraceNames, AreTakenApart) {
  EXPECT_TRUE(IsTraceName("trace:x"));
  EXPECT_FALSE(IsTraceName("x"));
  EXPECT_FALSE(IsTraceName("Trace:x"));
  EXPECT_EQ(ParseTraceName("trace:a/b").path, "a/b");
  EXPECT_EQ(ParseTraceName("trace:a/b").stream, 0u) << "all";
  EXPECT_EQ(ParseTraceName("trace:a/b:3").path, "a/b");
  EXPECT_EQ(ParseTraceName("trace:a/b:3").stream, 3u);
  EXPECT_EQ(ParseTraceName("trace:C:x").path, "C:x") << "no number";
  EXPECT_EQ(ParseTraceName("trace:a:").path, "a:");
}

TEST(TraceNames, MistakesAreTold) {
  EXPECT_EQ(Refusal([] { ParseTraceName("trace:"); }),
            "trace:: expected trace:FOLDER with a kernelslist.g");
  EXPECT_EQ(Refusal([] { ParseTraceName("trace::2"); }),
            "trace::2: expected trace:FOLDER with a kernelslist.g");
  EXPECT_EQ(Refusal([] { ParseTraceName("trace:a:0"); }),
            "stream of trace:a:0: expected a whole number from 1 to 65535, got '0'");
  EXPECT_EQ(Refusal([] { ParseTraceName("trace:a:65536"); }),
            "stream of trace:a:65536: expected a whole number from 1 to 65535, got '65536'");
}

class TraceFolders : public ScratchTest {};

TEST_F(TraceFolders, AFolderMayEndInANumber) {
  Write("a:3/kernelslist.g", "");
  EXPECT_EQ(ParseTraceName("trace:" + Path("a:3")).path, Path("a:3"));
  EXPECT_EQ(ParseTraceName("trace:" + Path("a:3") + ":4").stream, 4u);
}

TEST(TraceNames, PortableNamesAreAbsoluteAndStay) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(PortableTraceName("trace:x/../y:2"), "trace:" + here + "/y:2");
  EXPECT_EQ(PortableTraceName("trace:/t"), "trace:/t");
  EXPECT_EQ(PortableTraceName(PortableTraceName("trace:y:2")), PortableTraceName("trace:y:2"));
}

// A trace of so many streams.
TraceSet Streams(std::size_t count) {
  TraceSet set;
  for (std::size_t i = 0; i < count; ++i) {
    set.streams.push_back(FakeWorkload("s" + std::to_string(i + 1)));
  }
  return set;
}

TEST_F(Experiments, EveryStreamOfATraceIsAKernel) {
  backend.load_trace = [](const std::string&, const TraceReading&) { return Streams(2); };
  options.kernels = "trace:x+a";
  Experiment e = Make();
  EXPECT_THAT(e.names, ElementsAre("trace:x:1", "trace:x:2", "a"));
  EXPECT_THAT(e.labels, ElementsAre("s1", "s2", "a"));
  options.kernels = "trace:x:2";
  e = Make();
  EXPECT_THAT(e.names, ElementsAre("trace:x:2"));
  EXPECT_EQ(e.workloads[0]->name, "s2");
  options.kernels = "trace:x:3";
  EXPECT_EQ(Said(), "trace:x:3: there are only 2 streams");
  backend.load_trace = [](const std::string&, const TraceReading&) { return Streams(5); };
  options.kernels = "trace:x";
  EXPECT_EQ(Make().workloads.size(), 5u);
  backend.load_trace = [](const std::string&, const TraceReading&) { return Streams(1025); };
  EXPECT_EQ(Said(), "kernels: at most 1024 in a run, and every stream of a trace is one; got 1025");
}

TEST_F(Experiments, ATraceIsLoadedAsAskedFor) {
  TraceReading asked;
  backend.load_trace = [&](const std::string&, const TraceReading& how) {
    asked = how;
    TraceSet set = Streams(1);
    set.warning = "3 unknown opcodes";
    return set;
  };
  options.kernels = "trace:x";
  testing::internal::CaptureStderr();
  Make();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "smk: warning: 3 unknown opcodes\n");
  EXPECT_FALSE(asked.strict);
  EXPECT_TRUE(asked.cache);
  EXPECT_FALSE(asked.verify);
  options.strict = options.no_cache = options.verify = true;
  testing::internal::CaptureStderr();
  Make();
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(asked.strict);
  EXPECT_FALSE(asked.cache);
  EXPECT_TRUE(asked.verify);
}

}  // namespace
}  // namespace smk::sim
