// SPDX-License-Identifier: Apache-2.0
// smk list: what it shows is what there is, and what it calls a default changes nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "base/numbers.h"
#include "config/machine_keys.h"
#include "machine/statistics.h"
#include "run/statistics.h"
#include "sim/main_call.h"
#include "sim/refusal.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string Printed(const Backend& backend, std::vector<std::string> words) {
  words.insert(words.begin(), "list");
  const Ended ended = CallMain(backend, words);
  EXPECT_EQ(ended.status, 0) << ended.err;
  return ended.out;
}
ordered_json Json(const Backend& backend, std::vector<std::string> words) {
  words.emplace_back("--json");
  return ordered_json::parse(Printed(backend, words));
}

TEST(List, PoliciesAreThoseThatCanBeRun) {
  const ordered_json all = Json(FakeBackend(), {"policies"});
  ASSERT_EQ(all.size(), Policies().size());
  const std::string table = Printed(FakeBackend(), {"policies"});
  for (const ordered_json& policy : all) {
    std::string name = policy["name"];
    EXPECT_THAT(table, HasSubstr("\n" + name + " "));
    EXPECT_THAT(table, HasSubstr(policy["description"].get<std::string>()));
    if (name.rfind("table:", 0) == 0) name = "table:2,3";
    const Policy found = FindPolicy(name, 2);
    EXPECT_EQ(policy["dispatch"], Name(found.config.dispatch)) << name;
    EXPECT_EQ(policy["quotas"], found.config.quota_enable) << name;
    EXPECT_EQ(policy["kernels_per_sm"], found.config.kernels_per_sm) << name;
  }
}

// The default in a cell of the list; "2 for smk-pw2" comes behind it.
std::string Default(const ordered_json& setting) {
  const std::string text = setting["default"];
  return text.substr(0, text.find(';'));
}

TEST(List, EveryKnobIsThereAndItsDefaultChangesNothing) {
  const Backend backend = MakeBackend();
  std::vector<std::string> listed;
  for (const ordered_json& setting : Json(backend, {"settings"})) {
    if (setting.contains("unit")) continue;
    const std::string key = setting["key"];
    listed.push_back(key);
    Configuration usual, set;
    FindKnob(key)->store("test", Default(setting), &set);
    for (const Knob& knob : Knobs()) {
      EXPECT_EQ(knob.print(set), knob.print(usual)) << key << " changes " << knob.path;
    }
    EXPECT_EQ(setting["values"], FindKnob(key)->expected);
  }
  std::vector<std::string> known;
  for (const Knob* knob : SettableKnobs()) known.push_back(knob->path);
  EXPECT_EQ(listed, known);
}

TEST(List, PoliciesWithAnotherDefaultAreNamed) {
  const std::string table = Printed(FakeBackend(), {"settings"});
  for (const Knob* knob : SettableKnobs()) {
    for (const PolicyInfo& info : Policies()) {
      Configuration own;
      own.policy = info.config;
      const std::string value = knob->print(own);
      if (value == knob->print(Configuration{})) continue;
      EXPECT_THAT(table, HasSubstr("; " + value + " for " + info.name)) << knob->path;
    }
  }
}

TEST(List, EveryKeyOfAMachineIsThereAndItsValueChangesNothing) {
  const Backend backend = MakeBackend();
  for (const char* name : {"gtx980", "mini", "h100"}) {
    const std::string path = backend.find_machine(name);
    MachineConfig machine = backend.load_machine(path, {});
    const std::string text = backend.machine_toml(machine);
    std::vector<std::string> sets;
    for (const ordered_json& setting : Json(backend, {"keys", "--machine", name})) {
      const std::string key = setting["key"];
      sets.push_back(key + "=" + setting["default"].get<std::string>());
    }
    NaturalLimits limits = NaturalLimits::Of(machine.sm.limits);
    EXPECT_EQ(sets.size(), MachineKeys(&machine, &limits).size());
    EXPECT_EQ(Json(backend, {"settings"}).size(), sets.size() + SettableKnobs().size());
    EXPECT_EQ(backend.machine_toml(backend.load_machine(path, sets)), text) << name;
  }
}

// One sentence each, as short as those of the knobs, that fits into a cell of a table.
TEST(List, EveryKeyOfAMachineSaysWhatItIs) {
  const Backend backend = MakeBackend();
  const std::string table = Printed(backend, {"keys"});
  const std::string markdown = Printed(backend, {"keys", "--markdown"});
  EXPECT_THAT(markdown, StartsWith("| key | values | gtx980 | unit | meaning |\n|---|---|---|"));
  const std::set<std::string> units = {"",      "cycles",       "clocks", "bytes", "MHz",
                                       "lines", "instructions", "GB/s",   "MB",    "registers"};
  for (const ordered_json& row : Json(backend, {"keys"})) {
    const std::string key = row["key"], meaning = row["meaning"], unit = row["unit"];
    EXPECT_THAT(meaning, testing::MatchesRegex("[^|.]{4,90}")) << key;
    EXPECT_EQ(units.count(unit), 1u) << key << ": " << unit;
    EXPECT_THAT(table, HasSubstr(meaning + "\n")) << key;
    EXPECT_THAT(markdown,
                HasSubstr(fmt::format(
                    "\n| `{}` | {} | {} |{} | {} |\n", key, row["values"].get<std::string>(),
                    row["default"].get<std::string>(), unit.empty() ? "" : " " + unit, meaning)));
  }
}

TEST(List, MachinesHaveTheNumbersOfTheirFiles) {
  const Backend backend = MakeBackend();
  const ordered_json all = Json(backend, {"machines"});
  ASSERT_EQ(all.size(), backend.list_machines().size());
  const std::string table = Printed(backend, {"machines"});
  for (const ordered_json& j : all) {
    const std::string name = j["name"];
    const MachineConfig m = backend.load_machine(backend.find_machine(name), {});
    EXPECT_EQ(j["sms"], m.sms);
    EXPECT_EQ(j["schedulers"], m.sm.schedulers);
    EXPECT_EQ(j["registers"], m.sm.limits.registers * 256) << "a unit is 256 registers";
    EXPECT_THAT(table, HasSubstr(name + " "));
  }
  const auto gtx980 = std::find_if(all.begin(), all.end(),
                                   [](const ordered_json& j) { return j["name"] == "gtx980"; });
  // As its maker says it.
  EXPECT_EQ((*gtx980)["registers"], 65536);
  EXPECT_EQ((*gtx980)["shared_memory"], 98304);
  EXPECT_EQ((*gtx980)["threads"], 2048);
  EXPECT_EQ((*gtx980)["tbs"], 32);
  EXPECT_EQ((*gtx980)["l2_bytes"], 2 << 20);
  EXPECT_NEAR((*gtx980)["dram_bytes_per_second"].get<double>(), 224e9, 1e9);
}

TEST(List, OccupancyByHand) {
  Backend backend = FakeBackend();
  backend.list_workloads = [] { return std::vector<std::string>{"group/w"}; };
  backend.find_workload = [](const std::string&) {
    auto workload = std::make_shared<Workload>(*FakeWorkload("w"));
    KernelSpec big = workload->kernels[0];
    big.name = "big";
    big.threads = 96;
    big.shared_memory = 40000;
    big.need = TbNeed(96, 32, 40000);
    workload->kernels.push_back(big);
    workload->launches = {0, 1, 0};
    return workload;
  };
  const ordered_json w = Json(backend, {"kernels"})[0];
  EXPECT_EQ(w["path"], "group/w");
  const ordered_json &small = w["kernels"][0], &big = w["kernels"][1];
  EXPECT_EQ(small["launches"], 2);
  EXPECT_EQ(big["launches"], 1);
  // 128 threads with 32 registers each: 16 TBs fill 65536 registers and 2048 threads.
  EXPECT_EQ(small["tbs_per_sm"], 16);
  EXPECT_EQ(
      small["occupancy_percent"],
      ordered_json({{"registers", 100}, {"shared_memory", 0}, {"threads", 100}, {"tbs", 50}}));
  // Two of 40000 bytes go into 98304, a third does not.
  EXPECT_EQ(big["tbs_per_sm"], 2);
  EXPECT_EQ(big["occupancy_percent"]["tbs"], 6);
  EXPECT_EQ(big["occupancy_percent"]["threads"], 9);
  EXPECT_EQ(small["limited_by"], ordered_json({"registers", "threads"}));
  EXPECT_EQ(big["limited_by"], ordered_json({"shared_memory"}));
  const std::string table = Printed(backend, {"kernels"});
  EXPECT_THAT(table, HasSubstr(" regs, threads  "));
  EXPECT_THAT(table, HasSubstr("\nw     compute  w_kernel"));
  EXPECT_THAT(table, HasSubstr("\n               big")) << "the program is named once";
}

TEST(List, OccupancyOfKernelsThatAreNamed) {
  Backend backend = FakeBackend();
  backend.list_workloads = [] { return std::vector<std::string>{}; };
  const ordered_json all = Json(backend, {"kernels", "my/w.toml", "b"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["path"], "my/w.toml");
  EXPECT_EQ(all[1]["path"], "b");
  EXPECT_EQ(all[0]["kernels"][0]["tbs_per_sm"], 16);
  EXPECT_THAT(MainRefusal(backend, {"list", "policies", "b"}),
              HasSubstr("list policies: expected no more words, got 'b'"));
}

TEST(List, OptionsThatSayNothingOfTheSubject) {
  const Backend backend = FakeBackend();
  const auto refused = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"list"};
    all.insert(all.end(), words.begin(), words.end());
    return MainRefusal(backend, all);
  };
  EXPECT_THAT(refused({"machines", "--machine", "c2050"}),
              HasSubstr("list machines: --machine: only of kernels, settings and keys"));
  EXPECT_THAT(refused({"kernels", "--of", "run"}),
              HasSubstr("list kernels: --of: only of statistics"));
  EXPECT_THAT(refused({"policies", "--markdown"}),
              HasSubstr("list policies: --markdown: only of settings, keys and statistics"));
}

// Below one TB, at it and at the next, of every resource in turn.
TEST(List, OneTbMoreDoesNotFit) {
  const Backend real = MakeBackend();
  const ResourceVector limits = real.load_machine(real.find_machine("gtx980"), {}).sm.limits;
  for (const auto& [threads, registers, shared, by] :
       std::vector<std::tuple<unsigned, unsigned, unsigned, std::vector<std::string>>>{
           {32, 4, 0, {"tbs"}},
           {64, 32, 0, {"registers", "threads", "tbs"}},
           {64, 36, 0, {"registers"}},
           {256, 16, 0, {"threads"}},
           {32, 4, 3072, {"shared_memory", "tbs"}},
           {32, 4, 3073, {"shared_memory"}},
           {32, 4, 100000, {"shared_memory"}}}) {
    Backend backend = FakeBackend();
    KernelSpec kernel = FakeWorkload("w")->kernels[0];
    kernel.threads = threads;
    kernel.registers_per_thread = registers;
    kernel.shared_memory = shared;
    kernel.need = TbNeed(threads, registers, shared);
    backend.find_workload = [&kernel = kernel](const std::string&) {
      auto workload = std::make_shared<Workload>(*FakeWorkload("w"));
      workload->kernels[0] = kernel;
      return workload;
    };
    const ordered_json k = Json(backend, {"kernels", "w"})[0]["kernels"][0];
    EXPECT_EQ(k["limited_by"], ordered_json(by)) << threads << ' ' << registers << ' ' << shared;
    EXPECT_EQ(k["tbs_per_sm"], MaxTbs(kernel.need, limits));
  }
}

TEST(List, StatisticsAreThoseOfTheLists) {
  const Backend backend = FakeBackend();
  std::vector<std::pair<std::string, std::string>> expected, listed;
  for (const StatisticTable& table : StatisticTables()) {
    for (const Statistic& s : table.statistics) expected.emplace_back(table.object, s.name);
  }
  for (const char* name : kStallNames) expected.emplace_back("reasons", name);
  for (const CounterText& stall : kSimStalls) expected.emplace_back("sim_stalls", stall.name);
  for (const ordered_json& row : Json(backend, {"statistics"})) {
    listed.emplace_back(row["of"], row["name"]);
    EXPECT_NE(row["meaning"], "") << row["name"];
  }
  EXPECT_EQ(listed, expected);
}

TEST(List, StatisticsOfOneObject) {
  const Backend backend = FakeBackend();
  for (const StatisticTable& table : StatisticTables()) {
    const ordered_json rows = Json(backend, {"statistics", "--of", table.object});
    ASSERT_EQ(rows.size(), table.statistics.size());
    const std::string markdown =
        Printed(backend, {"statistics", "--of", table.object, "--markdown"});
    EXPECT_THAT(markdown, StartsWith("| name | unit | meaning |\n|---|---|---|\n"));
    EXPECT_EQ(Split(markdown, '\n').size(), rows.size() + 3) << "a row each, and an end";
    for (const ordered_json& row : rows) {
      EXPECT_EQ(row["of"], table.object);
      EXPECT_THAT(markdown, HasSubstr("\n| `" + row["name"].get<std::string>() + "` |"));
    }
  }
  EXPECT_EQ(Json(backend, {"statistics", "--of", "reasons"}).size(), kNumStalls);
  EXPECT_EQ(Json(backend, {"statistics", "--of", "sim_stalls"}).size(), kNumSimStalls);
  EXPECT_EQ(
      Split(Printed(backend, {"statistics", "--of", "sim_stalls", "--markdown"}), '\n').size(),
      kNumSimStalls + 3);
}

TEST(List, WhatIsNotThereIsRefused) {
  const Backend backend = FakeBackend();
  EXPECT_EQ(MainRefusal(backend, {"list", "machine"}),
            "list: expected one of kernels, policies, schedulers, machines, settings, keys, "
            "statistics, got 'machine'; "
            "did you mean 'machines'?");
  EXPECT_THAT(MainRefusal(backend, {"list", "statistics", "--of", "kernel"}),
              StartsWith("--of: expected one of reasons, sim_stalls, run, kernels, "));
  EXPECT_THAT(MainRefusal(backend, {"list", "statistics", "--markdown"}),
              StartsWith("--markdown: expected --of "));
  EXPECT_THAT(MainRefusal(MakeBackend(), {"list", "settings", "--machine", "gtx98"}),
              HasSubstr("gtx98"));
}

}  // namespace
}  // namespace smk::sim
