// SPDX-License-Identifier: Apache-2.0
#include "machine/host.h"

#include <string>

#include "base/error.h"

namespace smk {
namespace {

// Address map: each program's memory is 64 GB; context buffers are above all of it, 8 GB per slot.
// It all fits into 41 bits, which every configuration of the memory system can address.
constexpr std::uint64_t kProgramBytes = std::uint64_t{1} << 36;
constexpr std::uint64_t kContextRegion = std::uint64_t{1} << 40;
constexpr std::uint64_t kContextBytes = std::uint64_t{1} << 33;

// Context buffers are a power of two of lines.
std::uint64_t ContextStride(unsigned lines) {
  std::uint64_t stride = kLineBytes;
  while (stride < std::uint64_t{lines} * kLineBytes) stride *= 2;
  return stride;
}

const char* ErrorText(LaunchError error) {
  switch (error) {
    case LaunchError::kTooLarge:
      return "one thread block needs more than an SM (or the kernel's part of it) has";
    case LaunchError::kSlotBusy:
      return "the kernel slot is busy";
    case LaunchError::kNoTbs:
      return "the grid has no thread blocks";
    case LaunchError::kBadSlot:
      return "the control plane has fewer kernel slots";
    case LaunchError::kNone:
      break;
  }
  return "no reason";
}

}  // namespace

Host::Host(const RunRequest& request, TbLedger& ledger)
    : ledger_(ledger), launch_latency_(request.machine.launch_latency) {
  programs_.reserve(request.programs.size());
  for (const RunProgram& run : request.programs) {
    Program program;
    program.run = &run;
    std::uint64_t twins = 0;
    for (const Program& other : programs_) twins += other.run->workload->name == run.workload->name;
    program.key = ProgramKey(request.seed, run.workload->name, twins);
    program.offer_at = run.arrival;
    programs_.push_back(program);
  }
  FindNextOffer();
}

const KernelSpec& Host::NextKernel(const Program& program) const {
  const Workload& workload = *program.run->workload;
  return workload.kernels[workload.launches[program.next_launch]];
}

void Host::Drive(Cycle now, HostInputs* in) {
  in->launch_valid = Offers(now);
  if (!in->launch_valid) return;
  const KernelSpec& spec = NextKernel(programs_[next_program_]);
  in->launch_kernel = KernelId{static_cast<std::uint8_t>(next_program_)};
  in->launch.need = spec.need;
  in->launch.tb_count = spec.tb_count();
  in->launch.context_base = kContextRegion + next_program_ * kContextBytes;
  in->launch.idempotent = spec.idempotence != Idempotence::kNo;
}

void Host::Observe(Cycle now, const HostInputs& in, const HostOutputs& out) {
  if (in.launch_valid && out.launch_ready) {
    const unsigned index = Index(in.launch_kernel);
    if (out.launch_error != LaunchError::kNone) Refuse(index, out.launch_error);
    Begin(index, in.launch);
    FindNextOffer();
  }
  for (unsigned done = out.kernel_done; done != 0; done &= done - 1) {
    Done(LowestLane(done), now);
    FindNextOffer();
  }
}

void Host::Begin(unsigned index, const KernelDescriptor& descriptor) {
  Program& program = programs_[index];
  const KernelSpec& spec = NextKernel(program);
  Launch& launch = launches_[index];
  launch.spec = &spec;
  launch.program = spec.program.get();
  launch.number = ++program.launches_begun;
  launch.warps = (spec.threads + kWarpThreads - 1) / kWarpThreads;
  launch.key = MixHash(program.key, program.next_launch);
  launch.memory_base = (index + 1) * kProgramBytes;
  launch.context_base = descriptor.context_base;
  launch.context_lines = ContextLines(spec.need);
  launch.context_stride = ContextStride(launch.context_lines);
  program.running = true;
  program.offer_at = kNever;
  ledger_.BeginLaunch(KernelId{static_cast<std::uint8_t>(index)}, spec.tb_count());
}

void Host::Done(unsigned index, Cycle now) {
  ledger_.EndLaunch(KernelId{static_cast<std::uint8_t>(index)}, now);
  Program& program = programs_[index];
  program.running = false;
  ++program.launches_completed;
  program.offer_at = now + launch_latency_;
  if (++program.next_launch < program.run->workload->launches.size()) return;
  program.next_launch = 0;
  ++program.runs;
  if (!program.run->repeat) program.offer_at = kNever;
}

void Host::Refuse(unsigned index, LaunchError error) const {
  const Program& program = programs_[index];
  throw InputError(program.run->workload->source_file + ": kernel " + NextKernel(program).name +
                   " cannot be launched: " + ErrorText(error));
}

void Host::FindNextOffer() {
  next_offer_ = kNever;
  for (unsigned i = 0; i < programs_.size(); ++i) {
    if (programs_[i].offer_at < next_offer_) {
      next_offer_ = programs_[i].offer_at;
      next_program_ = i;
    }
  }
}

}  // namespace smk
