// SPDX-License-Identifier: Apache-2.0
#include "sweep/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/numbers.h"

namespace smk::sim {
namespace {

std::vector<SpecText> Texts(const std::string& option, const std::vector<std::string>& values) {
  std::vector<SpecText> texts;
  for (const std::string& value : values) {
    const auto same = [&](const SpecText& text) { return text.text == value; };
    if (value.empty() || std::any_of(texts.begin(), texts.end(), same)) {
      throw InputError(fmt::format("{}: expected values by commas, each once; got '{}'", option,
                                   Join(values, ",")));
    }
    texts.push_back({value, 1});  // given
  }
  return texts;
}

SpecAxis ReadSet(const std::string& set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("--set: expected KEY=VALUE,VALUE,..., got '{}'", set));
  }
  const std::string key = set.substr(0, equals);
  return {key, Texts("--set " + key, Split(set.substr(equals + 1), ','))};
}

// The folders and endings of files say nothing in a name.
std::string NameOf(const std::string& workloads) {
  std::vector<std::string> mixes;
  for (const std::string& workload : Split(workloads, ',')) {
    std::vector<std::string> kernels;
    for (const std::string& kernel : Split(workload, '+')) {
      const std::filesystem::path path(kernel);
      const bool file = path.extension() == ".toml";
      kernels.push_back((file ? path.stem() : path.filename()).string());
    }
    mixes.push_back(Join(kernels, "+"));
  }
  return mixes.size() > 3 ? fmt::format("{}-workloads", mixes.size()) : Join(mixes, ",");
}

}  // namespace

std::vector<std::string> SplitPolicies(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : Split(text, ',')) {
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    if (number && !names.empty() && names.back().rfind("table:", 0) == 0) {
      names.back() += "," + part;
    } else {
      names.push_back(part);
    }
  }
  return names;
}

bool SweepWords::Given() const {
  const auto given = [](const std::string& text) { return !text.empty(); };
  return !sets.empty() || given(policies) || given(preempt) || given(machines) || given(control) ||
         given(cycles) || given(until) || given(seeds);
}

SweepSpec SpecOfWords(const SweepWords& words) {
  SpecExperiment experiment;
  if (words.workloads.empty()) {
    throw InputError(
        "sweep: no kernels given; write for example: smk sweep cutcp+stencil --set "
        "sm.l1.bytes=24576,49152");
  }
  experiment.workloads = Texts("workloads", Split(words.workloads, ','));
  const auto take = [](const char* option, const std::string& text, std::vector<SpecText>* to) {
    if (!text.empty()) *to = Texts(option, Split(text, ','));
  };
  if (!words.policies.empty()) {
    experiment.policies = Texts("--policies", SplitPolicies(words.policies));
  }
  take("--preempt", words.preempt, &experiment.preempt);
  take("--machine", words.machines, &experiment.machines);
  take("--control", words.control, &experiment.control);
  take("--cycles", words.cycles, &experiment.cycles);
  take("--until", words.until, &experiment.until);
  take("--seed", words.seeds, &experiment.seeds);
  SweepSpec spec;
  spec.name = NameOf(words.workloads);
  for (const std::string& set : words.sets) {
    SpecAxis axis = ReadSet(set);
    const auto same = [&](const SpecAxis& other) { return other.key == axis.key; };
    if (std::any_of(experiment.set.begin(), experiment.set.end(), same)) {
      throw InputError(
          fmt::format("--set {}: is given twice; write its values with commas", axis.key));
    }
    if (axis.values.size() > 1) spec.name += "-" + axis.key;
    experiment.set.push_back(std::move(axis));
  }
  experiment.name = spec.name;
  spec.experiments.push_back(std::move(experiment));
  return spec;
}

}  // namespace smk::sim
