// SPDX-License-Identifier: Apache-2.0
#include "sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "experiment/kernel_names.h"
#include "experiment/requests.h"
#include "experiment/trace_name.h"
#include "run/oracle.h"
#include "serve/tenant_spec.h"
#include "sweep/mixes.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostRuns = 1'000'000;  // of a specification

// Of what --set can change, what an isolated run depends on: the machine and some knobs.
bool MattersAlone(const std::string& set) {
  const Knob* knob = FindKnob(set.substr(0, set.find('=')));
  return knob == nullptr || knob->alone;
}

// Whether a policy of a specification uses the key `preempt`; not if there is no such policy.
bool PolicyUsesPreempt(const SpecText& policy) {
  const auto& all = Policies();
  return std::any_of(all.begin(), all.end(), [&](const PolicyInfo& each) {
    return each.name == policy.text && UsesPreempt(each.config);
  });
}

// The option of `smk sweep` that says the same as a key of a specification.
std::string OptionOf(const std::string& key) {
  if (key.rfind("set.", 0) == 0) return "--set " + key.substr(4);
  if (key == "machines") return "--machine";
  if (key == "seeds") return "--seed";
  for (const char* other : {"policies", "preempt", "control", "cycles", "until"}) {
    if (key == other) return "--" + key;
  }
  return key;
}

// Fills a plan from the experiments, one after another.
class Expander {
 public:
  Expander(const SweepSpec& spec, const Backend& backend)
      : spec_(spec), backend_(backend), folder_(fs::path(spec.path).parent_path()) {}

  SweepPlan Take() {
    plan_.name = spec_.name;
    CheckPreempt();
    CheckSize();
    for (const SpecExperiment& experiment : spec_.experiments) Expand(experiment);
    return std::move(plan_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& key, unsigned line, const std::string& what) const {
    std::string text = what;
    // The name of an option in front says nothing here.
    if (text.rfind("--", 0) == 0 && text.find(": ") != std::string::npos) {
      text = text.substr(text.find(": ") + 2);
    }
    if (spec_.path.empty()) throw InputError(fmt::format("{}: {}", OptionOf(key), text));
    const unsigned shown = line != 0 ? line : std::max(experiment_->line, 1u);
    throw InputError(
        fmt::format("{}:{}: {}{}: {}", spec_.path, shown, experiment_->prefix, key, text));
  }
  // Calls `look`, and says where in the file it was when it fails.
  template <typename Look>
  auto At(const char* key, const SpecText& text, const Look& look) const {
    try {
      return look();
    } catch (const InputError& error) {
      Refuse(key, text.line, error.what());
    }
  }

  // Files are looked for beside the specification.
  std::string Located(const std::string& name) const {
    const bool trace = IsTraceName(name);
    const bool file = name.size() > 5 && name.substr(name.size() - 5) == ".toml";
    const std::string path = trace ? name.substr(name.find(':') + 1) : name;
    if ((!file && !trace) || fs::path(path).is_absolute()) return name;
    const std::string located = fs::absolute(folder_ / path).lexically_normal().string();
    return trace ? name.substr(0, name.find(':') + 1) + located : located;
  }

  // Refuses a key `preempt` that no experiment with a policy that uses it sees.
  void CheckPreempt() {
    std::set<unsigned> used;
    for (const SpecExperiment& e : spec_.experiments) {
      const bool any = std::any_of(e.policies.begin(), e.policies.end(), PolicyUsesPreempt);
      if (any && !e.preempt.empty()) used.insert(e.preempt.front().line);
    }
    for (const SpecExperiment& e : spec_.experiments) {
      experiment_ = &e;
      if (!e.preempt.empty() && used.count(e.preempt.front().line) == 0) {
        Refuse("preempt", e.preempt.front().line, WhoUsesPreempt() + "; expected one of them");
      }
    }
  }
  // Refuses what could not be listed, or made in years, before it takes room.
  void CheckSize() {
    double runs = 0;
    for (const SpecExperiment& experiment : spec_.experiments) {
      experiment_ = &experiment;
      double each = 0;
      for (const SpecText& policy : experiment.policies) {
        const bool several = PolicyUsesPreempt(policy) && !experiment.preempt.empty();
        each += several ? static_cast<double>(experiment.preempt.size()) : 1;
      }
      for (const Axis& axis : AllAxes()) each *= static_cast<double>(axis.values.size());
      for (const SpecText& item : experiment.workloads) {
        const auto mix = ParseMixName(item.text);
        const double sets = mix ? Sets(mix->size) : 1;
        if (sets > kMostRuns) {
          Refuse("kernels", item.line,
                 fmt::format("expected kernels of at most {} sets, got {:.0f}", kMostRuns, sets));
        }
        runs += each * (mix && mix->random ? static_cast<double>(experiment.count) : sets);
        if (runs > kMostRuns) {
          Refuse(
              "workloads", item.line,
              fmt::format("expected at most {} runs, got {:.0f}{}", kMostRuns, runs,
                          &item == &spec_.experiments.back().workloads.back() ? "" : " and more"));
        }
      }
      for (const auto* list : {&experiment.schedulers, &experiment.devices}) {
        each *= static_cast<double>(std::max<std::size_t>(1, list->size()));
      }
      runs += each * static_cast<double>(experiment.streams.size());
      if (runs > kMostRuns) {
        Refuse("streams", experiment.streams.front().line,
               fmt::format("expected at most {} runs, got {:.0f}", kMostRuns, runs));
      }
    }
  }
  // How many sets of so many kernels there are.
  double Sets(unsigned size) const {
    std::size_t kernels = experiment_->kernels.size();
    if (kernels == 0) kernels = backend_.list_workloads().size();
    double sets = 1;
    for (unsigned i = 0; i < size && i < kernels; ++i) {
      sets *= static_cast<double>(kernels - i) / (i + 1);
    }
    return sets;
  }

  std::vector<MixKernel> Pool() const {
    std::vector<MixKernel> pool;
    const auto add = [&](const std::string& name, const SpecText& where) {
      const auto workload =
          At("kernels", where, [&] { return backend_.find_workload(Located(name)); });
      pool.push_back({Located(name), workload->type == "compute" ? 'C' : 'M'});
    };
    for (const SpecText& kernel : experiment_->kernels) add(kernel.text, kernel);
    if (pool.empty()) {
      for (const std::string& name : backend_.list_workloads()) {
        if (name.rfind("parboil/", 0) == 0) add(name.substr(8), {});
      }
    }
    return pool;
  }

  std::vector<std::string> Mixes(const SpecText& item, const MixName& mix) const {
    const std::vector<MixKernel> pool = Pool();
    auto mixes = AllMixes(pool.size(), mix.size);
    if (mixes.empty()) Refuse("kernels", item.line, "expected more kernels to choose from");
    if (mix.random) {
      if (experiment_->count == 0) {
        Refuse("count", item.line, fmt::format("expected a number of workloads for {}", item.text));
      }
      if (experiment_->count > mixes.size()) {
        Refuse("count", experiment_->count_line,
               fmt::format("expected at most {}, there are no more", mixes.size()));
      }
      mixes = RandomMixes(pool, mix.size, experiment_->count, experiment_->mix_seed);
    }
    std::vector<std::string> workloads;
    workloads.reserve(mixes.size());
    for (const auto& indices : mixes) {
      std::vector<std::string> names;
      names.reserve(indices.size());
      for (const std::size_t index : indices) names.push_back(pool[index].name);
      workloads.push_back(JoinKernels(names));
    }
    return workloads;
  }

  // All workloads of the experiment, as the command line would have them.
  std::vector<SpecText> Workloads() const {
    std::vector<SpecText> workloads;
    for (const SpecText& item : experiment_->workloads) {
      if (const auto mix = ParseMixName(item.text)) {
        for (const std::string& text : Mixes(item, *mix)) workloads.push_back({text, item.line});
        continue;
      }
      std::vector<std::string> names = SplitKernels(item.text);
      for (std::string& name : names) {
        name = Located(name);
        At("workloads", item, [&] { return backend_.find_workload(name); });
      }
      workloads.push_back({JoinKernels(names), item.line});
    }
    return workloads;
  }

  bool Wanted(const Experiment& e) const {
    const std::string group = GroupName(e);
    return experiment_->groups.empty() ||
           std::any_of(
               experiment_->groups.begin(), experiment_->groups.end(), [&](const SpecText& wanted) {
                 std::string letters = wanted.text;
                 letters.erase(std::remove(letters.begin(), letters.end(), '+'), letters.end());
                 return MixGroup(letters) == group;
               });
  }

  void Expand(const SpecExperiment& experiment) {
    experiment_ = &experiment;
    const std::size_t before = plan_.members.size();
    for (const SpecText& machine : experiment.machines) {
      At("machines", machine, [&] { return backend_.find_machine(Located(machine.text)); });
    }
    for (const SpecText& control : experiment.control) {
      At("control", control, [&] { return ParseControl(control.text); });
    }
    for (const SpecText& preempt : experiment.preempt) {
      At("preempt", preempt, [&] { return ParsePreempt(preempt.text); });
    }
    const std::vector<Axis> axes = AllAxes();
    for (const SpecText& stream : experiment.streams) StreamProduct(axes, 0, {}, stream);
    for (const SpecText& workload : experiment.streams.empty() ? Workloads() : NoTexts()) {
      Options options;
      options.kernels = workload.text;
      options.no_repeat = !experiment.repeat;
      for (const SpecText& arrive : experiment.arrive) options.arrivals.push_back(arrive.text);
      Product(axes, 0, options, workload);
    }
    if (plan_.members.size() == before) {
      Refuse("groups", experiment.groups.front().line,
             "expected a group that some workload belongs to; nothing is left to run");
    }
  }

  // One axis of the product: its values, and where a value goes.
  struct Axis {
    std::vector<std::string> values;
    std::function<void(const std::string& value, Options* options)> put;
  };
  std::vector<Axis> AllAxes() const {
    std::vector<Axis> axes;
    const auto plain = [&](const std::vector<SpecText>& texts,
                           std::optional<std::string> Options::*member) {
      if (!experiment_->streams.empty() && texts.front().line == 0) return;  // as its file says
      axes.push_back(
          {{}, [member](const std::string& value, Options* options) { options->*member = value; }});
      for (const SpecText& text : texts) axes.back().values.push_back(Located(text.text));
    };
    plain(experiment_->machines, &Options::machine);
    plain(experiment_->control, &Options::control);
    plain(experiment_->cycles, &Options::cycles);
    if (!experiment_->until.empty()) plain(experiment_->until, &Options::until);
    plain(experiment_->seeds, &Options::seed);
    for (const SpecAxis& set : experiment_->set) {
      axes.push_back({{}, [key = set.key](const std::string& value, Options* options) {
                        options->sets.push_back(key + "=" + value);
                      }});
      for (const SpecText& text : set.values) axes.back().values.push_back(text.text);
    }
    return axes;
  }
  // The product of everything but workloads and policies, one axis after another.
  void Product(const std::vector<Axis>& axes, std::size_t axis, const Options& options,
               const SpecText& workload) {
    if (axis == axes.size()) {
      Policies(options, workload);
      return;
    }
    for (const std::string& value : axes[axis].values) {
      Options with = options;
      axes[axis].put(value, &with);
      Product(axes, axis + 1, with, workload);
    }
  }

  static std::vector<SpecText> NoTexts() { return {}; }

  // The same of a stream.
  void StreamProduct(const std::vector<Axis>& axes, std::size_t axis, const Options& options,
                     const SpecText& stream) {
    if (axis == axes.size()) {
      Schedulers(options, stream);
      return;
    }
    for (const std::string& value : axes[axis].values) {
      Options with = options;
      axes[axis].put(value, &with);
      StreamProduct(axes, axis + 1, with, stream);
    }
  }

  void Schedulers(const Options& options, const SpecText& stream) {
    const auto or_none = [](const std::vector<SpecText>& texts) {
      return texts.empty() ? std::vector<SpecText>{{"", 0}} : texts;
    };
    if (IsTenantSpec(Located(stream.text))) {
      Refuse("streams", stream.line,
             stream.text + " has clients with scripts; expected a stream of jobs");
    }
    for (const SpecText& scheduler : or_none(experiment_->schedulers)) {
      for (const SpecText& device : or_none(experiment_->devices)) {
        for (const SpecText& policy : StreamPolicies()) {
          AddStream(options, {Located(stream.text), scheduler.text, device.text}, policy, stream);
        }
      }
    }
  }
  // "": as the stream's file says.
  std::vector<SpecText> StreamPolicies() const {
    return experiment_->policies.front().line == 0 ? std::vector<SpecText>{{"", 0}}
                                                   : experiment_->policies;
  }

  void AddStream(const Options& options, const SweepStream& stream, const SpecText& policy,
                 const SpecText& where) {
    const auto prepare = [&](const std::string& preempt) {
      Options with = options;
      if (!policy.text.empty()) with.policy = policy.text;
      if (!preempt.empty()) with.preempt = preempt;
      try {
        return ServingOf(stream, with, backend_);
      } catch (const InputError& error) {
        RefuseServing(error.what(), where);
      }
    };
    const Serving usual = prepare("");
    const std::vector<std::string> isolated = AddJobsAlone(options, usual, stream.path);
    const bool several = UsesPreempt(usual.policy.config) && !experiment_->preempt.empty();
    for (const SpecText& preempt : PreemptsOf(usual.policy)) {
      const Serving serving = several ? prepare(preempt.text) : usual;
      SweepRun run;
      run.options = Named(options, serving);
      run.policy = serving.policy.name;
      run.preempt = UsesPreempt(serving.policy.config) ? Name(serving.policy.config.preempt) : "";
      run.stream = {stream.path, serving.scheduler.text, Name(serving.device.kind)};
      run.isolated = isolated;
      const LoadedRun loaded = LoadStream(run, serving);
      Add(std::move(run), loaded);
    }
  }

  // With the machine, control plane, length and seed that the stream's file may say.
  static Options Named(const Options& options, const Serving& serving) {
    Options named = options;
    named.machine = serving.options.machine;
    named.control = serving.options.control;
    named.cycles = serving.options.cycles;
    named.seed = serving.options.seed;
    return named;
  }

  // The isolated runs of a stream's jobs, by job.
  std::vector<std::string> AddJobsAlone(const Options& options, const Serving& serving,
                                        const std::string& path) {
    std::vector<std::string> ids;
    for (std::size_t job = 0; job < serving.jobs.size(); ++job) {
      const std::size_t first = FirstAlike(serving.experiment, job);
      if (first != job) {
        ids.push_back(ids[first]);
        continue;
      }
      SweepRun run;
      run.options = Named(options, serving);
      run.options.sets.clear();
      std::copy_if(options.sets.begin(), options.sets.end(), std::back_inserter(run.options.sets),
                   MattersAlone);
      run.policy = "isolated";
      run.stream = {path, "sequential", Name(serving.device.kind), job};
      ids.push_back(AddOneIsolated(std::move(run)));
    }
    return ids;
  }

  // Where an error of PrepareServing comes from, as far as its text tells.
  [[noreturn]] void RefuseServing(const std::string& what, const SpecText& stream) const {
    const auto begins = [&](const char* option) { return what.rfind(option, 0) == 0; };
    const auto line = [](const std::vector<SpecText>& texts) {
      return texts.empty() ? 0 : texts.front().line;
    };
    if (begins("--scheduler") && !experiment_->schedulers.empty()) {
      Refuse("schedulers", line(experiment_->schedulers), what);
    }
    if (begins("--device") && !experiment_->devices.empty()) {
      Refuse("devices", line(experiment_->devices), what);
    }
    if (begins("--policy") && line(experiment_->policies) != 0) {
      Refuse("policies", line(experiment_->policies), what);
    }
    RefuseResolve(what, stream, "streams");
  }

  // Where an error of Resolve comes from, as far as its text tells.
  [[noreturn]] void RefuseResolve(const std::string& what, const SpecText& workload,
                                  const char* key = "workloads") const {
    const auto begins = [&](const char* option) { return what.rfind(option, 0) == 0; };
    if (begins("--control")) Refuse("control", experiment_->control.front().line, what);
    if (begins("--cycles")) Refuse("cycles", experiment_->cycles.front().line, what);
    if (begins("--until")) Refuse("until", experiment_->until.front().line, what);
    if (begins("--seed")) Refuse("seeds", experiment_->seeds.front().line, what);
    if (begins("--arrive")) Refuse("arrive", experiment_->arrive.front().line, what);
    for (const SpecAxis& axis : experiment_->set) {
      if (what.find(axis.key) != std::string::npos) {
        Refuse("set." + axis.key, axis.values.front().line, what);
      }
    }
    Refuse(key, workload.line, what);
  }

  void Policies(const Options& options, const SpecText& workload) {
    Experiment resolved;
    try {
      resolved = Resolve(options, backend_);
    } catch (const InputError& error) {
      RefuseResolve(error.what(), workload);
    }
    if (!Wanted(resolved)) return;
    const std::vector<std::string> isolated = AddIsolated(options, resolved);
    for (const SpecText& text : experiment_->policies) {
      for (const Policy& policy : PoliciesOf(text, resolved)) {
        if (policy.time_shared) continue;  // the isolated runs are it
        for (const SpecText& preempt : PreemptsOf(policy)) {
          SweepRun run;
          run.options = options;
          run.policy = policy.name;
          run.preempt = preempt.text;
          run.isolated = isolated;
          const LoadedRun loaded = LoadShared(run, resolved);
          Add(std::move(run), loaded);
        }
      }
    }
  }

  // The one of this name, or all of which the oracle is the best.
  std::vector<Policy> PoliciesOf(const SpecText& text, const Experiment& resolved) const {
    return At("policies", text, [&]() -> std::vector<Policy> {
      if (text.text == kOracle) return OracleCandidates(resolved);
      return {ResolvePolicy(text.text, std::nullopt, resolved)};
    });
  }

  // How TBs leave under a policy: as the experiment says, else as usual for the policy.
  std::vector<SpecText> PreemptsOf(Policy policy) const {
    if (!UsesPreempt(policy.config)) return {{"", 0}};
    if (experiment_->preempt.empty()) return {{Name(policy.config.preempt), 0}};
    for (const SpecText& text : experiment_->preempt) {
      policy.config.preempt = ParsePreempt(text.text);
      At("preempt", text, [&] { sim::CheckPreempt(policy); });
    }
    return experiment_->preempt;
  }

  std::vector<std::string> AddIsolated(const Options& options, const Experiment& resolved) {
    std::vector<std::string> ids;
    for (const std::string& name : resolved.names) {
      SweepRun run;
      run.options = options;
      run.options.kernels = JoinKernels({name});
      run.options.arrivals.clear();
      run.options.until = Name(InEffectAlone(resolved).run.until);
      run.options.sets.clear();
      std::copy_if(options.sets.begin(), options.sets.end(), std::back_inserter(run.options.sets),
                   MattersAlone);
      run.policy = "isolated";
      ids.push_back(AddOneIsolated(std::move(run)));
    }
    return ids;
  }

  // The same kernel alone is asked for by many runs.
  std::string AddOneIsolated(SweepRun run) {
    const Options& o = run.options;
    std::vector<std::string> key = o.sets;
    for (const auto& text : {o.kernels, o.machine, o.control, o.cycles, o.seed, o.until}) {
      key.push_back(text.value_or(""));
    }
    key.emplace_back(o.no_repeat ? "once" : "");
    if (run.stream) {
      key.insert(key.end(),
                 {run.stream->path, run.stream->device, std::to_string(*run.stream->alone)});
    }
    std::string& id = isolated_[key];
    if (id.empty()) {
      const LoadedRun loaded = LoadRun(run, backend_);
      id = Add(std::move(run), loaded);
    } else {
      AddMember(index_.at(id));
    }
    return id;
  }

  // Gives the run its id and names, and takes it up unless it is there; gives the id.
  std::string Add(SweepRun run, const LoadedRun& loaded) {
    run.id = RunId(run, loaded);
    if (run.is_isolated()) run.isolated = {run.id};
    const auto [place, added] = index_.emplace(run.id, plan_.runs.size());
    if (added) {
      NameRun(loaded, backend_, &run);
      plan_.runs.push_back(std::move(run));
    }
    AddMember(place->second);
    return place->first;
  }
  void AddMember(std::size_t run) {
    if (member_.emplace(experiment_->name, run).second) {
      plan_.members.push_back({experiment_->name, run});
    }
  }

  const SweepSpec& spec_;
  const Backend& backend_;
  const fs::path folder_;
  const SpecExperiment* experiment_ = nullptr;
  SweepPlan plan_;
  std::map<std::string, std::size_t> index_;
  std::map<std::vector<std::string>, std::string> isolated_;  // ids, by what decides the run
  std::set<std::pair<std::string, std::size_t>> member_;
};

}  // namespace

SweepPlan ExpandSweep(const SweepSpec& spec, const Backend& backend) {
  return Expander(spec, backend).Take();
}

}  // namespace smk::sim
