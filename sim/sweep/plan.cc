// SPDX-License-Identifier: Apache-2.0
#include "sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "experiment/kernel_names.h"
#include "experiment/requests.h"
#include "experiment/trace_name.h"
#include "run/oracle.h"
#include "serve/tenant_spec.h"
#include "sweep/mixes.h"
#include "sweep/plan_builder.h"
#include "sweep/spec_kernels.h"
#include "sweep/spec_place.h"

namespace smk::sim {
namespace {

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

// Fills a plan from the experiments, one after another.
class Expander {
 public:
  Expander(const SweepSpec& spec, const Backend& backend)
      : spec_(spec), backend_(backend), place_(spec), builder_(spec.name, backend) {}

  SweepPlan Take() {
    CheckPreempt();
    CheckSize();
    for (const SpecExperiment& experiment : spec_.experiments) Expand(experiment);
    return builder_.Take();
  }

 private:
  // Refuses a key `preempt` that no experiment with a policy that uses it sees.
  void CheckPreempt() {
    std::set<unsigned> used;
    for (const SpecExperiment& e : spec_.experiments) {
      const bool any = std::any_of(e.policies.begin(), e.policies.end(), PolicyUsesPreempt);
      if (any && !e.preempt.empty()) used.insert(e.preempt.front().line);
    }
    for (const SpecExperiment& e : spec_.experiments) {
      Enter(e);
      if (!e.preempt.empty() && used.count(e.preempt.front().line) == 0) {
        place_.Refuse("preempt", e.preempt.front().line,
                      WhoUsesPreempt() + "; expected one of them");
      }
    }
  }
  // Refuses what could not be listed, or made in years, before it takes room.
  void CheckSize() {
    double runs = 0;
    for (const SpecExperiment& experiment : spec_.experiments) {
      Enter(experiment);
      double each = 0;
      for (const SpecText& policy : experiment.policies) {
        const bool several = PolicyUsesPreempt(policy) && !experiment.preempt.empty();
        each += several ? static_cast<double>(experiment.preempt.size()) : 1;
      }
      for (const Axis& axis : AllAxes()) each *= static_cast<double>(axis.values.size());
      for (const SpecText& item : experiment.workloads) {
        const auto mix = ParseMixName(item.text);
        const double sets = mix ? SetsOf(mix->size, place_, backend_) : 1;
        if (sets > kMostRuns) {
          place_.Refuse(
              "kernels", item.line,
              fmt::format("expected kernels of at most {} sets, got {:.0f}", kMostRuns, sets));
        }
        runs += each * (mix && mix->random ? static_cast<double>(experiment.count) : sets);
        if (runs > kMostRuns) {
          place_.Refuse(
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
        place_.Refuse("streams", experiment.streams.front().line,
                      fmt::format("expected at most {} runs, got {:.0f}", kMostRuns, runs));
      }
    }
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
    Enter(experiment);
    const std::size_t before = builder_.members();
    for (const SpecText& machine : experiment.machines) {
      place_.At("machines", machine,
                [&] { return backend_.find_machine(place_.Located(machine.text)); });
    }
    for (const SpecText& control : experiment.control) {
      place_.At("control", control, [&] { return ParseControl(control.text); });
    }
    for (const SpecText& preempt : experiment.preempt) {
      place_.At("preempt", preempt, [&] { return ParsePreempt(preempt.text); });
    }
    const std::vector<Axis> axes = AllAxes();
    for (const SpecText& stream : experiment.streams) StreamProduct(axes, 0, {}, stream);
    for (const SpecText& workload :
         experiment.streams.empty() ? WorkloadsOf(place_, backend_) : NoTexts()) {
      Options options;
      options.kernels = workload.text;
      options.no_repeat = !experiment.repeat;
      for (const SpecText& arrive : experiment.arrive) options.arrivals.push_back(arrive.text);
      Product(axes, 0, options, workload);
    }
    if (builder_.members() == before) {
      place_.Refuse("groups", experiment.groups.front().line,
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
      for (const SpecText& text : texts) axes.back().values.push_back(place_.Located(text.text));
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
    if (IsTenantSpec(place_.Located(stream.text))) {
      place_.Refuse("streams", stream.line,
                    stream.text + " has clients with scripts; expected a stream of jobs");
    }
    for (const SpecText& scheduler : or_none(experiment_->schedulers)) {
      for (const SpecText& device : or_none(experiment_->devices)) {
        for (const SpecText& policy : StreamPolicies()) {
          AddStream(options, {place_.Located(stream.text), scheduler.text, device.text}, policy,
                    stream);
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
        place_.RefuseServing(error.what(), where);
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
      builder_.Add(std::move(run), loaded);
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
      ids.push_back(builder_.AddOneIsolated(std::move(run)));
    }
    return ids;
  }

  void Policies(const Options& options, const SpecText& workload) {
    Experiment resolved;
    try {
      resolved = Resolve(options, backend_);
    } catch (const InputError& error) {
      place_.RefuseResolve(error.what(), workload);
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
          builder_.Add(std::move(run), loaded);
        }
      }
    }
  }

  // The one of this name, or all of which the oracle is the best.
  std::vector<Policy> PoliciesOf(const SpecText& text, const Experiment& resolved) const {
    return place_.At("policies", text, [&]() -> std::vector<Policy> {
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
      place_.At("preempt", text, [&] { sim::CheckPreempt(policy); });
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
      ids.push_back(builder_.AddOneIsolated(std::move(run)));
    }
    return ids;
  }

  void Enter(const SpecExperiment& experiment) {
    experiment_ = &experiment;
    place_.Enter(experiment);
    builder_.Enter(experiment.name);
  }

  const SweepSpec& spec_;
  const Backend& backend_;
  SpecPlace place_;
  PlanBuilder builder_;
  const SpecExperiment* experiment_ = nullptr;
};

}  // namespace

SweepPlan ExpandSweep(const SweepSpec& spec, const Backend& backend) {
  return Expander(spec, backend).Take();
}

}  // namespace smk::sim
