// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "experiment/controls.h"
#include "experiment/knobs.h"
#include "experiment/policies.h"
#include "serve/schedulers.h"

namespace smk::sim {
namespace {

using Words = std::vector<std::string>;

Words PolicyNames() {
  Words names;
  for (const PolicyInfo& policy : Policies()) {
    if (policy.name.find(':') == std::string::npos) names.push_back(policy.name);
  }
  return names;
}

template <typename Enum>
Words Names(const std::vector<Enum>& values) {
  Words names;
  for (const Enum value : values) names.emplace_back(Name(value));
  return names;
}

Words CommandNames(const CLI::App& app) {
  Words names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// Without their groups, which nobody types.
Words KernelNames(const Backend& backend) {
  Words names;
  for (const std::string& name : backend.list_workloads()) {
    names.push_back(name.substr(name.rfind('/') + 1));
  }
  return names;
}

// What an option can be, where that is one of a list: by its name, or by its type, as a|b|c.
Words WordsOf(const std::string& name, const std::string& type, const CLI::App& root,
              const Backend& backend) {
  if (name == "--policy" || name == "--policies") return PolicyNames();
  if (name == "--scheduler") {
    Words names;
    names.reserve(Schedulers().size());
    for (const SchedulerInfo& scheduler : Schedulers()) names.push_back(scheduler.name);
    return names;
  }
  if (name == "--machine") return backend.list_machines();
  if (name == "--control") {
    return Names(ControlKinds());
  }
  if (name == "--until") {
    return Names<RunUntil>({RunUntil::kCycles, RunUntil::kDone, RunUntil::kWork});
  }
  if (name == "--preempt") {
    return Names(PreemptModes());
  }
  if (name == "kernels" || name == "kernel") return KernelNames(backend);
  if (name == "command") return CommandNames(root);
  Words words;
  if (type.find('|') == std::string::npos || std::islower(type[0]) == 0) return words;
  std::istringstream in(type);
  for (std::string word; std::getline(in, word, '|');) words.push_back(word);
  return words;
}

ValueDescription ValueOf(const CLI::Option& option, const std::string& name, const CLI::App& root,
                         const Backend& backend) {
  ValueDescription value;
  if (option.get_items_expected_max() == 0) return value;
  value.type = option.get_type_name();
  if (option.get_positional() && value.type == "TEXT") {
    value.type = name;
    std::transform(name.begin(), name.end(), value.type.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  value.words = WordsOf(name, value.type, root, backend);
  if (name == "kernels") value.separator = "+";
  if (name == "--policies") value.separator = ",";
  for (const char* file : {"FILE", "DB", "SPEC"}) {
    value.file = value.file || value.type.find(file) != std::string::npos;
  }
  value.file = value.file || (option.get_positional() && value.type.find("KERNEL") == 0);
  value.folder = value.type.find("DIR") == 0 || value.type == "FOLDER";
  value.optional =
      option.get_items_expected_min() == 0 || (option.get_positional() && !option.get_required());
  return value;
}

OptionDescription Describe(const CLI::Option& option, const CLI::App& root,
                           const Backend& backend) {
  OptionDescription description;
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  description.help = option.get_description();
  const std::string name =
      description.names.empty() ? option.get_name(true) : description.names.back();
  description.value = ValueOf(option, name, root, backend);
  return description;
}

void Describe(const CLI::App& app, const std::string& name, const CLI::App& root,
              const Backend& backend, std::vector<CommandDescription>* all) {
  CommandDescription command;
  command.name = name;
  command.help = app.get_description();
  command.commands = CommandNames(app);
  for (const CLI::Option* option : app.get_options()) {
    command.options.push_back(Describe(*option, root, backend));
  }
  all->push_back(std::move(command));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    Describe(*sub, name.empty() ? sub->get_name() : name + " " + sub->get_name(), root, backend,
             all);
  }
}

}  // namespace

ValueDescription CommandDescription::Words() const {
  ValueDescription all;
  for (const OptionDescription& option : options) {
    if (!option.names.empty()) continue;
    const ValueDescription& value = option.value;
    if (all.type.empty()) all.type = value.type;
    all.words.insert(all.words.end(), value.words.begin(), value.words.end());
    if (!value.separator.empty()) all.separator = value.separator;
    all.file = all.file || value.file;
    all.folder = all.folder || value.folder;
  }
  return all;
}

std::vector<CommandDescription> DescribeCommands(const CLI::App& app, const Backend& backend) {
  std::vector<CommandDescription> all;
  Describe(app, "", app, backend, &all);
  return all;
}

}  // namespace smk::sim
