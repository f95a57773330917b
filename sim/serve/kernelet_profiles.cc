// SPDX-License-Identifier: Apache-2.0
#include "serve/kernelet_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/csv_table.h"
#include "base/error.h"
#include "experiment/trace_name.h"
#include "host/kernelet/latency_line.h"
#include "host/kernelet/slicing.h"
#include "workload/program_summary.h"
#include "workload/workload_file.h"

namespace smk::sim {
namespace {

constexpr double kRequests = 32;        // of an access that is not coalesced at all
constexpr unsigned kChainedLoads = 64;  // of a warp of the microbenchmark

// Every warp loads a line that nobody has loaded, and then the next: `warps` accesses are
// outstanding on each SM. Without coalescing, an access is 32 lines at random places.
std::string ChaseText(unsigned sms, unsigned warps, bool coalesced) {
  std::string loads;
  for (unsigned i = 0; i < 8; ++i) {
    loads +=
        coalesced
            ? fmt::format("  load_global a = a [list + tb*262144 + warp*8192 + trip*1024 + {}]\n",
                          i * kLineBytes)
            : "  load_global a = a [list] gather 32 window 128M\n";
  }
  return fmt::format(
      "description = \"Dependent loads\"\ntype = \"memory\"\nlaunches = [\"chase\"]\n"
      "[arrays]\nlist = \"128M\"\n[[kernel]]\nname = \"chase\"\nthreads = {}\nregisters = 8\n"
      "shared_memory = 0\ngrid = [{}]\nidempotence = \"yes\"\nprogram = '''\nalu a =\n"
      "loop trip {} {{\n{}  branch\n}}\n'''\n",
      warps * kWarpThreads, sms, kChainedLoads / 8, loads);
}

double CyclesOf(const RunResult& result) {
  const JobStats& job = result.jobs.at(0);
  return static_cast<double>(job.finish - job.start);
}

double OneAtMost(double share) { return std::min(1.0, share); }

// R_m and the part that is not coalesced: instructions that a warp waits for. An access of n lines
// counts as (n - 1) / 31 of one that is not coalesced, so that requests are as many [D48].
void SetMemory(const KernelSpec& spec, KerneletKernel* kernel) {
  const ProgramSummary summary = Summarise(spec);
  double waits = 0, uncoalesced = 0;
  for (const AccessSummary& access : summary.accesses) {
    if (access.op == OpClass::kStoreGlobal) continue;
    waits += access.executions;
    uncoalesced += access.executions * std::max(0.0, access.lines - 1) / (kRequests - 1);
  }
  if (waits == 0) return;
  kernel->memory_ratio = waits / summary.warp_instructions;
  kernel->uncoalesced = OneAtMost(uncoalesced / waits);
}

double PeakBytesPerCycle(const MachineConfig& machine) {
  const MemoryConfig& memory = machine.memory;
  return double{memory.dram_clock_mhz} / machine.core_clock_mhz * memory.dram_bytes_per_clock *
         memory.controllers;
}

}  // namespace

KerneletPlan PlanOf(const KerneletProfiles& profiles) {
  KerneletPlan plan;
  plan.machine = profiles.machine;
  for (const KerneletProfile& profile : profiles.kernels) plan.kernels.push_back(profile.model);
  plan.places = profiles.places;
  return plan;
}

std::string ProfilesCsv(const KerneletProfiles& profiles) {
  std::string text =
      "workload,kernel,tbs,cycles,ipc,predicted_ipc,instructions_per_tb,memory_ratio,uncoalesced,"
      "pur,mur,least_tbs,slice_overhead\n";
  const KerneletModel model(profiles.machine);
  for (const KerneletProfile& p : profiles.kernels) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", QuotedCell(p.workload),
                        QuotedCell(p.model.name), p.profiled, p.cycles, p.ipc,
                        model.Alone(p.model, model.MostTbs(p.model)), p.model.instructions,
                        p.model.memory_ratio, p.model.uncoalesced, p.model.pur, p.model.mur,
                        p.model.least_tbs, p.slice_overhead);
  }
  return text;
}

std::string PairsCsv(const KerneletProfiles& profiles) {
  const KerneletPlan plan = PlanOf(profiles);
  CoScheduleFinder finder(plan.machine, plan.kernels, plan.params);
  std::string text = "workload_a,workload_b,tbs_a,tbs_b,predicted_ipc_a,predicted_ipc_b,profit\n";
  for (std::size_t a = 0; a < plan.kernels.size(); ++a) {
    for (std::size_t b = a; b < plan.kernels.size(); ++b) {
      const std::optional<SlicePair> pair = finder.Balanced(a, b);
      if (!pair) continue;
      text += fmt::format("{},{},{},{},{},{},{}\n", QuotedCell(profiles.kernels[a].workload),
                          QuotedCell(profiles.kernels[b].workload), pair->tbs[0], pair->tbs[1],
                          pair->ipc[0], pair->ipc[1], pair->profit);
    }
  }
  return text;
}

KerneletRun KerneletProfiler::Alone(const KerneletProfile& profile, std::uint32_t slice) const {
  KerneletRun run;
  run.name = profile.workload + " alone";
  run.key = fmt::format("{}\nslice {}", profile.id, slice);
  run.request = runs_.Request({profile.alone}, /*repeat=*/false);
  if (slice != 0) run.request.scheduler = [slice] { return MakeSliced(slice); };
  return run;
}

std::vector<LatencyPoint> KerneletProfiler::Latencies(bool coalesced) {
  const MachineConfig& machine = runs_.experiment().machine;
  std::vector<KerneletRun> wanted;
  std::vector<unsigned> sizes;
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    if (warps > machine.sm.limits.threads) break;
    const std::string text = ChaseText(machine.sms, warps, coalesced);
    const auto workload = ParseWorkload(text, "microbenchmark.toml");
    wanted.push_back(
        {"microbenchmark", "microbenchmark " + text, runs_.Request({workload}, /*repeat=*/false)});
    sizes.push_back(warps);
  }
  const std::vector<RunResult> results = runs_.Get(wanted);
  std::vector<LatencyPoint> points;
  for (std::size_t i = 0; i < results.size(); ++i) {
    // An instruction takes its cycle of issue besides.
    points.push_back(
        {sizes[i] * (coalesced ? 1 : kRequests), CyclesOf(results[i]) / kChainedLoads - 1});
  }
  return points;
}

KerneletMachine KerneletProfiler::MeasureMachine() {
  const SmConfig& sm = runs_.experiment().machine.sm;
  KerneletMachine machine;
  machine.sms = runs_.experiment().machine.sms;
  machine.limits = sm.limits;
  machine.schedulers = sm.schedulers;
  const double issued = double{1} * sm.units.sp / sm.alu.initiation;
  const double fetched = double{1} * sm.fetch_warps * sm.fetch_width;
  machine.issue_rate = std::min(issued, fetched) / sm.schedulers;
  machine.memory.coalesced = FitLatencyLine(Latencies(true));
  machine.memory.uncoalesced = FitLatencyLine(Latencies(false));
  machine.memory.requests = kRequests;
  return machine;
}

// The kernels that jobs launch, those of equal workloads once.
void KerneletProfiler::AddKernels(KerneletProfiles* profiles) const {
  const Experiment& experiment = runs_.experiment();
  std::map<std::pair<std::string, std::uint16_t>, std::size_t> known;
  for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
    const Workload& workload = *experiment.workloads[i];
    for (const std::uint16_t kernel : workload.launches) {
      const KernelSpec& spec = workload.kernels[kernel];
      if (profiles->places.count(&spec) != 0) continue;
      const std::string id = workload.name + " " + workload.content_hash;
      const auto [place, is_new] = known.emplace(std::make_pair(id, kernel), known.size());
      profiles->places[&spec] = place->second;
      if (!is_new) continue;
      if (IsTraceName(experiment.names[i])) {
        throw InputError(
            fmt::format("kernelet: {}: a trace cannot be profiled", experiment.names[i]));
      }
      auto alone = std::make_shared<Workload>(workload);
      alone->launches = {kernel};
      KerneletProfile profile;
      profile.id = fmt::format("{} kernel {}", id, kernel);
      profile.alone = alone;
      profile.workload = workload.name;
      profile.tbs = profile.profiled = spec.tb_count();
      if (tbs_) profile.profiled = tbs_(experiment.workloads[i], kernel);
      if (profile.profiled < profile.tbs) {
        alone->kernels[kernel].tb_limit = profile.profiled;
        profile.id += fmt::format(" tbs {}", profile.profiled);
      }
      profile.model.name = spec.name;
      profile.model.need = spec.need;
      SetMemory(spec, &profile.model);
      profiles->kernels.push_back(std::move(profile));
    }
  }
}

void KerneletProfiler::MeasureKernel(const RunResult& alone, const KerneletMachine& machine,
                                     KerneletProfile* profile) {
  const double cycles = CyclesOf(alone);
  const KernelStats& stats = alone.kernels.at(0);
  const auto instructions = static_cast<double>(stats.warp_instructions);
  const auto bytes = static_cast<double>(stats.dram_read_bytes + stats.dram_write_bytes);
  profile->cycles = static_cast<Cycle>(cycles);
  profile->ipc = instructions / cycles / machine.sms;
  KerneletKernel& model = profile->model;
  model.instructions = instructions / profile->profiled;
  model.pur = OneAtMost(profile->ipc / (machine.schedulers * machine.issue_rate));
  model.mur = OneAtMost(bytes / cycles / PeakBytesPerCycle(runs_.experiment().machine));
  double last = cycles;
  const std::uint32_t all = profile->profiled;
  std::uint32_t slice = SmallestSlice(all, machine.sms, [&](std::uint32_t size) {
    const KerneletRun run = Alone(*profile, size == all ? 0 : size);
    return last = CyclesOf(runs_.Get({run}).front());
  });
  profile->slice_overhead = slice == all ? 0 : last / cycles - 1;
  if (slice == all) slice = profile->tbs;
  model.least_tbs = std::max(1u, (slice + machine.sms - 1) / machine.sms);
}

KerneletProfiles KerneletProfiler::Measure() {
  KerneletProfiles profiles;
  AddKernels(&profiles);
  profiles.machine = MeasureMachine();
  std::vector<KerneletRun> whole;
  whole.reserve(profiles.kernels.size());
  for (const KerneletProfile& profile : profiles.kernels) whole.push_back(Alone(profile, 0));
  const std::vector<RunResult> alone = runs_.Get(whole);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    MeasureKernel(alone[i], profiles.machine, &profiles.kernels[i]);
  }
  return profiles;
}

}  // namespace smk::sim
