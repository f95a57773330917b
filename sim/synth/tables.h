// SPDX-License-Identifier: Apache-2.0
// What `smk synth` prints and writes, and how it compares two tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "synth/flow.h"

namespace smk::sim {

// Everything found out in one call.
struct SynthSummary {
  SynthTarget target;
  std::vector<SynthResult> results;

  const SynthResult* Find(const std::string& block) const;
  // Bits of the registers that the papers call counters, on all SMs.
  std::uint64_t CounterBits() const;
};

nlohmann::ordered_json ToJson(const SynthSummary& summary);
// Area, timing, worst paths, and the papers' figures as far as the blocks are there.
std::string ToText(const SynthSummary& summary);

// The papers' figures beside ours, as far as the blocks are there: [{ what, paper, here }].
nlohmann::ordered_json PaperJson(const SynthSummary& summary);

// A table that ToJson() made, as far as later tables are compared with it.
class AreaTable {
 public:
  // Throws InputError when `path` is no such table.
  explicit AreaTable(const std::string& path);
  // Throws InputError unless the table was made for the same library, configuration and clock.
  void RequireSameTarget(const SynthTarget& target) const;

  // The hash of what the block was made of when the table was made; "" when it was not there.
  std::string Inputs(const std::string& block) const;
  // One line for each block that has grown by more than `percent`, or is not in the table.
  std::vector<std::string> Grown(const std::vector<SynthResult>& results, double percent) const;

 private:
  std::string path_;
  nlohmann::json json_;
};

}  // namespace smk::sim
