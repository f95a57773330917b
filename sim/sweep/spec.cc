// SPDX-License-Identifier: Apache-2.0
#include "sweep/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/toml_file.h"
#include "sweep/mixes.h"

namespace smk::sim {
namespace {

// A value as the command line would have it; "" for what is neither text, number nor truth value.
std::string Scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (!node.is_integer() && !node.is_floating_point()) return "";
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// Reads one table, the top level or an [[experiment]], into an experiment that holds the defaults.
class ExperimentReader {
 public:
  ExperimentReader(std::string path, std::string prefix, SpecExperiment* experiment)
      : path_(std::move(path)), prefix_(std::move(prefix)), experiment_(*experiment) {}

  void Read(const toml::table& table) {
    for (const auto& [name, node] : table) {
      const std::string key(name.str());
      // Read elsewhere. (A copy without them would not know its lines.)
      if (key == "name" || key == "description" || (prefix_.empty() && key == "experiment"))
        continue;
      const auto row =
          std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.key == key; });
      if (row == rows_.end()) RefuseKey(key, name.source().begin.line);
      line_ = name.source().begin.line;
      row->read(node);
    }
  }

 private:
  struct Row {
    std::string key;
    std::function<void(const toml::node&)> read;
  };

  [[noreturn]] void RefuseKey(const std::string& key, unsigned line) const {
    std::vector<std::string> known;
    for (const Row& row : rows_) known.push_back(row.key);
    known.insert(known.end(), {"name", "description"});
    if (prefix_.empty()) known.emplace_back("experiment");
    throw InputError(fmt::format("{}:{}: {}{}: unknown key; expected one like '{}'", path_, line,
                                 prefix_, key, Nearest(key, known)));
  }
  [[noreturn]] void Refuse(const std::string& key, unsigned line, const char* expected) const {
    throw InputError(fmt::format("{}:{}: {}{}: expected {}", path_, line == 0 ? line_ : line,
                                 prefix_, key, expected));
  }

  std::vector<SpecText> Texts(const std::string& key, const toml::node& node) const {
    std::vector<SpecText> texts;
    const auto add = [&](const toml::node& item) {
      const std::string text = Scalar(item);
      if (text.empty()) Refuse(key, item.source().begin.line, "a value or a list of values");
      texts.push_back({text, item.source().begin.line});
    };
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& item : *array) add(item);
      if (texts.empty()) Refuse(key, 0, "at least one value");
    } else {
      add(node);
    }
    return texts;
  }
  Row List(const std::string& key, std::vector<SpecText> SpecExperiment::*member) {
    return {key, [=, self = this](const toml::node& node) {
              self->experiment_.*member = self->Texts(key, node);
            }};
  }
  Row Number(const std::string& key, std::uint64_t min, std::uint64_t SpecExperiment::*member) {
    return {key, [=, self = this](const toml::node& node) {
              if (!node.is_integer() || node.as_integer()->get() < static_cast<std::int64_t>(min)) {
                self->Refuse(key, 0, min == 0 ? "a whole number" : "a whole number from 1 on");
              }
              self->experiment_.*member = static_cast<std::uint64_t>(node.as_integer()->get());
              if (member == &SpecExperiment::count) self->experiment_.count_line = self->line_;
            }};
  }
  void ReadSet(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      line_ = name.source().begin.line;
      if (const toml::table* inner = node.as_table()) {
        ReadSet(*inner, key + ".");
        continue;
      }
      std::vector<SpecText> values = Texts("set." + key, node);
      auto& axes = experiment_.set;
      const auto same =
          std::find_if(axes.begin(), axes.end(), [&](const SpecAxis& a) { return a.key == key; });
      if (same == axes.end()) {
        axes.push_back({key, std::move(values)});
      } else {
        same->values = std::move(values);
      }
    }
  }

  const std::string path_;
  const std::string prefix_;
  SpecExperiment& experiment_;
  unsigned line_ = 0;
  const std::vector<Row> rows_ = {
      List("workloads", &SpecExperiment::workloads),
      List("streams", &SpecExperiment::streams),
      List("schedulers", &SpecExperiment::schedulers),
      List("devices", &SpecExperiment::devices),
      List("kernels", &SpecExperiment::kernels),
      List("groups", &SpecExperiment::groups),
      List("policies", &SpecExperiment::policies),
      List("preempt", &SpecExperiment::preempt),
      List("machines", &SpecExperiment::machines),
      List("control", &SpecExperiment::control),
      List("cycles", &SpecExperiment::cycles),
      List("until", &SpecExperiment::until),
      List("seeds", &SpecExperiment::seeds),
      List("arrive", &SpecExperiment::arrive),
      Number("count", 1, &SpecExperiment::count),
      Number("mix_seed", 0, &SpecExperiment::mix_seed),
      {"repeat",
       [this](const toml::node& node) {
         if (!node.is_boolean()) Refuse("repeat", 0, "true or false");
         experiment_.repeat = node.as_boolean()->get();
         experiment_.repeat_line = line_;
       }},
      {"set",
       [this](const toml::node& node) {
         if (!node.is_table()) Refuse("set", 0, "a table of key = value or key = [value, ...]");
         ReadSet(*node.as_table(), "");
       }},
  };
};

// The text that `key` has; "" when the table does not have the key.
std::string ReadText(const std::string& path, const std::string& prefix, const char* key,
                     const toml::table& table) {
  const auto found = table.find(key);
  if (found == table.end()) return "";
  const auto* text = found->second.as_string();
  if (text == nullptr || text->get().empty()) {
    throw InputError(fmt::format("{}:{}: {}{}: expected a text", path,
                                 found->first.source().begin.line, prefix, key));
  }
  if (std::string(key) == "name") {
    CheckName(fmt::format("{}:{}: {}name", path, found->first.source().begin.line, prefix),
              text->get());
  }
  return text->get();
}

SpecExperiment ReadExperiment(const std::string& path, const SpecExperiment& defaults,
                              const toml::node& node, const SweepSpec& spec) {
  const unsigned line = node.source().begin.line;
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    throw InputError(fmt::format("{}:{}: experiment: expected tables [[experiment]]", path, line));
  }
  SpecExperiment experiment = defaults;
  experiment.prefix = "experiment.";
  experiment.line = line;
  experiment.name = ReadText(path, experiment.prefix, "name", *table);
  ReadText(path, experiment.prefix, "description", *table);
  const auto same = [&](const SpecExperiment& e) { return e.name == experiment.name; };
  if (experiment.name.empty() ||
      std::any_of(spec.experiments.begin(), spec.experiments.end(), same)) {
    throw InputError(
        fmt::format("{}:{}: experiment.name: expected a name that no other has", path, line));
  }
  ExperimentReader(path, experiment.prefix, &experiment).Read(*table);
  return experiment;
}

// Workloads or streams, and no key that only the others have.
void CheckKeys(const std::string& path, const SpecExperiment& e) {
  const auto refuse = [&](const char* key, unsigned line, const char* expected) {
    throw InputError(fmt::format("{}:{}: {}{}: {}", path, std::max({line, e.line, 1u}), e.prefix,
                                 key, expected));
  };
  const auto refuse_list = [&](const char* key, const std::vector<SpecText>& texts,
                               const char* expected) {
    if (!texts.empty()) refuse(key, texts.front().line, expected);
  };
  if (e.workloads.empty() && e.streams.empty()) {
    refuse("workloads", 0,
           "expected a list of workloads or all-pairs, random-triples and the like, or streams");
  }
  if (e.streams.empty()) {
    refuse_list("schedulers", e.schedulers, "is of streams; expected the key streams");
    refuse_list("devices", e.devices, "is of streams; expected the key streams");
    // Those of the whole file are for the experiments that can use them.
    bool mixed = false, random = false;
    for (const SpecText& item : e.workloads) {
      const std::optional<MixName> mix = ParseMixName(item.text);
      mixed = mixed || mix;
      random = random || (mix && mix->random);
    }
    if (e.count_line > e.line && !random) {
      refuse("count", e.count_line, "expected random-pairs, random-triples and the like beside it");
    }
    if (!e.kernels.empty() && e.kernels.front().line > e.line && !mixed) {
      refuse("kernels", e.kernels.front().line,
             "expected all-pairs, random-pairs and the like beside it");
    }
    return;
  }
  constexpr char kOfWorkloads[] = "is of workloads; expected none beside streams";
  refuse_list("workloads", e.workloads, "expected workloads or streams, got both");
  refuse_list("kernels", e.kernels, kOfWorkloads);
  refuse_list("groups", e.groups, kOfWorkloads);
  refuse_list("until", e.until, kOfWorkloads);
  refuse_list("arrive", e.arrive, kOfWorkloads);
  if (e.count_line != 0) refuse("count", e.count_line, kOfWorkloads);
  if (e.repeat_line != 0) refuse("repeat", e.repeat_line, kOfWorkloads);
}

}  // namespace

SweepSpec LoadSweepSpec(const std::string& path) {
  SweepSpec spec;
  spec.path = path;
  spec.text = ReadFile(path);
  const toml::table root = ParseToml(spec.text, path);
  spec.name = ReadText(path, "", "name", root);
  if (spec.name.empty()) spec.name = std::filesystem::path(path).stem();
  ReadText(path, "", "description", root);

  SpecExperiment defaults;
  defaults.name = spec.name;
  const auto found = root.find("experiment");
  const toml::array* tables = found == root.end() ? nullptr : found->second.as_array();
  if (found != root.end() && (tables == nullptr || tables->empty())) {
    throw InputError(fmt::format("{}:{}: experiment: expected tables [[experiment]]", path,
                                 found->first.source().begin.line));
  }
  ExperimentReader(path, "", &defaults).Read(root);
  if (tables == nullptr) {
    spec.experiments.push_back(std::move(defaults));
  } else {
    for (const toml::node& node : *tables) {
      spec.experiments.push_back(ReadExperiment(path, defaults, node, spec));
    }
  }
  for (const SpecExperiment& experiment : spec.experiments) CheckKeys(path, experiment);
  return spec;
}

}  // namespace smk::sim
