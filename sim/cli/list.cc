// SPDX-License-Identifier: Apache-2.0
// smk list kernels|policies|schedulers|machines|settings|keys|statistics
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "config/machine_keys.h"
#include "experiment/knobs.h"
#include "experiment/policies.h"
#include "machine/statistics.h"
#include "run/statistics.h"
#include "serve/schedulers.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// There is always something in a data folder that is one.
std::vector<std::string> NotNone(std::vector<std::string> names, const Backend& backend,
                                 const char* what) {
  if (!names.empty()) return names;
  throw InputError(
      fmt::format("{}/{}: there are none; set SMK_DATA_DIR to the folder with "
                  "machines/ and workloads/",
                  backend.data_dir, what));
}

// How many times a program launches one of its kernels.
std::size_t Launches(const Workload& workload, std::size_t kernel) {
  return static_cast<std::size_t>(
      std::count(workload.launches.begin(), workload.launches.end(), kernel));
}

unsigned Percent(unsigned part, unsigned whole) { return whole == 0 ? 0 : part * 100 / whole; }

// The resources of which there is no room for one TB more than `tbs`.
ordered_json LimitedBy(const ResourceVector& need, unsigned tbs, const ResourceVector& limits) {
  ordered_json names = ordered_json::array();
  const auto add = [&](const char* name, unsigned each, unsigned limit) {
    if ((tbs + 1) * each > limit) names.push_back(name);
  };
  add("registers", need.registers, limits.registers);
  add("shared_memory", need.shared_memory, limits.shared_memory);
  add("threads", need.threads, limits.threads);
  add("tbs", need.tbs, limits.tbs);
  return names;
}

MachineConfig MachineOf(const Context& context, const ListOptions& options) {
  const std::string name = options.machine.empty() ? "gtx980" : options.machine;
  return context.backend.load_machine(context.backend.find_machine(name), {});
}

// One kernel of a program, and how much of an SM it takes when it has it to itself.
ordered_json KernelJson(const Workload& workload, std::size_t index, const SmConfig& sm) {
  const KernelSpec& kernel = workload.kernels[index];
  const ResourceVector& limits = sm.limits;
  const ResourceVector need =
      TbNeedOn(sm, kernel.threads, kernel.registers_per_thread, kernel.shared_memory);
  const unsigned tbs = MaxTbs(need, limits);
  ordered_json j;
  j["kernel"] = kernel.name;
  j["launches"] = Launches(workload, index);
  j["tbs"] = kernel.tb_count();
  j["threads"] = kernel.threads;
  j["registers_per_thread"] = kernel.registers_per_thread;
  j["shared_memory"] = kernel.shared_memory;
  j["tbs_per_sm"] = tbs;
  j["limited_by"] = LimitedBy(need, tbs, limits);
  j["occupancy_percent"] = {
      {"registers", Percent(tbs * need.registers, limits.registers)},
      {"shared_memory", Percent(tbs * need.shared_memory, limits.shared_memory)},
      {"threads", Percent(tbs * need.threads, limits.threads)},
      {"tbs", Percent(tbs, limits.tbs)}};
  return j;
}

ordered_json KernelsJson(const Backend& backend, const std::vector<std::string>& names,
                         const MachineConfig& machine) {
  ordered_json all = ordered_json::array();
  for (const std::string& name : names) {
    const auto workload = backend.find_workload(name);
    ordered_json j;
    j["name"] = workload->name;
    j["path"] = name;
    j["class"] = workload->type;
    j["description"] = workload->description;
    j["kernels"] = ordered_json::array();
    for (std::size_t i = 0; i < workload->kernels.size(); ++i) {
      j["kernels"].push_back(KernelJson(*workload, i, machine.sm));
    }
    all.push_back(std::move(j));
  }
  return all;
}

std::string Text(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "regs, threads": what limits the TBs of a kernel, in the words of the table.
std::string LimitText(const ordered_json& limited_by) {
  static const std::map<std::string, std::string> kWords = {
      {"registers", "regs"}, {"shared_memory", "smem"}, {"threads", "threads"}, {"tbs", "TBs"}};
  std::string text;
  for (const std::string name : limited_by) {
    text += (text.empty() ? "" : ", ") + kWords.at(name);
  }
  return text;
}

std::string KernelsTable(const ordered_json& workloads, const std::string& machine) {
  TextTable table({"name", "class", "kernel", "launches", "TBs", "threads", "regs", "smem",
                   "TBs/SM", "regs %", "smem %", "threads %", "TBs %", "limit", "description"},
                  {0, 1, 2, 13, 14});
  for (const ordered_json& workload : workloads) {
    bool first = true;
    for (const ordered_json& k : workload["kernels"]) {
      const ordered_json& occupancy = k["occupancy_percent"];
      table.Add({first ? Text(workload["name"]) : "", first ? Text(workload["class"]) : "",
                 Text(k["kernel"]), Text(k["launches"]), Text(k["tbs"]), Text(k["threads"]),
                 Text(k["registers_per_thread"]), Text(k["shared_memory"]), Text(k["tbs_per_sm"]),
                 Text(occupancy["registers"]), Text(occupancy["shared_memory"]),
                 Text(occupancy["threads"]), Text(occupancy["tbs"]), LimitText(k["limited_by"]),
                 first ? Text(workload["description"]) : ""});
      first = false;
    }
  }
  return table.ToString() +
         fmt::format(
             "\nregs: registers per thread; smem: bytes per TB; %: of an SM of {} that is "
             "full of this kernel; limit: of what there is no room for one more TB\n",
             machine);
}

int ListKernels(const Context& context, const ListOptions& options) {
  const std::vector<std::string> names =
      options.kernels.empty()
          ? NotNone(context.backend.list_workloads(), context.backend, "workloads")
          : options.kernels;
  const MachineConfig machine = MachineOf(context, options);
  const ordered_json workloads = KernelsJson(context.backend, names, machine);
  fmt::print("{}", options.json ? workloads.dump(2) + "\n" : KernelsTable(workloads, machine.name));
  return 0;
}

int ListPolicies(const ListOptions& options) {
  ordered_json all = ordered_json::array();
  TextTable table({"name", "paper", "description"}, {0, 1, 2});
  for (const PolicyInfo& info : Policies()) {
    table.Add({info.name, info.paper, info.description});
    ordered_json j;
    j["name"] = info.name;
    j["paper"] = info.paper;
    j["description"] = info.description;
    j["dispatch"] = Name(info.config.dispatch);
    j["quotas"] = info.config.quota_enable;
    j["kernels_per_sm"] = info.config.kernels_per_sm;
    all.push_back(std::move(j));
  }
  fmt::print("{}", options.json ? all.dump(2) + "\n" : table.ToString());
  return 0;
}

int ListSchedulers(const ListOptions& options) {
  ordered_json all = ordered_json::array();
  TextTable table({"name", "paper", "description"}, {0, 1, 2});
  for (const SchedulerInfo& info : Schedulers()) {
    table.Add({info.name, info.paper, info.description});
    all.push_back({{"name", info.name}, {"paper", info.paper}, {"description", info.description}});
  }
  fmt::print("{}", options.json ? all.dump(2) + "\n" : table.ToString());
  return 0;
}

// "4; 2 for `smk-pw2`": the default, and the policies that have another.
std::string Default(const Knob& knob) {
  std::string text = knob.print(Configuration{});
  for (const PolicyInfo& info : Policies()) {
    Configuration own;
    own.policy = info.config;
    const std::string value = knob.print(own);
    if (value != knob.print(Configuration{})) text += fmt::format("; {} for {}", value, info.name);
  }
  return text;
}

// The value of a key as --set takes it: texts without quotes.
std::string ValueOf(const MachineKey& key) {
  std::string* const* text = std::get_if<std::string*>(&key.value);
  return text != nullptr ? **text : key.Print();
}

ordered_json KnobRows() {
  ordered_json rows = ordered_json::array();
  for (const Knob* knob : SettableKnobs()) {
    rows.push_back({{"key", knob->path},
                    {"values", knob->expected},
                    {"default", Default(*knob)},
                    {"meaning", knob->meaning}});
  }
  return rows;
}

// What a machine file has; the defaults are those of `machine`.
ordered_json KeyRows(MachineConfig machine) {
  NaturalLimits limits = NaturalLimits::Of(machine.sm.limits);
  ordered_json rows = ordered_json::array();
  for (const MachineKey& key : MachineKeys(&machine, &limits)) {
    rows.push_back({{"key", key.path},
                    {"values", key.Expected()},
                    {"default", ValueOf(key)},
                    {"unit", key.unit},
                    {"meaning", key.meaning}});
  }
  return rows;
}

// A column for each member; `heads` are their names.
std::string RowsTable(const ordered_json& rows, const std::vector<std::string>& heads) {
  std::vector<std::size_t> left(heads.size());
  std::iota(left.begin(), left.end(), 0);
  TextTable table(heads, left);
  for (const ordered_json& row : rows) {
    std::vector<std::string> cells;
    for (const ordered_json& cell : row) cells.push_back(Text(cell));
    table.Add(cells);
  }
  return table.ToString();
}

std::string RowsMarkdown(const ordered_json& rows, const std::vector<std::string>& heads) {
  std::string text = fmt::format("| {} |\n|", fmt::join(heads, " | "));
  for (std::size_t i = 0; i < heads.size(); ++i) text += "---|";
  for (const ordered_json& row : rows) {
    text += fmt::format("\n| `{}` |", Text(row["key"]));
    for (auto cell = std::next(row.begin()); cell != row.end(); ++cell) {
      text += (Text(*cell).empty() ? "" : " " + Text(*cell)) + " |";
    }
  }
  return text + "\n";
}

// The settings are the knobs and the keys of a machine file; the manual has a table of each.
int ListSettings(const Context& context, const ListOptions& options) {
  const MachineConfig machine = MachineOf(context, options);
  const bool knobs = options.what == "settings";
  const ordered_json keys = KeyRows(machine);
  const std::vector<std::string> heads = {"key", "values", machine.name, "unit", "meaning"};
  if (options.json) {
    ordered_json all = knobs ? KnobRows() : ordered_json::array();
    all.insert(all.end(), keys.begin(), keys.end());
    fmt::print("{}\n", all.dump(2));
  } else if (options.markdown) {
    fmt::print("{}", knobs ? RowsMarkdown(KnobRows(), {"key", "values", "default", "meaning"})
                           : RowsMarkdown(keys, heads));
  } else {
    if (knobs) {
      fmt::print("{}\n",
                 RowsTable(KnobRows(), {"--set KEY=VALUE", "values", "default", "meaning"}));
    }
    fmt::print("{}", RowsTable(keys, heads));
  }
  return 0;
}

// One object of stats.json as a table of the manual; "reasons" and "sim_stalls" are those of
// stalls.
std::string StatisticsMarkdown(const std::string& object) {
  if (object == "reasons") {
    std::string text = "| name | meaning |\n|---|---|\n";
    for (unsigned i = 0; i < kNumStalls; ++i) {
      text += fmt::format("| `{}` | {} |\n", kStallNames[i], kStallMeanings[i]);
    }
    return text;
  }
  if (object == "sim_stalls") {
    std::string text = "| name | meaning |\n|---|---|\n";
    for (const CounterText& stall : kSimStalls) {
      text += fmt::format("| `{}` | {} |\n", stall.name, stall.meaning);
    }
    return text;
  }
  std::string text = "| name | unit | meaning |\n|---|---|---|\n";
  for (const Statistic& s : StatisticsOf(object)) {
    text +=
        fmt::format("| `{}` |{} | {} |\n", s.name, s.unit.empty() ? "" : " " + s.unit, s.meaning);
  }
  return text;
}

int ListStatistics(const ListOptions& options) {
  std::vector<std::string> objects = {"reasons", "sim_stalls"};
  for (const StatisticTable& table : StatisticTables()) objects.push_back(table.object);
  if (options.markdown && options.of.empty()) {
    throw InputError(fmt::format("--markdown: expected --of {} beside it", Join(objects)));
  }
  if (!options.of.empty()) {
    if (std::find(objects.begin(), objects.end(), options.of) == objects.end()) {
      throw InputError(
          fmt::format("--of: expected one of {}, got '{}'", Join(objects), options.of));
    }
  }
  if (options.markdown) {
    fmt::print("{}", StatisticsMarkdown(options.of));
    return 0;
  }
  TextTable shown({"of", "name", "unit", "meaning"}, {0, 1, 2, 3});
  ordered_json all = ordered_json::array();
  const auto add = [&](const std::string& object, const char* name, const std::string& unit,
                       const std::string& meaning) {
    if (!options.of.empty() && options.of != object) return;
    shown.Add({object, name, unit, meaning});
    all.push_back({{"of", object}, {"name", name}, {"unit", unit}, {"meaning", meaning}});
  };
  for (const StatisticTable& table : StatisticTables()) {
    for (const Statistic& s : table.statistics)
      add(table.object, s.name.c_str(), s.unit, s.meaning);
  }
  for (unsigned i = 0; i < kNumStalls; ++i) {
    add("reasons", kStallNames[i], "scheduler cycles", kStallMeanings[i]);
  }
  for (const CounterText& stall : kSimStalls) {
    add("sim_stalls", stall.name, stall.unit, stall.meaning);
  }
  fmt::print("{}", options.json ? all.dump(2) + "\n" : shown.ToString());
  return 0;
}

int ListMachines(const Context& context, const ListOptions& options) {
  ordered_json all = ordered_json::array();
  TextTable table({"name", "SMs", "core MHz", "registers", "shared memory", "threads", "TBs",
                   "schedulers", "L1 KB", "L2 KB", "DRAM GB/s"});
  for (const std::string& name :
       NotNone(context.backend.list_machines(), context.backend, "machines")) {
    const MachineConfig m = context.backend.load_machine(context.backend.find_machine(name), {});
    const ResourceVector& limits = m.sm.limits;
    ordered_json j;
    j["name"] = m.name;
    j["sms"] = m.sms;
    j["core_clock_mhz"] = m.core_clock_mhz;
    j["registers"] = limits.registers * kRegisterUnit;
    j["shared_memory"] = limits.shared_memory * kSharedMemoryUnit;
    j["threads"] = limits.threads * kThreadUnit;
    j["tbs"] = limits.tbs;
    j["schedulers"] = m.sm.schedulers;
    j["l1_bytes"] = m.sm.l1.bytes;
    j["l2_bytes"] = m.memory.l2.bytes * m.memory.l2_slices_per_controller * m.memory.controllers;
    j["dram_bytes_per_second"] =
        m.memory.dram_clock_mhz * 1e6 * m.memory.dram_bytes_per_clock * m.memory.controllers;
    table.Add({Text(j["name"]), Text(j["sms"]), fmt::format("{}", m.core_clock_mhz),
               Text(j["registers"]), Text(j["shared_memory"]), Text(j["threads"]), Text(j["tbs"]),
               Text(j["schedulers"]), fmt::format("{}", m.sm.l1.bytes / 1024),
               fmt::format("{}", j["l2_bytes"].get<unsigned>() / 1024),
               fmt::format("{:.0f}", j["dram_bytes_per_second"].get<double>() / 1e9)});
    all.push_back(std::move(j));
  }
  fmt::print("{}", options.json ? all.dump(2) + "\n"
                                : table.ToString() +
                                      "\nregisters, shared memory (bytes), threads, "
                                      "TBs and schedulers: of one SM\n");
  return 0;
}

// An option that says nothing of this subject.
void RefuseUnused(const ListOptions& options) {
  const bool keys = options.what == "settings" || options.what == "keys";
  const bool kernels = options.what == "kernels", statistics = options.what == "statistics";
  const auto refuse = [&options](const char* option, const char* subjects) {
    throw InputError(fmt::format("list {}: {}: only of {}", options.what, option, subjects));
  };
  if (!options.kernels.empty() && !kernels) {
    throw InputError(fmt::format("list {}: expected no more words, got '{}'", options.what,
                                 options.kernels.front()));
  }
  if (!options.machine.empty() && !kernels && !keys) {
    refuse("--machine", "kernels, settings and keys");
  }
  if (!options.of.empty() && !statistics) refuse("--of", "statistics");
  if (options.markdown && !keys && !statistics) {
    refuse("--markdown", "settings, keys and statistics");
  }
}

}  // namespace

int ListCommand(const Context& context, const ListOptions& options) {
  RefuseUnused(options);
  if (options.what == "kernels") return ListKernels(context, options);
  if (options.what == "policies") return ListPolicies(options);
  if (options.what == "schedulers") return ListSchedulers(options);
  if (options.what == "machines") return ListMachines(context, options);
  if (options.what == "settings" || options.what == "keys") return ListSettings(context, options);
  if (options.what == "statistics") return ListStatistics(options);
  const std::vector<std::string> known = {"kernels",  "policies", "schedulers", "machines",
                                          "settings", "keys",     "statistics"};
  throw InputError(fmt::format("list: expected one of {}, got '{}'{}", Join(known), options.what,
                               DidYouMean(options.what, known)));
}

}  // namespace smk::sim
