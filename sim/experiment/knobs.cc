// SPDX-License-Identifier: Apache-2.0
#include "experiment/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/numbers.h"
#include "experiment/policies.h"
#include "machine/lanes.h"

namespace smk::sim {
namespace {

PolicyConfig& Part(Configuration& c, const PolicyConfig* /*tag*/) { return c.policy; }
ControlConfig& Part(Configuration& c, const ControlConfig* /*tag*/) { return c.control; }
RunConfig& Part(Configuration& c, const RunConfig* /*tag*/) { return c.run; }

// The value of a member of one of the parts.
template <typename Owner, typename T>
T& Value(Configuration& c, T Owner::*member) {
  return Part(c, static_cast<const Owner*>(nullptr)).*member;
}
template <typename Owner, typename T>
const T& Value(const Configuration& c, T Owner::*member) {
  return Value(const_cast<Configuration&>(c), member);
}

template <typename Owner, typename T>
Knob Number(const char* path, T Owner::*member, std::uint64_t min, std::uint64_t max,
            const char* meaning) {
  Knob knob;
  knob.path = path;
  knob.expected = fmt::format("{} to {}", min, max);
  knob.meaning = meaning;
  knob.print = [=](const Configuration& c) { return fmt::to_string(Value(c, member)); };
  knob.store = [=](const std::string& what, const std::string& text, Configuration* c) {
    Value(*c, member) = static_cast<T>(ParseCount(what, text, min, max));
  };
  return knob;
}

// One of some texts.
template <typename Owner, typename T>
Knob Choice(const char* path, T Owner::*member, std::vector<T> values,
            std::string (*name)(const T&), const char* meaning) {
  Knob knob;
  knob.path = path;
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto& value : values) names.push_back(name(value));
  knob.expected = Join(names, " or ");
  knob.meaning = meaning;
  knob.print = [=](const Configuration& c) { return name(Value(c, member)); };
  knob.store = [=, expected = knob.expected](const std::string& what, const std::string& text,
                                             Configuration* c) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
      throw InputError(fmt::format("{}: expected {}, got '{}'", what, expected, text));
    }
    Value(*c, member) = values[static_cast<std::size_t>(found - names.begin())];
  };
  return knob;
}

template <typename Owner>
Knob Switch(const char* path, bool Owner::*member, const char* meaning) {
  return Choice<Owner, bool>(
      path, member, {true, false}, [](const bool& on) { return fmt::to_string(on); }, meaning);
}

template <typename Owner, typename T>
Knob Word(const char* path, T Owner::*member, std::vector<T> values, const char* meaning) {
  Knob knob = Choice<Owner, T>(
      path, member, std::move(values), [](const T& value) { return std::string(Name(value)); },
      meaning);
  knob.is_word = true;
  return knob;
}

// Part of every id since the first version.
Knob InEveryId(const char* word, Knob knob) {
  knob.in_id = Knob::InId::kAlways;
  knob.id_word = word;
  return knob;
}
// Decided by the choice of the policy and its options, not by --set.
Knob Chosen(Knob knob) {
  knob.store = nullptr;
  knob.of_policy = true;
  return knob;
}
Knob OfPolicy(Knob knob) {
  knob.of_policy = true;
  return knob;
}
Knob Alone(Knob knob) {
  knob.alone = true;
  return knob;
}
Knob Column(Knob knob) {
  knob.has_column = true;
  return knob;
}
Knob ByWorkload(Knob knob) {
  knob.in_id = Knob::InId::kByWorkload;
  return knob;
}

Knob TableKnob() {
  Knob knob;
  knob.path = "policy.table";
  knob.meaning = "TBs per SM of each kernel under a fixed table";
  knob.print = [](const Configuration& c) {
    const auto& table = c.policy.table;
    return fmt::format("{}", fmt::join(table.begin(), table.begin() + kNumKernels, ","));
  };
  return Chosen(knob);
}

using Shares = std::array<std::uint16_t, kMaxKernels>;

// A share of the usage window for each kernel slot, the first ones first; the others have theirs
// from the default. `whole`: all together are at most the window.
Knob SharesKnob(const char* path, Shares PolicyConfig::*member, bool whole, const char* meaning) {
  Knob knob;
  knob.path = path;
  knob.expected = fmt::format("up to {} of 0 to {}, with commas{}", kNumKernels, kTokenWhole,
                              whole ? fmt::format(", at most {} together", kTokenWhole) : "");
  knob.meaning = meaning;
  knob.is_word = true;
  knob.print = [=](const Configuration& c) {
    const Shares& shares = c.policy.*member;
    return fmt::format("{}", fmt::join(shares.begin(), shares.begin() + kNumKernels, ","));
  };
  knob.store = [=, expected = knob.expected](const std::string& what, const std::string& text,
                                             Configuration* c) {
    const std::vector<std::string> counts = Split(text, ',');
    Shares shares = PolicyConfig{}.*member;
    std::uint64_t sum = 0;
    if (counts.size() > kNumKernels) {
      throw InputError(
          fmt::format("{}: expected {}, got {} values", what, expected, counts.size()));
    }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      shares[k] = static_cast<std::uint16_t>(ParseCount(what, counts[k], 0, kTokenWhole));
      sum += shares[k];
    }
    if (whole && sum > kTokenWhole) {
      throw InputError(fmt::format("{}: expected {}, got {}", what, expected, sum));
    }
    c->policy.*member = shares;
  };
  return knob;
}

constexpr std::uint64_t kMax16 = std::numeric_limits<std::uint16_t>::max();

// Values of each part in the order of its hash in an id.
std::vector<Knob> MakeKnobs() {
  return {
      InEveryId("", Chosen(Word("policy.dispatch", &PolicyConfig::dispatch, {},
                                "how thread blocks are placed"))),
      InEveryId("", Chosen(Word("policy.preempt", &PolicyConfig::preempt, {},
                                "how an SM changes hands under spatial and tokens, and TBs leave a "
                                "partition under warped-slicer"))),
      InEveryId("", Alone(Word("policy.warp_policy", &PolicyConfig::warp_policy,
                               {WarpPolicy::kGto, WarpPolicy::kLrr},
                               "order of the warps on a scheduler"))),
      InEveryId("quota ", Chosen(Switch("policy.quota_enable", &PolicyConfig::quota_enable,
                                        "quotas for the warp schedulers"))),
      InEveryId("kernels_per_sm ",
                Column(OfPolicy(Number("policy.kernels_per_sm", &PolicyConfig::kernels_per_sm, 1,
                                       kNumKernels, "kernels that may share one SM")))),
      InEveryId("epoch ",
                Column(Number("policy.epoch_length", &PolicyConfig::epoch_length, 100,
                              std::numeric_limits<std::uint16_t>::max(),
                              "instructions per scheduler and epoch; also cycles between two "
                              "ticks"))),
      Switch("policy.stream", &PolicyConfig::stream,
             "TBs one per cycle where room is a question of the SM alone; false: one at a time"),
      Switch("policy.quota_gate", &PolicyConfig::quota_gate,
             "quotas are put in force; false: kernels are profiled, and nobody waits"),
      Word("policy.epoch_end", &PolicyConfig::epoch_end, {EpochEnd::kSpent, EpochEnd::kTick},
           "what loads quotas anew: the last one spent, or every tick as well"),
      Switch(
          "policy.preempt_guard", &PolicyConfig::preempt_guard,
          "on demand: where TBs left for a kernel, none leave for another before the second tick"),
      Switch("policy.leftover_strict", &PolicyConfig::leftover_strict,
             "under leftover a kernel waits until the older ones have dispatched all their TBs"),
      InEveryId("linger ", Number("policy.linger_ticks", &PolicyConfig::linger_ticks, 0, 1000,
                                  "ticks before a finished kernel's place is given away")),
      InEveryId("latency ", Column(Number("policy.latency_scale", &PolicyConfig::latency_scale, 1,
                                          std::numeric_limits<std::uint8_t>::max(),
                                          "slows every decision of the driver by this factor"))),
      Number("policy.slicer_warmup", &PolicyConfig::slicer_warmup, 0, kMax16,
             "cycles before the first window of a profile, and before kernels are watched"),
      Number("policy.slicer_settle", &PolicyConfig::slicer_settle, 0, kMax16,
             "cycles before each further window of a profile"),
      Number("policy.slicer_window", &PolicyConfig::slicer_window, 1, 16'000,
             "cycles of a window in which kernels are sampled or watched"),
      Number("policy.slicer_delay", &PolicyConfig::slicer_delay, 0, kMax16,
             "cycles from the last sample of a profile to the question for a plan"),
      Number("policy.slicer_change", &PolicyConfig::slicer_change, 0, 7,
             "IPC has changed when it differs by more than 2^-N of what it was"),
      Number("policy.slicer_sustain", &PolicyConfig::slicer_sustain, 0, 15,
             "windows in a row with another IPC before a kernel is profiled again; 0: never"),
      Number("policy.slicer_loss", &PolicyConfig::slicer_loss, 0, 4 * 65536 - 1,
             "what all kernels together may lose before each gets its own SMs, in 1/65536"),
      Number("policy.token_window", &PolicyConfig::token_window, 10, 24,
             "the usage window under tokens has 2^N cycles"),
      Number("policy.token_quota", &PolicyConfig::token_quota, 1, (1u << 24) - 1,
             "cycles of a token"),
      SharesKnob("policy.token_request", &PolicyConfig::token_request, true,
                 "what each kernel slot shall have of the usage window, in 1/1024"),
      SharesKnob("policy.token_limit", &PolicyConfig::token_limit, false, "what it may have"),
      Number("policy.chimera_limit", &PolicyConfig::chimera_limit, 0, (1u << 24) - 1,
             "cycles within which an SM shall be free under --preempt chimera"),
      Number("policy.chimera_line", &PolicyConfig::chimera_line, 0, 7,
             "the same takes 2^N cycles for a line of a context when it compares"),
      InEveryId("table ", TableKnob()),
      InEveryId("", Alone(Number("control.preempted_depth", &ControlConfig::preempted_depth, 1,
                                 4096, "preempted TBs of a kernel that can wait"))),
      Alone(Number("control.link_stages", &ControlConfig::link_stages, 0, 8,
                   "relay stations between the driver and every SM")),
      Alone(Number("control.link_spread", &ControlConfig::link_spread, 0, 7,
                   "up to so many more, which differ from SM to SM")),
      Alone(Number("control.link_seed", &ControlConfig::link_seed, 0,
                   std::numeric_limits<std::uint32_t>::max(), "which SM has how many more")),
      Alone(Word("run.until", &RunConfig::until,
                 {RunUntil::kCycles, RunUntil::kDone, RunUntil::kWork},
                 "what ends a run, see --until")),
      Alone(Number("run.warm_up", &RunConfig::warm_up, 0, kMaxRunCycles,
                   "cycles before the first that is measured")),
      Alone(Number("run.measure", &RunConfig::measure, 0, kMaxRunCycles,
                   "cycles that are measured; 0: all to the end of the run")),
      InEveryId("ideal_preemption ",
                Column(Switch("run.ideal_preemption", &RunConfig::ideal_preemption,
                              "contexts move in no time and without traffic [SMK Sec. 6.5]"))),
      ByWorkload(Alone(Column(Number("run.grid_divisor", &RunConfig::grid_divisor, 1, 1'000'000,
                                     "divides the TBs of every grid, which keeps at least one: "
                                     "smaller data sets")))),
  };
}

}  // namespace

const char* Name(RunUntil until) {
  switch (until) {
    case RunUntil::kDone:
      return "done";
    case RunUntil::kWork:
      return "work";
    case RunUntil::kCycles:
      break;
  }
  return "cycles";
}

const std::vector<Knob>& Knobs() {
  static const std::vector<Knob> kKnobs = MakeKnobs();
  return kKnobs;
}

const std::vector<const Knob*>& SettableKnobs() {
  static const std::vector<const Knob*> kSettable = [] {
    std::vector<const Knob*> settable;
    for (const Knob& knob : Knobs()) {
      if (knob.store) settable.push_back(&knob);
    }
    return settable;
  }();
  return kSettable;
}

const Knob* FindKnob(const std::string& path) {
  const auto& knobs = SettableKnobs();
  const auto found =
      std::find_if(knobs.begin(), knobs.end(), [&](const Knob* k) { return k->path == path; });
  return found == knobs.end() ? nullptr : *found;
}

void Apply(const std::vector<KnobSetting>& settings, Configuration* configuration) {
  for (const KnobSetting& setting : settings) {
    setting.knob->store("--set " + setting.knob->path, setting.text, configuration);
  }
}

std::string IdText(const Configuration& configuration, const std::string& section) {
  std::vector<std::string> words;
  for (const Knob& knob : Knobs()) {
    if (knob.in_id != Knob::InId::kAlways || knob.section() != section) continue;
    words.push_back(knob.id_word + knob.print(configuration));
  }
  return Join(words, " ");
}

std::string IdOfChanges(const Configuration& configuration) {
  static const std::vector<std::string> kUnchanged = [] {
    std::vector<std::string> values;
    for (const Knob& knob : Knobs()) values.push_back(knob.print(Configuration{}));
    return values;
  }();
  std::string text;
  for (std::size_t i = 0; i < Knobs().size(); ++i) {
    const Knob& knob = Knobs()[i];
    if (knob.in_id != Knob::InId::kWhenChanged) continue;
    const std::string value = knob.print(configuration);
    if (value != kUnchanged[i]) text += fmt::format("{}={}\n", knob.path, value);
  }
  return text;
}

}  // namespace smk::sim
