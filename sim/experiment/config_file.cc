// SPDX-License-Identifier: Apache-2.0
// config.toml: everything in effect in a run, in the form in which --config reads it back.
#include "experiment/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/toml_file.h"
#include "experiment/kernel_names.h"
#include "experiment/trace_name.h"

namespace smk::sim {
namespace {

std::string QuotedList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(TomlText(text));
  return "[" + Join(quoted) + "]";
}

// The knobs of a section.
std::string KnobLines(const Configuration& configuration, const std::string& section) {
  std::string text;
  for (const Knob* knob : SettableKnobs()) {
    if (knob->section() != section) continue;
    const std::string value = knob->print(configuration);
    text += fmt::format("{} = {}\n", knob->name(), knob->is_word ? TomlText(value) : value);
  }
  return text;
}

std::string RunSection(const Experiment& e, const Policy& policy) {
  std::vector<std::string> names, arrivals, clients;
  for (const std::string& name : e.names) names.push_back(PortableName(name));
  for (std::size_t i = 0; i < e.arrivals.size(); ++i) {
    if (e.arrivals[i] != 0) arrivals.push_back(fmt::format("{}@{}", e.labels[i], e.arrivals[i]));
  }
  for (std::size_t i = 0; i < e.clients.size(); ++i) {
    if (!e.clients[i].empty()) clients.push_back(fmt::format("{}@{}", e.labels[i], e.clients[i]));
  }
  std::string text = "[run]\n";
  if (!e.stream.name.empty()) text += fmt::format("stream = {}\n", TomlText(e.stream.name));
  text += fmt::format("kernels = {}\n", QuotedList(names));
  text += fmt::format("policy = {}\n", TomlText(policy.name));
  if (UsesPreempt(policy.config)) {
    text += fmt::format("preempt = {}\n", TomlText(Name(policy.config.preempt)));
  }
  text += fmt::format("control = {}\n", TomlText(Name(e.control)));
  if (!e.gates.empty()) text += fmt::format("gates = {}\n", TomlText(Join(e.gates, ",")));
  text += fmt::format("machine = {}  # every key of it is below\n",
                      TomlText(PortableName(e.machine_name)));
  text += fmt::format("cycles = {}\n", e.cycles);
  text += fmt::format("seed = {}\n", TomlText(fmt::to_string(e.seed)));
  text += fmt::format("arrive = {}\n", QuotedList(arrivals));
  text += fmt::format("client = {}\n", QuotedList(clients));
  text += fmt::format("repeat = {}\n", e.repeat);
  return text + KnobLines(InEffect(e, policy.config), "run");
}

std::string PolicySection(const Experiment& e, const Policy& policy) {
  const PolicyConfig& c = policy.config;
  const Configuration configuration = InEffect(e, c);
  return fmt::format("\n[policy]  # dispatch {}, quotas {}\n{}\n[control]\n{}", Name(c.dispatch),
                     c.quota_enable ? "on" : "off", KnobLines(configuration, "policy"),
                     KnobLines(configuration, "control"));
}

// The machine's own text, one level down.
std::string MachineSection(const std::string& machine_toml) {
  std::string text = "\n[machine]\n";
  for (const std::string& line : Split(machine_toml, '\n')) {
    text += line.empty() || line[0] != '[' ? line : "[machine." + line.substr(1);
    text += '\n';
  }
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

// Reads the [run] table of a configuration into options that are still open.
class RunReader {
 public:
  RunReader(std::string path, Options* options) : path_(std::move(path)), options_(*options) {
    for (const Knob* knob : SettableKnobs()) {
      if (knob->section() == "run") rows_.push_back(Setting(*knob));
    }
  }

  void Read(const toml::table& run) {
    for (const auto& [name, node] : run) {
      const std::string key(name.str());
      line_ = name.source().begin.line;
      const auto row =
          std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.key == key; });
      if (row == rows_.end()) {
        std::vector<std::string> known;
        for (const Row& r : rows_) known.push_back(r.key);
        throw InputError(fmt::format("{}:{}: run.{}: unknown key; the nearest is 'run.{}'", path_,
                                     line_, key, Nearest(key, known)));
      }
      row->read(node);
    }
  }

 private:
  struct Row {
    std::string key;
    std::function<void(const toml::node&)> read;
  };

  [[noreturn]] void Refuse(const std::string& key, const char* expected) const {
    throw InputError(fmt::format("{}:{}: run.{}: expected {}", path_, line_, key, expected));
  }
  Row Text(const std::string& key, std::optional<std::string> Options::*member) {
    return {key, [=, self = this](const toml::node& node) {
              std::string text;
              if (const auto* value = node.as_string()) {
                text = value->get();
              } else if (const auto* number = node.as_integer()) {
                text = fmt::to_string(number->get());
              } else {
                self->Refuse(key, "a string or a whole number");
              }
              auto& option = self->options_.*member;
              if (!option) option = text;
            }};
  }
  std::vector<std::string> List(const std::string& key, const toml::node& node) const {
    std::vector<std::string> texts;
    const toml::array* array = node.as_array();
    if (array == nullptr) Refuse(key, "an array of strings");
    for (const toml::node& item : *array) {
      if (!item.is_string()) Refuse(key, "an array of strings");
      texts.push_back(item.as_string()->get());
    }
    return texts;
  }
  bool Bool(const std::string& key, const toml::node& node) const {
    if (!node.is_boolean()) Refuse(key, "true or false");
    return node.as_boolean()->get();
  }

  // A knob, as --set has it.
  Row Setting(const Knob& knob) {
    return {knob.name(), [=, &knob, self = this](const toml::node& node) {
              if (!node.is_value()) self->Refuse(knob.name(), knob.expected.c_str());
              std::ostringstream value;
              if (const auto* word = node.as_string()) {
                value << word->get();
              } else {
                node.visit([&](const auto& v) { value << v; });
              }
              auto& sets = self->options_.sets;
              sets.insert(sets.begin(), fmt::format("{}={}", knob.path, value.str()));
            }};
  }

  const std::string path_;
  Options& options_;
  unsigned line_ = 0;
  std::vector<Row> rows_ = {
      Text("policy", &Options::policy),
      Text("preempt", &Options::preempt),
      Text("control", &Options::control),
      Text("gates", &Options::gates),
      Text("machine", &Options::machine),
      Text("cycles", &Options::cycles),
      Text("seed", &Options::seed),
      {"kernels",
       [this](const toml::node& node) {
         const std::string joined = JoinKernels(List("kernels", node));
         if (!options_.kernels) options_.kernels = joined;
       }},
      {"arrive",
       [this](const toml::node& node) {
         const std::vector<std::string> arrivals = List("arrive", node);
         if (options_.arrivals.empty()) options_.arrivals = arrivals;
       }},
      {"client",
       [this](const toml::node& node) {
         const std::vector<std::string> clients = List("client", node);
         if (options_.clients.empty()) options_.clients = clients;
       }},
      {"repeat",
       [this](const toml::node& node) {
         options_.no_repeat = options_.no_repeat || !Bool("repeat", node);
       }},
  };
};

// Where the file says what an option could have said.
Origins RunOrigins(const std::string& path, const toml::table& run, bool other_kernels) {
  Origins origins;
  for (const TomlLeaf& leaf : TomlLeaves(run, path, "run.")) {
    const bool knob = FindKnob("run." + leaf.name) != nullptr;
    origins.Add((knob ? "--set run." : "--") + leaf.name, leaf.place);
    if (leaf.name == "machine") origins.Add("machine", leaf.place);
    const toml::array* kernels = run["kernels"].as_array();
    if (leaf.name != "kernels" || kernels == nullptr || other_kernels) continue;
    for (const toml::node& kernel : *kernels) {
      origins.AddName(kernel.value_or(std::string()), leaf.place);
    }
  }
  return origins;
}

}  // namespace

std::string PortableName(const std::string& name) {
  if (IsTraceName(name)) return PortableTraceName(name);
  const bool file =
      name.find('/') != std::string::npos || std::filesystem::path(name).has_extension();
  return file && std::filesystem::exists(name)
             ? std::filesystem::absolute(name).lexically_normal().string()
             : name;
}

std::string ConfigToml(const Experiment& experiment, const Policy& policy) {
  const std::string head =
      experiment.stream.name.empty()
          ? "# Everything in effect in this run. Again: smk run --config FILE\n"
          : "# Everything in effect in this run of a stream. Again: smk serve stream.toml\n";
  return head + RunSection(experiment, policy) + PolicySection(experiment, policy) +
         MachineSection(experiment.machine_toml);
}

void MergeConfig(const std::string& path, bool compare, Options* options) {
  toml::table root = ParseToml(ReadFile(path), path);
  const bool other_machine = options->machine.has_value();
  // What belongs to the file's policy or to its kernels alone does not hold for others.
  const bool other_policy =
      options->policies.has_value() ||
      (options->policy && *options->policy != root["run"]["policy"].value_or(std::string()));
  const bool other_kernels = options->kernels.has_value();
  const bool other_control =
      options->control && *options->control != root["run"]["control"].value_or(std::string());
  if (toml::table* run = root["run"].as_table()) {
    if (other_policy) run->erase("preempt");
    if (other_kernels) run->erase("arrive");
    if (other_kernels) run->erase("client");
    if (compare || other_control) run->erase("gates");
  }
  const Options given = *options;
  options->sets.clear();
  Origins origins;
  for (const auto& [name, node] : root) {
    const std::string key(name.str());
    const toml::table* table = node.as_table();
    if (table == nullptr ||
        (key != "run" && key != "policy" && key != "control" && key != "machine")) {
      throw InputError(fmt::format("{}:{}: {}: expected the tables run, policy, control, machine",
                                   path, name.source().begin.line, key));
    }
    if (key == "run") {
      origins.Add(RunOrigins(path, *table, other_kernels));
      RunReader(path, options).Read(*table);
      continue;
    }
    if (key == "machine" && other_machine) continue;
    toml::table taken = *table;
    for (const Knob* knob : SettableKnobs()) {
      const bool other = knob->of_policy && (other_policy || compare);
      if (other && knob->section() == key) taken.erase(knob->name());
    }
    const std::string prefix = key == "machine" ? "" : key + ".";
    for (const TomlLeaf& leaf : TomlLeaves(taken, path, key + ".")) {
      options->sets.push_back(fmt::format("{}{}={}", prefix, leaf.name, leaf.value));
      origins.Add("--set " + prefix + leaf.name, leaf.place);
    }
  }
  options->sets = MergeSets(options->sets, given.sets);
  ForgetGiven(given, &origins);
  options->origins = std::move(origins);
}

}  // namespace smk::sim
