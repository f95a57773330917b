// SPDX-License-Identifier: Apache-2.0
// A sweep's specification as its file says it: texts with their lines, nothing looked up yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smk::sim {

// A value and the line it stands on.
struct SpecText {
  std::string text;
  unsigned line = 0;
};

// One key of `set` with the values it takes, one after another.
struct SpecAxis {
  std::string key;
  std::vector<SpecText> values;
};

// One [[experiment]]: the product of its lists.
struct SpecExperiment {
  std::string name;
  std::string prefix;  // of its keys in messages: "experiment." or ""
  unsigned line = 0;
  std::vector<SpecText> workloads;  // "sgemm+lbm", "all-pairs", "random-triples", ...
  // Or streams of jobs, each under each of these host schedulers (and policies); what is not given
  // is as the stream's file says.
  std::vector<SpecText> streams, schedulers, devices;
  std::vector<SpecText> kernels;  // what all-... and random-... choose from
  std::vector<SpecText> groups;   // "C+M": keep these only; empty: all
  std::vector<SpecText> policies{{"smk-pw", 0}};
  std::vector<SpecText> preempt;  // empty: as usual for the policy
  std::vector<SpecText> machines{{"gtx980", 0}};
  std::vector<SpecText> control{{"reference", 0}};
  std::vector<SpecText> cycles{{"2000000", 0}};
  std::vector<SpecText> until;  // empty: as usual for the workload
  std::vector<SpecText> seeds{{"1", 0}};
  std::vector<SpecText> arrive;
  std::vector<SpecAxis> set;
  std::uint64_t count = 0;     // how many random-... choose
  std::uint64_t mix_seed = 1;  // of the choice
  unsigned count_line = 0;     // 0: not given
  unsigned repeat_line = 0;    // 0: not given
  bool repeat = true;
};

struct SweepSpec {
  std::string path;  // empty: from the command line
  std::string name;
  std::string text;  // the file's bytes
  std::vector<SpecExperiment> experiments;
};

// Reads a specification; the format is described in docs/usage.md. Throws InputError, one line:
// "file:line: key: what was expected".
SweepSpec LoadSweepSpec(const std::string& path);

}  // namespace smk::sim
