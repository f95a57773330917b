// SPDX-License-Identifier: Apache-2.0
// What a user asked for, resolved: workloads and machine loaded, every name and number checked.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/backend.h"
#include "experiment/origins.h"
#include "experiment/policies.h"
#include "experiment/settings.h"
#include "host/host_scheduler.h"
#include "machine/lanes.h"

namespace smk::sim {

// The options of `run` and `compare` as text. Empty means not given: a configuration file or the
// default decides.
struct Options {
  std::optional<std::string> kernels;   // "sgemm+lbm"
  std::optional<std::string> policy;    // run
  std::optional<std::string> policies;  // compare
  std::optional<std::string> preempt;
  std::optional<std::string> control;
  std::optional<std::string> gates;
  std::optional<std::string> cycles;
  std::optional<std::string> until;
  std::optional<std::string> warm_up;
  std::optional<std::string> measure;
  std::optional<std::string> machine;
  std::optional<std::string> seed;
  std::vector<std::string> sets;
  Origins origins;  // of what comes from a file
  std::vector<std::string> arrivals;
  std::vector<std::string> clients;
  std::string config;  // file to take everything else from
  std::string out;
  std::optional<std::string> timeline;  // FROM:TO of the timeline; empty: the whole run
  std::string timeline_step;            // cycles between two samples of its counters
  std::optional<std::string> wave;      // FROM:TO of the waveform; empty: the whole run
  std::string jobs;
  bool quiet = false;
  bool no_repeat = false;
  bool no_cache = false;
  bool force = false;
  bool strict = false;  // unknown opcodes of a trace are errors
  bool verify = false;  // traces are read although they look as they did
};

// Jobs of a run.
inline constexpr std::size_t kMostJobs = 1024;

// Samples of an SM over a run: of what is recorded at most, and of a usual timeline.
inline constexpr std::size_t kMostSteps = 4000, kUsualMostSteps = 1000;

// Bytes between host and GPU.
struct JobCopies {
  std::uint64_t in = 0, out = 0;
  bool in_scales = false, out_scales = false;  // with the job's TBs, as its data do
  bool operator==(const JobCopies& o) const { return in == o.in && out == o.out; }
};

// `bytes` of the data of `whole`, for the TBs that `part` has of it; rounded up.
std::uint64_t BytesOfPart(std::uint64_t bytes, const Workload& whole, const Workload& part);

// A job that is not named by Options::kernels.
struct StreamJob {
  std::string name;  // of its workload, as given
  std::shared_ptr<const Workload> workload;
  Cycle arrival = 0;
  std::string client;
  JobCopies copies;
};

// What makes an experiment that of a stream of jobs.
struct StreamChoice {
  std::string name;              // of the stream; empty: there is none
  std::string scheduler;         // as given
  std::string device = "cycle";  // what executes it: cycle or replay
  std::function<std::unique_ptr<HostScheduler>()> make_scheduler;
  bool overlap_copies = true;
};

// A set of kernels on a machine, without the policy.
struct Experiment {
  std::vector<std::string> names;   // as given: names or paths
  std::vector<std::string> labels;  // for people: "sgemm", or "sgemm#1" and "sgemm#2"
  std::vector<std::shared_ptr<const Workload>> workloads;
  std::vector<Cycle> arrivals;
  std::vector<std::string> clients;  // whose jobs they are; empty: that of the workload's name
  std::vector<JobCopies> copies;     // of a stream's jobs; empty: none
  std::string machine_name;          // as given
  std::string machine_path;
  std::shared_ptr<const LoadedMachine> loaded_machine;
  MachineConfig machine;
  std::string machine_toml;
  ControlKind control = ControlKind::kReference;
  std::vector<std::string> gates;  // blocks that are netlists in the RTL
  std::string rtl_object;          // the shared object that has them, once it is there
  std::string rtl_name;            // RtlName() of RTL that was built; "": it comes with the program
  ControlConfig control_config;
  std::vector<KnobSetting> settings;  // what the user set of the knobs
  RunConfig run_config;
  Cycle cycles = 0;
  std::uint64_t seed = 0;
  std::string cache;  // where things are kept between runs; "": nowhere
  bool repeat = true;
  Cycle timeline_from = 0, timeline_to = ~Cycle{0}, timeline_step = 0;
  std::size_t timeline_most_steps = kMostSteps;  // then steps become twice as long
  WaveRequest wave;
  StreamChoice stream;
  std::string workload_name() const;  // "sgemm+lbm", or the stream's
  ControlChoice control_choice() const { return {control, rtl_object}; }
};

// What these options say, the file does not.
void ForgetGiven(const Options& options, Origins* origins);

// Loads and checks everything; throws InputError.
Experiment Resolve(const Options& options, const Backend& backend);

// The same with jobs of a stream instead of Options::kernels, each executed once.
Experiment ResolveStream(const Options& options, const std::vector<StreamJob>& jobs,
                         const Backend& backend, Cycle most_cycles = kMaxRunCycles);

// What holds of the run when nothing is set: the programs `names` say how it ends.
RunConfig UsualRunConfig(const std::vector<std::string>& names);

// Everything in effect under a policy; and in the isolated runs, which only some knobs concern.
Configuration InEffect(const Experiment& experiment, const PolicyConfig& policy);
Configuration InEffectAlone(const Experiment& experiment);

// The policy with the user's settings applied; throws InputError when it does not suit the kernels.
Policy ResolvePolicy(const std::string& text, const std::optional<std::string>& preempt,
                     const Experiment& experiment);

}  // namespace smk::sim
