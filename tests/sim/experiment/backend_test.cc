// SPDX-License-Identifier: Apache-2.0
// The simulator itself behind the seam: names and files of the data folder, and the three control
// planes, which agree whatever is set.
#include "experiment/backend.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiment/requests.h"
#include "model/workload/rig.h"
#include "sim/other_value.h"
#include "sim/refusal.h"
#include "sim/scratch.h"
#include "trace/export.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Backends : public ScratchTest {
 protected:
  // What a run says, short enough for all knobs.
  RunResult Run(ControlKind kind, const std::vector<std::string>& sets = {},
                const std::string& policy = "smk-pw", const std::string& kernels = "lbm+sgemm",
                const std::optional<std::string>& preempt = std::nullopt) const {
    Options options;
    options.kernels = kernels;
    options.cycles = preempt ? "8000" : "2000";
    options.sets = sets;
    options.no_repeat = true;
    const Experiment experiment = Resolve(options, backend);
    const Policy chosen = ResolvePolicy(policy, preempt, experiment);
    RunRequest request = SharedRequest(experiment, chosen, {});
    request.wave = wave;
    return backend.run(request, kind, experiment.control_config);
  }
  static std::vector<std::uint64_t> Numbers(const RunResult& result) {
    std::vector<std::uint64_t> numbers = {result.warp_instructions, result.dram_row_hits};
    for (const KernelStats& kernel : result.kernels) {
      numbers.insert(numbers.end(), {kernel.warp_instructions, kernel.tbs_completed,
                                     kernel.preemptions, kernel.dram_read_bytes});
      numbers.insert(numbers.end(), kernel.stalls.begin(), kernel.stalls.end());
    }
    return numbers;
  }

  const Backend backend = MakeBackend();
  WaveRequest wave;
};

TEST_F(Backends, EveryListedNameCanBeLoaded) {
  EXPECT_GE(backend.list_workloads().size(), 10u);
  for (const std::string& name : backend.list_workloads()) {
    const auto workload = backend.find_workload(name);
    EXPECT_EQ(name.substr(name.find('/') + 1), workload->name);
    EXPECT_EQ(backend.find_workload(workload->source_file)->content_hash, workload->content_hash)
        << "by its path";
  }
  EXPECT_GE(backend.list_machines().size(), 6u);
  for (const std::string& name : backend.list_machines()) {
    const std::string path = backend.find_machine(name);
    EXPECT_EQ(backend.find_machine(path), path) << "by its path";
    const MachineConfig machine = backend.load_machine(path, {});
    EXPECT_EQ(machine.name, name);
    const std::string text = backend.machine_toml(machine);
    EXPECT_EQ(backend.machine_toml(MachineConfig::Parse(text, "text")), text);
  }
}

TEST_F(Backends, UnknownNamesAreRefused) {
  EXPECT_THAT(Refusal([&] { backend.find_workload("sgem"); }), HasSubstr("sgem"));
  EXPECT_THAT(Refusal([&] { backend.find_machine("gtx98"); }), HasSubstr("gtx98"));
  EXPECT_THAT(Refusal([&] { backend.find_workload(Path("no.toml")); }), HasSubstr("no.toml"));
  EXPECT_THAT(Refusal([&] { backend.load_machine(Path("no.toml"), {}); }), HasSubstr("no.toml"));
}

TEST_F(Backends, NamesNeedTheDataFolderAndPathsDoNot) {
  const std::string sgemm = backend.find_workload("sgemm")->source_file;
  const std::string small = backend.find_machine("mini");
  const Environment data("SMK_DATA_DIR", Path("gone"));
  EXPECT_EQ(DataDir(), Path("gone"));
  const Backend without = MakeBackend();
  EXPECT_EQ(without.data_dir, Path("gone"));
  const std::string said =
      Path("gone") + ": no such folder; set SMK_DATA_DIR to the one with machines/ and workloads/";
  EXPECT_EQ(Refusal([&] { without.find_workload("sgemm"); }), said);
  EXPECT_EQ(Refusal([&] { without.find_machine("mini"); }), said);
  EXPECT_EQ(without.find_workload(sgemm)->name, "sgemm");
  EXPECT_EQ(without.load_machine(without.find_machine(small), {}).name, "mini");
}

TEST_F(Backends, AnEmptyVariableIsNone) {
  const std::string usual = backend.data_dir;
  const Environment data("SMK_DATA_DIR", "");
  EXPECT_EQ(DataDir(), usual);
}

TEST_F(Backends, FilesOfTheDataFolderAreFoundByName) {
  Write("machines/mine.toml", backend.machine_toml([] {
    MachineConfig machine;
    machine.name = "mine";
    return machine;
  }()));
  const Environment data("SMK_DATA_DIR", folder().string());
  const Backend mine = MakeBackend();
  EXPECT_THAT(mine.list_machines(), ElementsAre("mine"));
  EXPECT_EQ(mine.find_machine("mine"), Path("machines/mine.toml"));
  EXPECT_EQ(mine.load_machine(mine.find_machine("mine"), {"sms=8"}).sms, 8u);
}

TEST_F(Backends, AStreamOfATraceIsAWorkload) {
  TraceExport what;
  what.folder = Path("trace");
  what.tbs = 2;
  what.max_instructions = 50;
  ExportTrace(*backend.find_workload("sgemm"), what);
  const Environment cache("SMK_CACHE_DIR", Path("cache"));
  const std::string name = "trace:" + Path("trace");
  const auto workload = backend.find_workload(name);
  EXPECT_EQ(workload->content_hash, backend.find_workload(name + ":1")->content_hash);
  EXPECT_EQ(Refusal([&] { backend.find_workload(name + ":2"); }),
            name + ":2: expected one of its 1 streams, such as trace:FOLDER:1");
  EXPECT_FALSE(backend.load_trace(Path("trace"), {false, false}).from_cache);
  EXPECT_TRUE(backend.load_trace(Path("trace"), {}).from_cache) << "kept by the first";
}

TEST_F(Backends, TheControlPlanesAgree) {
  std::vector<std::string> policies = DefaultPolicies();
  policies.emplace_back("tokens");
  for (const std::string& policy : policies) {
    if (policy == "isolated") continue;
    SCOPED_TRACE(policy);
    const RunResult reference = Run(ControlKind::kReference, {}, policy);
    const RunResult rtl = Run(ControlKind::kRtl, {}, policy);
    const RunResult compiled = Run(ControlKind::kCompiled, {}, policy);
    const RunResult both = Run(ControlKind::kLockstep, {}, policy);
    const RunResult both_compiled = Run(ControlKind::kLockstepCompiled, {}, policy);
    EXPECT_GT(reference.warp_instructions, 1000u);
    EXPECT_EQ(Numbers(rtl), Numbers(reference));
    EXPECT_EQ(Numbers(compiled), Numbers(reference));
    EXPECT_EQ(Numbers(both), Numbers(reference));
    EXPECT_EQ(Numbers(both_compiled), Numbers(reference));
    EXPECT_EQ(reference.lockstep_events, 0u);
    EXPECT_EQ(rtl.lockstep_events, 0u);
    EXPECT_GT(both.lockstep_events, 10'000u);
    // Fewer: those of an ordinary cycle of an SM are grants and quotas.
    EXPECT_GT(both_compiled.lockstep_events, 10'000u);
    EXPECT_LT(both_compiled.lockstep_events, both.lockstep_events);
  }
}

// A knob that does not reach the RTL is found by the lockstep, in a run in which it matters.
TEST_F(Backends, EveryKnobReachesTheRtl) {
  TestFile tiny;  // it ends early
  tiny.grid = "grid = [64]";
  const std::string ends = "lbm+" + Write("tiny.toml", tiny.Text());
  // Here one kernel waits for the other to spend its quota.
  const std::string waits = "lbm+sgemm";
  const std::string sampled = "knn+nn";
  // Profiles of several windows that end within the run, and plans that are in force at once.
  const std::vector<std::string> profiles = {"policy.slicer_warmup=600", "policy.slicer_settle=30",
                                             "policy.slicer_window=60", "policy.slicer_sustain=1"};
  // Tokens that change hands within the run.
  const std::vector<std::string> tokens = {"policy.token_quota=300", "policy.token_window=12",
                                           "policy.token_request=50,100"};
  enum class Under { kQuotas, kSlicer, kTokens, kChimera };
  const auto run = [&](ControlKind kind, const std::string& kernels, const std::string& more,
                       Under under) {
    std::vector<std::string> sets = {"policy.epoch_length=200"};
    if (under == Under::kSlicer) sets.insert(sets.end(), profiles.begin(), profiles.end());
    if (under >= Under::kTokens) sets.insert(sets.end(), tokens.begin(), tokens.end());
    if (!more.empty()) sets.push_back(more);
    if (under == Under::kChimera) return Numbers(Run(kind, sets, "tokens", kernels, "chimera"));
    if (under == Under::kTokens) return Numbers(Run(kind, sets, "tokens", kernels));
    if (under == Under::kSlicer)
      return Numbers(Run(kind, sets, "warped-slicer", kernels, "switch"));
    return Numbers(Run(kind, sets, "smk-pw", kernels));
  };
  for (const Knob* knob : SettableKnobs()) {
    const bool slicer = knob->path.rfind("policy.slicer_", 0) == 0;
    const bool token = knob->path.rfind("policy.token_", 0) == 0;
    const bool chimera = knob->path.rfind("policy.chimera_", 0) == 0;
    const Under under = chimera  ? Under::kChimera
                        : token  ? Under::kTokens
                        : slicer ? Under::kSlicer
                                 : Under::kQuotas;
    // A delay of 1 is none, and in a token of one cycle nothing is done.
    const std::string value = knob->path == "policy.slicer_delay"  ? "300"
                              : knob->path == "policy.token_quota" ? "900"
                              : chimera                            ? "0"
                                                                   : OtherValue(*knob);
    const std::string set = knob->path + "=" + value;
    const bool needs_quotas = knob->path == "policy.epoch_end" || knob->path == "policy.quota_gate";
    const std::string& kernels = slicer ? sampled : needs_quotas || token || chimera ? waits : ends;
    // The length of a link is for a run to choose, the size of the control logic is not.
    const bool link = knob->path.rfind("control.link_", 0) == 0;
    SCOPED_TRACE(set);
    if (knob->section() == "control" && !link) {
      EXPECT_THAT(Refusal([&] { run(ControlKind::kRtl, kernels, set, under); }),
                  StartsWith("rtl: control.preempted_depth must be a power of two"));
      continue;
    }
    const auto changed = run(ControlKind::kReference, kernels, set, under);
    EXPECT_EQ(run(ControlKind::kLockstep, kernels, set, under), changed);
    if (knob->section() != "policy" && knob->path != "control.link_stages") continue;
    // Usage of a window matters after longer than this run: tb_token_arbiter and tb_driver show it.
    if (knob->path == "policy.token_window" || knob->path == "policy.token_limit") continue;
    // TBs this young are dropped under any limit: Flags.ChimeraKeepsItsLimitInTheRtl runs longer.
    if (knob->path == "policy.chimera_limit") continue;
    // On demand, and under left-over only: Flags.RoomIsGuardedInTheRtl,
    // Flags.StrictLeftoverHoldsTheSecondKernelBackInTheRtl.
    if (knob->path == "policy.preempt_guard" || knob->path == "policy.leftover_strict") continue;
    EXPECT_NE(changed, run(ControlKind::kReference, kernels, "", under)) << "it matters here";
  }
}

TEST_F(Backends, TheRtlDrawsAWaveAndTheReferenceDoesNot) {
  wave = {Path("wave.fst"), 10, 20};
  Run(ControlKind::kReference);
  EXPECT_FALSE(Exists("wave.fst"));
  const RunResult drawn = Run(ControlKind::kRtl);
  EXPECT_TRUE(Exists("wave.fst"));
  wave = {};
  EXPECT_EQ(Numbers(drawn), Numbers(Run(ControlKind::kRtl))) << "looking changes nothing";
}

}  // namespace
}  // namespace smk::sim
