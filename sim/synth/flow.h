// SPDX-License-Identifier: Apache-2.0
// From blocks to numbers: synthesis of each block, timing of each block with what it contains.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "synth/blocks.h"
#include "synth/liberty.h"
#include "synth/tools.h"
#include "synth/wires.h"

namespace smk::sim {

// What everything is made for.
struct SynthTarget {
  SynthConfig config;
  Liberty liberty;  // with the wires
  WireModel wires;
  std::string wire_name;   // of the library's own wire load
  double uncertainty = 0;  // of the clock, percent of the period
  std::string corner = "typical";
  double derate = 1;    // of all delays and checks of cells, in this corner
  unsigned repair = 0;  // changes of gates that may repair the paths of what is timed
  double mhz = 0;
  double period_ns() const { return 1000 / mhz; }
  // Wires, an uncertain clock or a corner, so that hold and limits tell something.
  bool strict() const {
    return wires.kind == WireModel::Kind::kPerSink || uncertainty > 0 || corner != "typical";
  }
};

// What a piece of logic takes.
struct SynthArea {
  std::uint64_t cells = 0;
  std::uint64_t flip_flops = 0;
  std::uint64_t sram_bits = 0;  // in no other number
  double um2 = 0;

  void Add(std::uint64_t times, const SynthArea& other);
};

// The worst path of some.
struct SynthPath {
  bool exists = false;
  std::string start, end;  // registers and ports
  unsigned depth = 0;      // cells between its ends
  double arrival_ns = 0;
  double slack_ns = 0;
};

// One block.
struct SynthResult {
  SynthBlock block;
  std::string inputs;  // hash of all that decides `own`
  SynthArea own;       // without what it contains
  SynthArea total;
  std::map<std::string, std::uint64_t> instances;  // of what it contains
  std::map<std::string, std::uint64_t> registers;  // bits by name
  SynthPath worst, between_registers;
  SynthPath hold;                 // the shortest from register to register
  SynthPath recovery, removal;    // of the reset, before and after a clock edge
  std::uint64_t slow_pins = 0;    // whose slew is above the library's limit
  std::uint64_t loaded_pins = 0;  // whose load is
  std::uint64_t repairs = 0;      // changes of gates, of all that it contains
  double repair_um2 = 0;          // what these take, in no area
};

// The highest clock at which a path of the target's constraints would be met.
double Fmax(const SynthTarget& target, const SynthPath& path);

using SynthProgress = std::function<void(const std::string& line)>;

// Synthesizes blocks, and what they contain, and times them.
class SynthFlow {
 public:
  SynthFlow(const SynthCatalogue& catalogue, const SynthTarget& target, ToolCache* cache);

  // The blocks and what they contain, once each, contents first.
  std::vector<SynthBlock> WithContents(const std::vector<std::string>& names) const;
  // The hash of all that decides the area of a block.
  std::string Inputs(const SynthBlock& block) const { return YosysRun(block).key; }
  // Results of the blocks, contents first; without `timing` paths do not exist.
  std::vector<SynthResult> Run(const std::vector<SynthBlock>& blocks, bool timing, unsigned jobs,
                               const SynthProgress& progress) const;
  // Copies netlists, logs and timing reports of finished runs into `folder`, one folder per block.
  void CopyFiles(const std::vector<SynthBlock>& blocks, bool timing,
                 const std::string& folder) const;

 private:
  ToolRun YosysRun(const SynthBlock& block) const;
  // The package with the numbers that --set changes, as a file.
  std::string Package(const std::string& original) const;
  ToolRun StaRun(const SynthBlock& block) const;
  void ReadTiming(const ToolRun& run, SynthResult* result) const;
  void ReadRepairs(const std::string& text, SynthResult* result) const;
  SynthResult ReadArea(const SynthBlock& block, const ToolRun& run) const;

  const SynthCatalogue& catalogue_;
  const SynthTarget& target_;
  ToolCache* const cache_;
  std::string yosys_version_, sta_version_;
};

// Reads a report of OpenSTA; paths of no length do not exist.
SynthPath ParsePath(const std::string& report, double time_unit_ns);
// The pins in a report of slews or loads above their limit.
std::uint64_t ParseViolations(const std::string& report);

}  // namespace smk::sim
