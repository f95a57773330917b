// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/format.h>

#include "smk/version.h"

namespace smk::sim {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 passed, 1 the run found a failure, 2 bad usage or input.\n"
    "Details: docs/usage.md, docs/results.md";

void AddText(CLI::App* app, const char* name, std::optional<std::string>* value,
             const std::string& help, const char* type) {
  app->add_option(name, *value, help)->type_name(type);
}

// Its variable is empty as long as the option is not given, so an empty value would not be seen.
void AddText(CLI::App* app, const char* name, std::string* value, const std::string& help,
             const char* type) {
  const auto not_empty = [](const std::string& text) {
    return std::string(text.empty() ? "expected a value, got ''" : "");
  };
  app->add_option(name, *value, help)->type_name(type)->check(not_empty);
}

// CLI11 takes --quiet=5 for --quiet.
void RefuseValuesOfFlags(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) {
    if (option->get_expected_max() == 0) option->disable_flag_override();
  }
  for (CLI::App* sub : app->get_subcommands(nullptr)) RefuseValuesOfFlags(sub);
}

// Options that may be given again and take one value each time.
void AddTexts(CLI::App* app, const char* name, std::vector<std::string>* values,
              const std::string& help, const char* type) {
  app->add_option(name, *values, help)->type_name(type)->allow_extra_args(false);
}

// What the kernels run on.
void AddHardwareOptions(CLI::App* app, RunOptions* o) {
  AddText(app, "--preempt", &o->preempt,
          "how an SM changes hands: switch, drain (default of warped-slicer), flush (spatial and "
          "tokens), chimera",
          "MODE");
  AddText(app, "--control", &o->control,
          "control plane: reference (default), rtl, compiled (its gates), chip (as one model), or "
          "lockstep, lockstep-compiled of reference and rtl or compiled",
          "NAME");
  AddText(app, "--machine", &o->machine,
          "gtx980 (default), another of smk list machines, or a file", "NAME");
  AddTexts(app, "--set", &o->sets,
           "change one key of the machine, policy, control or run; again for more", "KEY=VALUE");
  AddText(app, "--seed", &o->seed, "seed of everything random in the workloads (default 1)", "N");
}

// How it is run, and where the results go.
void AddOutputOptions(CLI::App* app, RunOptions* o) {
  AddText(app, "--out", &o->out, "write all results into this folder", "DIR");
  app->add_flag("--force", o->force, "write into DIR even if it holds other things");
  app->add_option("--timeline", o->timeline,
                  "write timeline.json.gz of these cycles (default: all) for Perfetto, with --out")
      ->type_name("FROM:TO")
      ->expected(0, 1);
  AddText(app, "--timeline-step", &o->timeline_step, "cycles between two samples of its counters",
          "N");
  AddText(app, "--jobs", &o->jobs, "simulations at the same time (default: one per processor)",
          "N");
  app->add_flag("--no-cache", o->no_cache, "run the isolated runs again, and do not keep them");
  app->add_flag("--json", o->json, "print all numbers as JSON, and nothing else");
  app->add_flag("--quiet", o->quiet, "print the last line only");
}

void AddCommonOptions(CLI::App* app, RunOptions* o) {
  AddText(app, "kernels", &o->kernels,
          "kernels: names, workload files or trace:FOLDER, joined by + (in a name: ++)",
          "KERNEL+KERNEL");
  AddHardwareOptions(app, o);
  AddText(app, "--cycles", &o->cycles, "core cycles to simulate: 200000, 200k, 2M (default), 1e6",
          "N");
  AddText(app, "--until", &o->until,
          "what ends the run: cycles (default); done: all programs have ended (default of traces); "
          "work: each kernel has done what it does alone in --cycles",
          "MODE");
  AddText(app, "--warm-up", &o->warm_up, "statistics begin after so many cycles", "N");
  AddText(app, "--measure", &o->measure, "statistics are of so many cycles (default: to the end)",
          "N");
  AddTexts(app, "--arrive", &o->arrivals, "launch this kernel at this cycle (default 0)",
           "KERNEL@CYCLE");
  AddTexts(app, "--client", &o->clients, "whose job this kernel is (default: one of its name)",
           "KERNEL@CLIENT");
  AddText(app, "--config", &o->config, "start from a config.toml that an earlier run wrote",
          "FILE");
  AddOutputOptions(app, o);
  app->add_flag("--no-repeat", o->no_repeat, "do not execute a program again when it ends early");
  app->add_flag("--strict", o->strict, "an unknown opcode in a trace is an error");
  app->add_flag("--verify", o->verify, "read and check traces although they look as they did");
}

}  // namespace

CommandLineParser::CommandLineParser() {
  app.name("smk");
  app.footer(kFooter);
  app.require_subcommand(0, 1);  // so that "help run" is one command and its argument
  app.set_version_flag("--version", fmt::format("smk {} ({})", kVersion, kGitDescribe));
  AddRun();
  AddCompare();
  AddServe();
  AddSweep();
  AddReport();
  AddTimeline();
  AddTrace();
  AddValidate();
  AddSynth();
  AddRtl();
  AddList();
  app.add_subcommand("doctor", "say what is installed and what is missing")->callback([this] {
    action = DoctorCommand;
  });
  AddHelp();
  RefuseValuesOfFlags(&app);
}

void CommandLineParser::AddRun() {
  CLI::App* sub = app.add_subcommand("run", "run kernels together under one policy");
  AddCommonOptions(sub, &run);
  AddText(sub, "--policy", &run.policy, "see smk list policies (default smk-pw)", "NAME");
  AddText(sub, "--gates", &run.gates,
          "with --control rtl or lockstep: these blocks as netlists, everything else RTL",
          "BLOCK,BLOCK,...");
  sub->add_option("--wave", run.wave,
                  "write the RTL's waveform of these cycles (default: all), with --out")
      ->type_name("FROM:TO")
      ->expected(0, 1);
  sub->footer(kFooter);
  sub->callback(
      [this] { action = [this](const Context& context) { return RunCommand(context, run); }; });
}

void CommandLineParser::AddCompare() {
  CLI::App* sub = app.add_subcommand("compare", "run kernels under each policy, in one table");
  AddCommonOptions(sub, &compare);
  AddText(sub, "--policies", &compare.policies,
          "policies to compare (default: all); oracle is the best fixed one", "NAME,NAME,...");
  sub->footer(kFooter);
  sub->callback([this] {
    action = [this](const Context& context) { return CompareCommand(context, compare); };
  });
}

void CommandLineParser::AddServe() {
  CLI::App* sub = app.add_subcommand("serve", "run a stream of jobs under a host scheduler");
  sub->add_option("spec", serve.spec, "a TOML file, for example sim/streams/kernelet_mix.toml")
      ->type_name("SPEC")
      ->required();
  AddText(sub, "--scheduler", &serve.scheduler, "see smk list schedulers (default in-order)",
          "NAME");
  AddText(sub, "--device", &serve.device.device,
          "cycle: the machine model; replay: rates that it has measured (default cycle)",
          "cycle|replay");
  AddText(sub, "--rate-cycles", &serve.device.rate_cycles,
          "of a run that measures rates for replay (default 300000)", "N");
  AddText(sub, "--rate-warm-up", &serve.device.rate_warm_up,
          "at the beginning of such a run, not counted (default 20000)", "N");
  AddText(sub, "--policy", &serve.policy,
          "of the hardware, see smk list policies (default leftover)", "NAME");
  AddHardwareOptions(sub, &serve);
  AddText(sub, "--cycles", &serve.cycles, "end the run after so many (default 1G)", "N");
  sub->add_flag("--no-overlap", serve.no_overlap, "no copy while a kernel runs, nor the reverse");
  AddOutputOptions(sub, &serve);
  sub->footer(kFooter);
  sub->callback(
      [this] { action = [this](const Context& context) { return ServeCommand(context, serve); }; });
}

void CommandLineParser::AddTrace() {
  CLI::App* sub = app.add_subcommand("trace", "look at Accel-Sim traces, or write one");
  sub->require_subcommand(1);
  sub->footer(kFooter);
  CLI::App* info = sub->add_subcommand("info", "kernels, instruction mix, lines, footprint");
  info->add_option("folder", trace_info.path, "a folder with a kernelslist.g")->required();
  info->add_flag("--json", trace_info.json, "as JSON");
  info->add_flag("--strict", trace_info.strict, "an unknown opcode is an error");
  info->add_flag("--verify", trace_info.verify, "read and check it although it looks as it did");
  info->add_flag("--no-cache", trace_info.no_cache,
                 "read the text, and do not keep a compact form");
  info->callback([this] {
    action = [this](const Context& context) { return TraceInfoCommand(context, trace_info); };
  });
  CLI::App* out = sub->add_subcommand("export", "write a kernel as an Accel-Sim trace");
  out->add_option("kernel", trace_export.kernel, "a name or a workload file")->required();
  AddText(out, "--out", &trace_export.out, "folder for the trace", "DIR");
  AddText(out, "--tbs", &trace_export.tbs, "the first TBs of each launch (default: all)", "N");
  AddText(out, "--launches", &trace_export.launches,
          "the first launches (default: until each kernel was launched once)", "N");
  AddText(out, "--max-instructions", &trace_export.max_instructions,
          "of a warp, its exit besides (default: all)", "N");
  AddText(out, "--seed", &trace_export.seed, "seed of everything random (default 1)", "N");
  out->add_flag("--force", trace_export.force, "write over a trace that is there");
  out->callback([this] {
    action = [this](const Context& context) { return TraceExportCommand(context, trace_export); };
  });
}

void CommandLineParser::AddValidate() {
  CLI::App* sub = app.add_subcommand("validate", "run traces whose cycles are known");
  sub->add_option("folder", validate.folder, "a folder with an expected.csv")->required();
  AddTexts(sub, "--only", &validate.only, "only traces whose names begin so; again for more",
           "NAME");
  AddText(sub, "--machine", &validate.machine, "default: gtx980-accelsim", "NAME");
  AddTexts(sub, "--set", &validate.sets,
           "change one key of the machine, control or run; again for more", "KEY=VALUE");
  AddText(sub, "--cycles", &validate.cycles, "of a trace, at most (default 1G)", "N");
  AddText(sub, "--within", &validate.within, "fail when a trace is off by more", "PERCENT");
  AddText(sub, "--csv", &validate.csv, "write the table into this file", "FILE");
  AddText(sub, "--json", &validate.json, "write all numbers into this file", "FILE");
  AddText(sub, "--jobs", &validate.jobs, "traces at the same time (default: one per processor)",
          "N");
  sub->add_flag("--no-cache", validate.no_cache, "read the text, and keep no compact form");
  sub->add_flag("--quiet", validate.quiet, "print the last line only");
  sub->footer(kFooter);
  sub->callback([this] {
    action = [this](const Context& context) { return ValidateCommand(context, validate); };
  });
}

void CommandLineParser::AddSweep() {
  CLI::App* sub = app.add_subcommand("sweep", "make all runs of a specification");
  AddText(sub, "spec", &sweep.spec,
          "a TOML file, for example sim/sweeps/smk_paper.toml; with --set and the like: kernels as "
          "of run, several by commas",
          "SPEC|KERNEL+KERNEL");
  AddSweepWords(sub);
  AddTexts(sub, "--experiment", &sweep.experiments, "only this experiment of SPEC; again for more",
           "NAME");
  sub->add_flag("--list", sweep.list, "show the runs and do nothing");
  AddText(sub, "--out", &sweep.out, "the database (default: name of SPEC + .db)", "DB");
  sub->add_flag("--retry-failed", sweep.retry_failed, "make failed runs again");
  AddText(sub, "--export", &sweep.export_format,
          "print the results of SPEC, or all of DB: csv, json", "FORMAT");
  sub->add_option("--merge", sweep.merge, "join these databases into the one of --out")
      ->type_name("DB...");
  AddText(sub, "--runs", &sweep.runs_file, "only the runs whose ids this file lists", "FILE");
  sub->add_flag("--slurm", sweep.slurm, "submit the missing runs as an array job; collect results");
  sub->add_flag("--wait", sweep.wait, "with --slurm: wait, and submit again what is missing");
  AddText(sub, "--tasks", &sweep.tasks, "with --slurm: size of the array, and how many at once",
          "N[%RUNNING]");
  AddTexts(sub, "--sbatch", &sweep.sbatch, "with --slurm: an option for sbatch; again for more",
           "OPTION");
  sub->add_flag("--one-writer", sweep.one_writer,
                "nobody else uses DB; it may lie on a network file system");
  AddText(sub, "--shard", &sweep.shard, "only part K of N", "K/N");
  AddText(sub, "--jobs", &sweep.jobs, "runs at the same time (default: one per processor)", "N");
  sub->add_flag("--quiet", sweep.quiet, "print the last line only");
  sub->footer(kFooter);
  sub->callback(
      [this] { action = [this](const Context& context) { return SweepCommand(context, sweep); }; });
}

void CommandLineParser::AddSweepWords(CLI::App* sub) {
  SweepWords* words = &sweep.words;
  AddTexts(sub, "--set", &words->sets,
           "without SPEC: these values of a key, one after another; again for more", "KEY=A,B,...");
  AddText(sub, "--policies", &words->policies, "without SPEC (default smk-pw)", "A,B,...");
  const std::pair<const char*, std::string*> others[] = {
      {"--preempt", &words->preempt}, {"--machine", &words->machines},
      {"--control", &words->control}, {"--cycles", &words->cycles},
      {"--until", &words->until},     {"--seed", &words->seeds}};
  for (const auto& [name, text] : others) {
    AddText(sub, name, text, "without SPEC: as of run, or several", "A,B,...");
  }
}

void CommandLineParser::AddReport() {
  CLI::App* sub = app.add_subcommand("report", "write one page about a run, compare or sweep");
  sub->add_option("path", report.path, "folder of run or compare, or database of sweep")
      ->type_name("DIR|DB")
      ->required();
  AddText(sub, "--out", &report.out, "the page (default: report.html in DIR, or beside DB)",
          "FILE");
  AddText(sub, "--title", &report.title, "its title (default: workload, or name of DB)", "TEXT");
  sub->add_flag("--quiet", report.quiet, "print nothing");
  sub->footer(kFooter);
  sub->callback([this] {
    action = [this](const Context& context) { return ReportCommand(context, report); };
  });
}

void CommandLineParser::AddTimeline() {
  CLI::App* sub = app.add_subcommand("timeline", "draw which TB was where and when");
  sub->add_option("folder", timeline.folder, "folder of run")->type_name("DIR")->required();
  sub->add_flag("--svg", timeline.svg, "as a picture");
  AddText(sub, "--cycles", &timeline.cycles, "only these (default: all)", "FROM:TO");
  AddTexts(sub, "--sm", &timeline.sms, "only this SM; again for more", "N");
  AddText(sub, "--width", &timeline.width, "in pixels (default 1200)", "N");
  AddText(sub, "--out", &timeline.out, "the picture (default: timeline.svg in DIR)", "FILE");
  sub->add_flag("--quiet", timeline.quiet, "print nothing");
  sub->footer(kFooter);
  sub->callback([this] {
    action = [this](const Context& context) { return TimelineCommand(context, timeline); };
  });
}

void CommandLineParser::AddSynth() {
  CLI::App* sub = app.add_subcommand("synth", "area and timing of the RTL");
  sub->add_option("blocks", synth.blocks, "blocks, for example quota_scheduler (default: all)")
      ->type_name("BLOCK...");
  AddText(sub, "--liberty", &synth.liberty, "standard cells (default: the project's own)", "FILE");
  AddText(sub, "--config", &synth.config, "gtx980 (default), fermi, small or v100", "NAME");
  AddText(sub, "--mhz", &synth.mhz, "clock to be met (default 1216)", "N");
  AddText(sub, "--wires", &synth.wires,
          "load of wires: library (default), none, or fF per sink, for which gates are sized",
          "MODEL");
  AddText(sub, "--uncertainty", &synth.uncertainty,
          "of the clock, percent of the period (default 0)", "N");
  AddText(sub, "--corner", &synth.corner, "delays of cells: typical (default), slow or fast",
          "NAME");
  AddText(sub, "--repair", &synth.repair,
          "so many changes of gates may repair paths that are too slow (default 0)", "N");
  AddTexts(sub, "--set", &synth.sets,
           "another value for a parameter of smk_pkg, NumKernels=8; again for more", "NAME=N");
  sub->add_option("--json", synth.json,
                  "write all numbers into this file; without one, print them as JSON and nothing "
                  "else")
      ->type_name("FILE")
      ->expected(0, 1);
  AddText(sub, "--html", &synth.html, "write the page of it into this file", "FILE");
  AddText(sub, "--out", &synth.out, "keep netlists, logs and timing reports here", "DIR");
  AddText(sub, "--against", &synth.against, "fail when a block is 5 % larger than in this table",
          "FILE");
  sub->add_flag("--no-timing", synth.no_timing, "area only");
  AddText(sub, "--jobs", &synth.jobs, "blocks at the same time (default: one per processor)", "N");
  sub->add_flag("--no-cache", synth.no_cache, "make everything again, and do not keep it");
  sub->add_flag("--quiet", synth.quiet, "print nothing");
  sub->footer(kFooter);
  sub->callback(
      [this] { action = [this](const Context& context) { return SynthCommand(context, synth); }; });
}

void CommandLineParser::AddRtl() {
  CLI::App* sub = app.add_subcommand("rtl", "the RTL of any machine: build it, or write it out");
  sub->require_subcommand(1);
  const auto common = [this](CLI::App* part) {
    part->add_option("machine", rtl.machine, "a name, or a machine file")->required();
    AddTexts(part, "--set", &rtl.sets,
             "change one key of the machine, or control.preempted_depth; again for more",
             "KEY=VALUE");
    part->add_flag("--quiet", rtl.quiet, "print nothing");
    part->footer(kFooter);
  };
  CLI::App* build = sub->add_subcommand("build", "make it for --control rtl and lockstep");
  common(build);
  AddText(build, "--gates", &rtl.gates,
          "these blocks as netlists, everything else RTL, for --gates of run", "BLOCK,BLOCK,...");
  build->add_flag("--compiled", rtl.compiled, "with compiled gates, for --control compiled");
  build->add_flag("--chip", rtl.chip, "the whole chip as one model, for --control chip");
  build->callback([this] {
    action = [this](const Context& context) { return RtlBuildCommand(context, rtl); };
  });
  CLI::App* list = sub->add_subcommand("list", "show what was built, and which blocks are gates");
  list->add_flag("--json", rtl.json, "as JSON");
  list->callback(
      [this] { action = [this](const Context& context) { return RtlListCommand(context, rtl); }; });
  CLI::App* emit = sub->add_subcommand("emit", "write all its files into a folder");
  common(emit);
  AddText(emit, "--out", &rtl.out, "the folder", "DIR");
  emit->get_option("--out")->required();
  AddText(emit, "--prefix", &rtl.prefix, "before the names of all modules and packages", "P");
  AddText(emit, "--kernels", &rtl.kernels, "kernel slots, 2 to 8 (default: 4)", "N");
  emit->add_flag("--force", rtl.force, "write into a folder that has other files");
  emit->callback(
      [this] { action = [this](const Context& context) { return RtlEmitCommand(context, rtl); }; });
}

void CommandLineParser::AddList() {
  CLI::App* sub = app.add_subcommand(
      "list", "list kernels, policies, schedulers, machines, settings, keys or statistics");
  sub->add_option("what", list.what, "what to list")
      ->type_name("kernels|policies|schedulers|machines|settings|keys|statistics")
      ->required();
  sub->add_option("kernel", list.kernels,
                  "kernels: only these, by name or workload file; or trace:FOLDER")
      ->type_name("KERNEL...");
  AddText(sub, "--machine", &list.machine, "machine of occupancies and settings (default gtx980)",
          "NAME");
  sub->add_flag("--json", list.json, "as JSON");
  AddText(sub, "--of", &list.of, "statistics: of this object of stats.json only", "OBJECT");
  sub->add_flag("--markdown", list.markdown, "settings, keys, statistics: as the manual has them");
  sub->callback(
      [this] { action = [this](const Context& context) { return ListCommand(context, list); }; });
}

void CommandLineParser::AddHelp() {
  CLI::App* sub = app.add_subcommand("help", "explain a command");
  sub->add_option("command", help.topic, "one of those that smk help lists");
  AddText(sub, "--as", &help.format, "all commands as man page, or completions for a shell",
          "man|bash|zsh|fish");
  sub->callback([this] {
    action = [this](const Context& context) { return HelpCommand(context, &app, help); };
  });
}

}  // namespace smk::sim
