// SPDX-License-Identifier: Apache-2.0
#include "control/partition_counters.h"

namespace smk {
namespace {

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

PartitionCounters::State PartitionCounters::Next(const Inputs& in) const {
  State next = state_;
  if (!in.command_valid) return next;
  if (in.command.first) next.next_valid = 0;
  const unsigned k = Index(in.command.kernel);
  next.next_valid |= static_cast<KernelMask>(1u << k);
  next.next_range[k] = in.command.range;
  if (in.command.last) {
    next.partitioned = true;
    next.valid = next.next_valid;
    next.range = next.next_range;
  }
  return next;
}

PartitionCounters::Outputs PartitionCounters::Eval(const Inputs& in) const {
  Outputs out;
  out.commit = in.command_valid && in.command.last;
  if (!out.commit) return out;
  const State next = Next(in);
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    if ((in.slot_valid >> slot & 1) == 0) continue;
    const unsigned k = Index((*in.slot_kernel)[slot]);
    const PartitionRange& r = next.range[k];
    const bool inside = (next.valid >> k & 1) != 0 && slot >= r.tb_base &&
                        slot < static_cast<unsigned>(r.tb_base + r.tb_count);
    const bool stays =
        state_.partitioned && (state_.valid >> k & 1) != 0 && SameBases(state_.range[k], r);
    if (!inside || !stays) out.misaligned |= 1u << slot;
  }
  return out;
}

void PartitionCounters::Tick(const Inputs& in) {
  if (in.command_valid) state_ = Next(in);
}

std::uint32_t PartitionCounters::Slots(unsigned kernel) const {
  if (!state_.partitioned) return ~0u;
  if ((state_.valid >> kernel & 1) == 0) return 0;
  const PartitionRange& r = state_.range[kernel];
  return static_cast<std::uint32_t>(Bits(r.tb_base, r.tb_base + r.tb_count));
}

std::uint64_t PartitionCounters::Warps(unsigned kernel, unsigned slot, unsigned threads) const {
  if (!state_.partitioned) return ~std::uint64_t{0};
  if ((state_.valid >> kernel & 1) == 0) return 0;
  const PartitionRange& r = state_.range[kernel];
  const unsigned first = r.threads_base + (slot - r.tb_base) * threads;
  return Bits(first, first + threads);
}

}  // namespace smk
