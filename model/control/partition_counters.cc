// SPDX-License-Identifier: Apache-2.0
#include "control/partition_counters.h"

namespace smk {
namespace {

// The counters of a read have 7 bits.
constexpr unsigned kIndexRange = 128;

// Bits [from, to) of a 64-bit mask.
std::uint64_t Bits(unsigned from, unsigned to) {
  const std::uint64_t below_to = to >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
  return from >= 64 ? 0 : below_to & ~((std::uint64_t{1} << from) - 1);
}

bool SameBases(const PartitionRange& a, const PartitionRange& b) {
  return a.registers_base == b.registers_base && a.shared_memory_base == b.shared_memory_base &&
         a.threads_base == b.threads_base && a.tb_base == b.tb_base;
}

}  // namespace

PartitionCounters::Outputs PartitionCounters::Eval(const Inputs& in) const {
  Outputs out;
  out.judging = judging();
  if (state_.judge == 0) return out;
  const auto k = static_cast<KernelId>(__builtin_ctz(state_.judge));
  const std::uint32_t stays = (state_.same & state_.judge) != 0 ? state_.slots : 0;
  for (std::uint32_t m = in.slot_valid & ~stays; m != 0; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctz(m));
    if ((*in.slot_kernel)[slot] == k) out.misaligned |= 1u << slot;
  }
  return out;
}

bool PartitionCounters::EndsWithTheSm(const PartitionRange& r) const {
  return r.registers_limit == limits_.registers && r.shared_memory_limit == limits_.shared_memory &&
         r.threads_limit == limits_.threads && r.tb_base + r.tb_count == limits_.tbs;
}

void PartitionCounters::Take(const SmCommand& command) {
  State& s = state_;
  if (command.first) s.next_valid = 0;
  const unsigned k = Index(command.kernel);
  s.next_valid |= static_cast<KernelMask>(1u << k);
  s.next_range[k] = command.range;
}

// The plan comes into force.
void PartitionCounters::Complete() {
  State& s = state_;
  s.same = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    const bool before = s.partitioned && (s.valid & s.next_valid & 1u << k) != 0;
    // TBs are in order within a range, so its end is a place as good as its beginning.
    if (before && (SameBases(s.range[k], s.next_range[k]) ||
                   (EndsWithTheSm(s.range[k]) && EndsWithTheSm(s.next_range[k])))) {
      s.same |= static_cast<KernelMask>(1u << k);
    }
  }
  s.partitioned = true;
  s.valid = s.next_valid;
  s.range = s.next_range;
}

// One step of each part, the last first: all read what the one before held.
void PartitionCounters::Read(const Inputs& in) {
  State& s = state_;
  const PartitionRange& r = s.range[in.read_kernel];
  s.warps = Warps(in.read_kernel, s.first, in.read_warps);
  s.first = (r.threads_base + s.index * in.read_warps) % kIndexRange;
  s.index = (kIndexRange + in.read_slot - r.tb_base) % kIndexRange;
  s.slots = Slots(in.read_kernel);
}

void PartitionCounters::Tick(const Inputs& in) {
  State& s = state_;
  if (in.read) Read(in);
  if (s.look != 0) s.slots = Slots(static_cast<unsigned>(__builtin_ctz(s.look)));
  s.judge = s.look;
  s.look = static_cast<KernelMask>(s.complete ? 1u : (s.look << 1) & lookable_);
  if (s.complete) Complete();
  if (in.command_valid) Take(in.command);
  s.complete = in.command_valid && in.command.last;
}

std::uint32_t PartitionCounters::Slots(unsigned kernel) const {
  if (!state_.partitioned) return ~0u;
  if ((state_.valid >> kernel & 1) == 0) return 0;
  const PartitionRange& r = state_.range[kernel];
  return static_cast<std::uint32_t>(Bits(r.tb_base, r.tb_base + r.tb_count));
}

std::uint64_t PartitionCounters::Warps(unsigned kernel, unsigned first, unsigned warps) const {
  if (!state_.partitioned) return ~std::uint64_t{0};
  if ((state_.valid >> kernel & 1) == 0) return 0;
  return Bits(first, (first + warps) % kIndexRange);
}

}  // namespace smk
