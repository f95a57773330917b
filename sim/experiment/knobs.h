// SPDX-License-Identifier: Apache-2.0
// The knobs: what configures a run besides its machine file. One list, from which --set, `smk list
// settings`, config.toml, the id of a run, the cache of isolated runs, the database and the page on
// usage are loops.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/control_plane.h"
#include "machine/run.h"

namespace smk::sim {

const char* Name(RunUntil until);

// What can be set of the run itself.
struct RunConfig {
  RunUntil until = RunUntil::kCycles;
  Cycle warm_up = 0;
  Cycle measure = 0;  // 0: to the end
  bool ideal_preemption = false;
  unsigned grid_divisor = 1;
};

// Everything in effect that is not of the machine file.
struct Configuration {
  PolicyConfig policy;
  ControlConfig control;
  RunConfig run;
};

// One member of a Configuration.
struct Knob {
  // How the id of a run says it.
  enum class InId : std::uint8_t {
    kWhenChanged,  // when it has not its default: a new knob leaves the ids of older runs alone
    kAlways,       // with `id_word` in front, since the first version
    kByWorkload,   // the content hash of the workloads says it
  };

  std::string path;      // with dots: "policy.epoch_length"
  std::string expected;  // "100 to 65535"
  std::string meaning;   // one sentence
  std::function<std::string(const Configuration&)> print;
  // Throws InputError beginning with `what` for a value that is not `expected`. Empty for what
  // --policy or --preempt say.
  std::function<void(const std::string& what, const std::string& text, Configuration*)> store;
  bool is_word = false;     // quoted in TOML
  bool alone = false;       // matters to an isolated run
  bool of_policy = false;   // each policy has its own value
  bool has_column = false;  // in the table `runs` of a sweep's database
  InId in_id = InId::kWhenChanged;
  std::string id_word;  // "quota "

  // "policy" and "epoch_length" of "policy.epoch_length"
  std::string section() const { return path.substr(0, path.find('.')); }
  std::string name() const { return path.substr(path.find('.') + 1); }
};

// All knobs, section by section.
const std::vector<Knob>& Knobs();
// Those that --set can change.
const std::vector<const Knob*>& SettableKnobs();
// The settable knob of this path, or null.
const Knob* FindKnob(const std::string& path);

// A knob and what the user set it to; the text has been checked.
struct KnobSetting {
  const Knob* knob = nullptr;
  std::string text;
};
void Apply(const std::vector<KnobSetting>& settings, Configuration* configuration);

// What the id of a run hashes of a section: "even switch gto quota false"; and, of all sections, of
// the knobs that say nothing until they are changed: "policy.x=3\n".
std::string IdText(const Configuration& configuration, const std::string& section);
std::string IdOfChanges(const Configuration& configuration);

}  // namespace smk::sim
