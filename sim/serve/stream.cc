// SPDX-License-Identifier: Apache-2.0
#include "serve/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/toml_file.h"
#include "experiment/config_file.h"
#include "serve/spec_keys.h"
#include "workload/random.h"

namespace smk::sim {
namespace {

std::uint64_t HashName(std::uint64_t seed, const std::string& name) {
  std::uint64_t hash = ScrambleBits(seed + 0x9e3779b97f4a7c15);
  for (const char c : name) hash = ScrambleBits(hash ^ static_cast<unsigned char>(c));
  return hash;
}

// The natural logarithm by basic arithmetic: that of the C library may differ in the last bit from
// machine to machine. With x = m 2^e and s = (m - 1) / (m + 1): 2 (s + s^3/3 + ...) + e ln 2.
double LogOf(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr int kTerms = 31;  // 2 s^33 / 33 < 2^-53 for |s| <= 1/3
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = kTerms; k > 0; k -= 2) sum = sum * s * s + 1.0 / k;
  return 2 * s * sum + exponent * kLn2;
}

// Arrivals of an entry's jobs.
std::vector<Cycle> ArrivalsOf(const StreamEntry& entry, double core_clock_mhz, std::uint64_t seed) {
  if (!entry.rate) return std::vector<Cycle>(entry.count, entry.arrival);
  return PoissonArrivals(seed, entry.client, entry.count, entry.arrival,
                         core_clock_mhz * 1e6 / *entry.rate);
}

void CheckCount(const StreamSpec& spec) {
  std::uint64_t jobs = 0;
  for (const StreamEntry& entry : spec.entries) {
    jobs += entry.count;
    if (jobs <= kMostJobs) continue;
    throw InputError(fmt::format("{}.count: expected at most {} jobs in a stream, got {}",
                                 entry.where, kMostJobs, jobs));
  }
}

void CheckCopies(const StreamEntry& entry, const JobCopies& copies, const MachineConfig& machine) {
  const std::uint64_t memory = std::uint64_t{machine.host.memory} << 20;
  if (copies.in <= memory && copies.out <= memory - copies.in) return;
  throw InputError(fmt::format(
      "{}: copy_in, copy_out: expected at most the {} MB of memory of {}, got {} and {} bytes",
      entry.where, machine.host.memory, machine.name, copies.in, copies.out));
}

std::string SizeLines(const JobSize& size) {
  std::string text;
  if (size.scale) text += fmt::format("scale = {}\n", *size.scale);
  if (size.tbs) text += fmt::format("tbs = {}\n", *size.tbs);
  if (size.launches) text += fmt::format("launches = {}\n", *size.launches);
  const auto copy = [&](const char* key, const std::optional<std::uint64_t>& bytes) {
    if (bytes == kOfWorkload) {
      text += fmt::format("{} = \"workload\"\n", key);
    } else if (bytes) {
      text += fmt::format("{} = {}\n", key, *bytes);
    }
  };
  copy("copy_in", size.copy_in);
  copy("copy_out", size.copy_out);
  return text;
}

}  // namespace

std::shared_ptr<const Workload> WorkloadAt(const std::string& where, const std::string& name,
                                           const Backend& backend) {
  try {
    return backend.find_workload(name);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

std::shared_ptr<const Workload> Reduced(const std::shared_ptr<const Workload>& workload,
                                        const JobSize& size) {
  auto reduced = std::make_shared<Workload>(*workload);
  bool changed = false;
  if (size.launches && *size.launches < reduced->launches.size()) {
    reduced->launches.resize(*size.launches);
    reduced->content_hash += fmt::format("/launches={}", *size.launches);
    changed = true;
  }
  for (KernelSpec& kernel : reduced->kernels) {
    const std::uint32_t all = kernel.tb_count();
    const std::uint32_t tbs =
        size.tbs ? *size.tbs : static_cast<std::uint32_t>(std::ceil(size.scale.value_or(1) * all));
    if (tbs >= all) continue;
    kernel.tb_limit = std::max(1u, tbs);
    reduced->content_hash += fmt::format("/{}={}", kernel.name, kernel.tb_limit);
    changed = true;
  }
  return changed ? reduced : workload;
}

JobCopies CopiesOf(const Workload& whole, const Workload& reduced, const JobSize& size) {
  const auto bytes = [&](const std::optional<std::uint64_t>& asked, std::uint64_t of_workload) {
    return asked == kOfWorkload ? BytesOfPart(of_workload, whole, reduced) : asked.value_or(0);
  };
  return {bytes(size.copy_in, whole.input_bytes), bytes(size.copy_out, whole.output_bytes),
          size.copy_in == kOfWorkload, size.copy_out == kOfWorkload};
}

std::vector<Cycle> PoissonArrivals(std::uint64_t seed, const std::string& name, std::size_t count,
                                   Cycle start, double mean_gap) {
  constexpr double kLast = 1e15;  // far beyond any run
  const std::uint64_t key = HashName(seed, name);
  std::vector<Cycle> arrivals;
  double at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // 53 bits of a draw, in (0, 1].
    const double part = static_cast<double>((ScrambleBits(key + i) >> 11) + 1) * 0x1p-53;
    at = std::min(kLast, at + std::max(0.0, -LogOf(part)) * mean_gap);
    arrivals.push_back(start + static_cast<Cycle>(at));
  }
  return arrivals;
}

std::vector<PlannedJob> ExpandStream(const StreamSpec& spec, const MachineConfig& machine,
                                     std::uint64_t seed, Cycle cycles, const Backend& backend) {
  CheckCount(spec);
  std::vector<PlannedJob> jobs;
  for (const StreamEntry& entry : spec.entries) {
    const auto whole = WorkloadAt(entry.where + ".workload", entry.workload, backend);
    const auto workload = Reduced(whole, entry.size);
    const JobCopies copies = CopiesOf(*whole, *workload, entry.size);
    CheckCopies(entry, copies, machine);
    for (const Cycle arrival : ArrivalsOf(entry, machine.core_clock_mhz, seed)) {
      if (arrival >= cycles) {
        throw InputError(fmt::format("{}: a job arrives at cycle {}, and the run has only {}",
                                     entry.where, arrival, cycles));
      }
      jobs.push_back({{entry.workload, workload, arrival, entry.client, copies}, entry.size});
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const PlannedJob& a, const PlannedJob& b) {
    return a.job.arrival < b.job.arrival;
  });
  return jobs;
}

std::string StreamToml(const StreamSpec& spec, const Options& options, const std::string& scheduler,
                       bool overlap, const std::vector<PlannedJob>& jobs,
                       const DeviceChoice& device) {
  std::string text = "# Every job of this run. Again: smk serve FILE\n";
  const auto line = [&](const char* key, const std::optional<std::string>& value) {
    if (value) text += fmt::format("{} = {}\n", key, TomlText(*value));
  };
  line("name", spec.name);
  line("scheduler", scheduler);
  line("device", Name(device.kind));
  if (device.kind == DeviceKind::kReplay) {
    text += fmt::format("rate_cycles = {}\nrate_warm_up = {}\n", device.limits.cycles,
                        device.limits.warm_up);
  }
  line("policy", options.policy);
  line("preempt", options.preempt);
  line("machine", PortableName(*options.machine));
  line("control", options.control);
  line("cycles", options.cycles);
  line("seed", options.seed);
  text += fmt::format("overlap = {}\n", overlap);
  text += SetToml(options.sets);
  for (const PlannedJob& planned : jobs) {
    text += fmt::format("\n[[job]]\nworkload = {}\narrival = {}\n",
                        TomlText(PortableName(planned.job.name)), planned.job.arrival);
    if (!planned.job.client.empty()) {
      text += fmt::format("client = {}\n", TomlText(planned.job.client));
    }
    text += SizeLines(planned.size);
  }
  return text;
}

}  // namespace smk::sim
