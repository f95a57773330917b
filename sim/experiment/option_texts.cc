// SPDX-License-Identifier: Apache-2.0
#include "experiment/option_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/numbers.h"
#include "experiment/requests.h"

namespace smk::sim {
namespace {

constexpr Cycle kMaxWindow = 1'000'000'000'000;
constexpr Cycle kUsualStep = 100;

// "histo" of "histo", "../x/histo.toml"
std::string Stem(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  std::string stem = slash == std::string::npos ? name : name.substr(slash + 1);
  if (stem.size() > 5 && stem.substr(stem.size() - 5) == ".toml") stem.resize(stem.size() - 5);
  return stem;
}

// The position of the kernel that an option names, by label or, when it is there once, by name.
// `text` is the option as it was typed.
std::size_t FindNamed(const Experiment& experiment, const std::string& text,
                      const std::string& name) {
  std::size_t found = 0, matches = 0;
  for (std::size_t i = 0; i < experiment.labels.size(); ++i) {
    if (experiment.labels[i] == name) return i;
    if (experiment.workloads[i]->name != name && Stem(experiment.names[i]) != name &&
        experiment.names[i] != name) {
      continue;
    }
    found = i;
    ++matches;
  }
  if (matches == 1) return found;
  if (matches == 0) {
    throw InputError(
        fmt::format("{}: '{}' is not in the run (one of {})", text, name, Join(experiment.labels)));
  }
  throw InputError(fmt::format("{}: '{}' is in the run {} times; write one of {}", text, name,
                               matches, Join(experiment.labels)));
}

// FROM:TO of --wave or --timeline, in cycles; nothing is the whole run.
std::pair<Cycle, Cycle> ParseWindow(const char* option, const std::string& text, Cycle cycles) {
  if (text.empty()) return {0, cycles};
  const std::vector<std::string> ends = Split(text, ':');
  if (ends.size() != 2) {
    throw InputError(fmt::format("{}: expected FROM:TO in cycles, got '{}'", option, text));
  }
  const Cycle from = ParseCount(option, ends[0], 0, cycles - 1);
  return {from, ParseCount(option, ends[1], from + 1, kMaxWindow)};
}

}  // namespace

void ParseArrivals(const std::vector<std::string>& arrivals, Experiment* experiment) {
  std::vector<bool> given(experiment->names.size(), false);
  for (const std::string& text : arrivals) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) {
      throw InputError(fmt::format("--arrive: expected KERNEL@CYCLE, got '{}'", text));
    }
    const std::size_t kernel = FindNamed(*experiment, "--arrive " + text, text.substr(0, at));
    if (given[kernel]) {
      throw InputError(fmt::format("--arrive {}: the arrival of this kernel is given twice", text));
    }
    given[kernel] = true;
    experiment->arrivals[kernel] =
        ParseCount("--arrive " + text, text.substr(at + 1), 0, experiment->cycles - 1);
  }
}

void ParseClients(const std::vector<std::string>& clients, Experiment* experiment) {
  for (const std::string& text : clients) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos || at + 1 == text.size()) {
      throw InputError(fmt::format("--client: expected KERNEL@CLIENT, got '{}'", text));
    }
    const std::size_t kernel = FindNamed(*experiment, "--client " + text, text.substr(0, at));
    if (!experiment->clients[kernel].empty()) {
      throw InputError(fmt::format("--client {}: the client of this kernel is given twice", text));
    }
    experiment->clients[kernel] = text.substr(at + 1);
    CheckName("--client", text);
  }
}

void ParseTimeline(const Options& options, Experiment* experiment) {
  if (!options.timeline) {
    if (!options.timeline_step.empty()) throw InputError("--timeline-step: needs --timeline");
    return;
  }
  if (options.out.empty()) {
    throw InputError("--timeline: needs --out DIR to write timeline.json.gz to");
  }
  const Cycle most = MostCycles(*experiment);
  const auto [from, to] = ParseWindow("--timeline", *options.timeline, most);
  experiment->timeline_from = from;
  experiment->timeline_to = std::min(to, most);
  // Nobody knows how long a run will be that ends when its programs do.
  experiment->timeline_step = kUsualStep;
  experiment->timeline_most_steps = kUsualMostSteps;
  if (options.timeline_step.empty()) return;
  experiment->timeline_step = ParseCount("--timeline-step", options.timeline_step, 1, kMaxWindow);
  experiment->timeline_most_steps = kMostSteps;
}

void ParseWave(const Options& options, Experiment* experiment) {
  if (!options.wave) return;
  if (options.out.empty()) throw InputError("--wave: needs --out DIR to write wave.fst to");
  if (IsCompiled(experiment->control)) {
    throw InputError("--wave: compiled gates have no waveforms; needs --control rtl or lockstep");
  }
  if (!IsVerilated(experiment->control)) {
    throw InputError("--wave: draws the RTL; needs --control rtl or lockstep");
  }
  if (!experiment->gates.empty()) {
    throw InputError("--wave: what is built with --gates has no waveforms");
  }
  experiment->wave.path = options.out + "/" + kUnfinishedWave;
  if (options.wave->empty()) return;
  const auto [from, to] = ParseWindow("--wave", *options.wave, MostCycles(*experiment));
  experiment->wave.from = from;
  experiment->wave.to = to;
}

}  // namespace smk::sim
