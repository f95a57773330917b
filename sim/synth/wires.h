// SPDX-License-Identifier: Apache-2.0
// Wires before there is a layout: what each adds to the load of the cell that drives it.
#pragma once

#include <string>

namespace smk::sim {

// The capacitance of a net, by the number of its sinks. Resistance is none.
struct WireModel {
  enum class Kind {
    kLibrary,  // the library's default wire load; none when it has none
    kNone,
    kPerSink,  // `ff` for each sink
  };
  Kind kind = Kind::kLibrary;
  double ff = 0;  // fF

  // `text` is "library", "none" or a number of fF per sink; InputError otherwise.
  static WireModel Parse(const std::string& option, const std::string& text);
};

// The text of a Liberty file with these wires as its default, and with the others that it has.
// `path` is for messages.
std::string WithWires(const std::string& path, const std::string& liberty, const WireModel& wires);

// The name of a Liberty file's default wire load; "" when it has none.
std::string DefaultWires(const std::string& liberty);

}  // namespace smk::sim
