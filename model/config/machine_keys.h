// SPDX-License-Identifier: Apache-2.0
// The keys of a machine file: one list, from which files are read, checked and written.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "config/machine_config.h"

namespace smk {

// Limits of an SM in the units that people use.
struct NaturalLimits {
  unsigned registers = 0;      // 32-bit registers
  unsigned shared_memory = 0;  // bytes
  unsigned threads = 0;
  unsigned tbs = 0;

  static NaturalLimits Of(const ResourceVector& limits);
  ResourceVector ToUnits() const;
};

// One key: what it says, where its value is kept and which values it can have.
struct MachineKey {
  std::string path;     // with dots: "sm.l1.bytes"
  std::string unit;     // "cycles" of the core, "clocks" of the DRAM, ... or empty
  std::string meaning;  // one sentence
  std::variant<unsigned*, double*, std::string*> value;
  double min = 0, max = 0;                // numbers
  unsigned multiple = 1;                  // integers: of this
  bool power_of_two = false;              // integers
  std::vector<std::string> choices = {};  // all there are; empty: any

  // What a value must be: "an integer from 1 to 32".
  std::string Expected() const;
  // Stores a value when it is one; false, and nothing stored, when it is not.
  bool Store(double number) const;
  bool Store(const std::string& text) const;
  // Whether the text is among the choices, if there are any.
  bool IsChoice(const std::string& text) const;
  // Whether the value is what it must be.
  bool Holds() const;
  // As in a machine file.
  std::string Print() const;
};

// All keys, in the order of a machine file: a table's own keys before its inner tables. The values
// are inside `machine` and `limits`, which must live as long as the list.
std::vector<MachineKey> MachineKeys(MachineConfig* machine, NaturalLimits* limits);

}  // namespace smk
