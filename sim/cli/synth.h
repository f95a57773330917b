// SPDX-License-Identifier: Apache-2.0
// `smk synth`: area and timing of the RTL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace smk::sim {

// What `smk synth` makes.
struct SynthOptions {
  std::vector<std::string> blocks;  // none: all
  std::string liberty;              // "": the default library
  std::string config = "gtx980";
  std::string mhz = "1216";
  std::string wires = "library";    // or none, or fF per sink
  std::string uncertainty = "0";    // of the clock, percent
  std::string corner = "typical";   // or slow, fast
  std::string repair = "0";         // changes of gates that may repair paths
  std::vector<std::string> sets;    // NAME=N for parameters of smk_pkg
  std::optional<std::string> json;  // a file; empty: stdout, and nothing else there
  std::string html;                 // a file for the page of it
  std::string out;                  // folder for netlists, logs and timing reports
  std::string against;              // a table that no block may exceed
  std::optional<std::string> jobs;
  bool no_timing = false;
  bool no_cache = false;
  bool quiet = false;

  bool PrintsJson() const { return json && json->empty(); }
};
int SynthCommand(const Context& context, const SynthOptions& options);

}  // namespace smk::sim
