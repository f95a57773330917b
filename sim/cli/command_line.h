// SPDX-License-Identifier: Apache-2.0
// The words of the command line: what can be written, and what is to be done then.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/report.h"
#include "cli/rtl.h"
#include "cli/serve.h"
#include "cli/sweep.h"
#include "cli/synth.h"
#include "cli/timeline.h"
#include "cli/trace.h"
#include "cli/validate.h"

namespace smk::sim {

// Everything that parsing fills in, and what is to be done then.
struct CommandLineParser {
  CLI::App app{"Simulates GPU kernels that share a GPU, under several policies."};
  RunOptions run, compare;
  ServeOptions serve;
  SweepOptions sweep;
  SynthOptions synth;
  RtlOptionsOfCommand rtl;
  ReportOptions report;
  TimelineOptions timeline;
  TraceInfoOptions trace_info;
  TraceExportOptions trace_export;
  ValidateOptions validate;
  ListOptions list;
  HelpOptions help;
  std::function<int(const Context&)> action;

  CommandLineParser();
  // Whether stdout is one JSON document, also when the command fails.
  bool PrintsJson() const { return run.json || compare.json || serve.json || synth.PrintsJson(); }

 private:
  void AddRun();
  void AddCompare();
  void AddServe();
  void AddTrace();
  void AddValidate();
  void AddSweep();
  void AddSweepWords(CLI::App* sub);  // those of a sweep without a file
  void AddReport();
  void AddTimeline();
  void AddSynth();
  void AddRtl();
  void AddList();
  void AddHelp();
};

}  // namespace smk::sim
