// SPDX-License-Identifier: Apache-2.0
// The id of a run says everything that decides its result: every knob and every key of a machine
// file. Two runs that differ can not share a row of the database.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "config/machine_keys.h"
#include "sim/fake.h"
#include "sim/other_value.h"
#include "sweep/plan.h"

namespace smk::sim {
namespace {

// The id of lbm+sad under smk-pw, with changes.
std::string Id(const Backend& backend, const std::function<void(SpecExperiment*)>& change) {
  SpecExperiment experiment;
  experiment.name = "ids";
  experiment.workloads = {{"lbm+sad", 1}};
  experiment.cycles = {{"5000", 1}};
  change(&experiment);
  SweepSpec spec;
  spec.path = "ids.toml";
  spec.name = "ids";
  spec.experiments = {experiment};
  return ExpandSweep(spec, backend).runs.back().id;
}

std::string IdWith(const Backend& backend, const std::string& key, const std::string& value) {
  return Id(backend, [&](SpecExperiment* e) { e->set = {{key, {{value, 1}}}}; });
}

// Values that a machine key could have instead.
std::vector<std::string> OtherValues(const MachineKey& key) {
  std::vector<std::string> values;
  if (std::string* const* text = std::get_if<std::string*>(&key.value)) {
    for (const std::string& choice : key.choices) {
      if (choice != **text) values.push_back(choice);
    }
    if (key.choices.empty()) values.emplace_back("other");
    return values;
  }
  const double now = std::stod(key.Print());
  for (const double value : {now * 2, now / 2, now + 1, now - 1, key.min, key.max}) {
    if (value != now) values.push_back(fmt::format("{}", value));
  }
  return values;
}

TEST(SweepIds, DependOnEveryKnob) {
  const Backend backend = RememberingBackend(MakeBackend());
  std::set<std::string> ids = {Id(backend, [](SpecExperiment*) {})};
  for (const Knob* knob : SettableKnobs()) {
    EXPECT_TRUE(ids.insert(IdWith(backend, knob->path, OtherValue(*knob))).second) << knob->path;
    EXPECT_EQ(ids.count(IdWith(backend, knob->path, knob->print(Configuration{}))), 1u)
        << knob->path << ": the default is the same run";
  }
}

TEST(SweepIds, DependOnEveryPolicyAndItsOptions) {
  const Backend backend = RememberingBackend(MakeBackend());
  std::set<std::string> ids;
  for (const char* policy : {"leftover", "even", "spatial", "smk", "smk-p", "smk-pw", "smk-pw2",
                             "warped-slicer", "warped-slicer+w", "table:1,2", "table:2,1"}) {
    const auto with = [&](SpecExperiment* e) { e->policies = {{policy, 1}}; };
    EXPECT_TRUE(ids.insert(Id(backend, with)).second) << policy;
  }
  for (const char* preempt : {"drain", "flush"}) {
    const auto with = [&](SpecExperiment* e) {
      e->policies = {{"spatial", 1}};
      e->preempt = {{preempt, 1}};
    };
    EXPECT_TRUE(ids.insert(Id(backend, with)).second) << preempt;
  }
}

TEST(SweepIds, DependOnEveryMachineKey) {
  const Backend backend = RememberingBackend(MakeBackend());
  // With fewer threads an SM can have fewer schedulers and warps, too.
  const SpecAxis few_threads = {"sm.limits.threads", {{"512", 1}}};
  const auto id = [&](const SpecAxis& change) {
    return Id(backend, [&](SpecExperiment* e) { e->set = {few_threads, change}; });
  };
  std::set<std::string> ids = {id(few_threads)};
  MachineConfig machine = backend.load_machine(backend.find_machine("gtx980"), {});
  NaturalLimits limits = NaturalLimits::Of(machine.sm.limits);
  for (const MachineKey& key : MachineKeys(&machine, &limits)) {
    bool changed = false;
    for (const std::string& value : OtherValues(key)) {
      try {
        changed = ids.insert(id({key.path, {{value, 1}}})).second;
      } catch (const InputError&) {
        continue;  // not a value of this key, or not with the others
      }
      break;
    }
    // Runs of a sweep have no copies.
    EXPECT_EQ(changed, key.path.rfind("host.", 0) != 0) << key.path;
  }
}

// Work is that of the cycles asked for, also where the run may not be longer than the longest.
TEST(SweepIds, DependOnTheWork) {
  const Backend backend = RememberingBackend(MakeBackend());
  std::set<std::string> ids;
  for (const char* cycles : {"100000000", "200000000", "1000000"}) {
    for (const char* until : {"work", "cycles"}) {
      const auto with = [&](SpecExperiment* e) {
        e->cycles = {{cycles, 1}};
        e->set = {{"run.until", {{until, 1}}}};
      };
      EXPECT_TRUE(ids.insert(Id(backend, with)).second) << cycles << " " << until;
    }
  }
}

// A database of an earlier version is of use only while the ids stay. They change with the model's
// version, and with nothing else.
TEST(SweepIds, StayAsTheyWere) {
  Backend backend = FakeBackend();
  backend.machine_toml = [](const MachineConfig&) { return "name = \"m\"\n"; };
  EXPECT_EQ(Id(backend, [](SpecExperiment*) {}), "96e47996130d89ad");
  EXPECT_EQ(Id(backend,
               [](SpecExperiment* e) {
                 e->policies = {{"spatial", 1}};
                 e->preempt = {{"drain", 1}};
                 e->arrive = {{"sad@100", 1}};
                 e->repeat = false;
                 e->set = {{"policy.latency_scale", {{"4", 1}}},
                           {"policy.linger_ticks", {{"7", 1}}},
                           {"run.ideal_preemption", {{"true", 1}}},
                           {"run.grid_divisor", {{"4", 1}}}};
               }),
            "c7c2bf42ad7fe2c1");
}

}  // namespace
}  // namespace smk::sim
