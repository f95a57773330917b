// SPDX-License-Identifier: Apache-2.0
#include "control/sm/partition_counters.h"

namespace smk {
namespace {

// The counters of a read have 7 bits.
constexpr unsigned kIndexRange = 128;

// Bits [from, to) of a 64-bit mask.
std::uint64_t Bits(unsigned from, unsigned to) {
  const std::uint64_t below_to = to >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
  return from >= 64 ? 0 : below_to & ~((std::uint64_t{1} << from) - 1);
}

bool SameBases(const PartitionCounters::Part& a, const PartitionCounters::Part& b) {
  return a.registers == b.registers && a.shared_memory == b.shared_memory &&
         a.threads == b.threads && a.tb_base == b.tb_base;
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
  const PartitionRange& r = command.range;
  s.next_part[k] = {r.registers_base, r.shared_memory_base, r.threads_base,
                    r.tb_base,        r.tb_count,           EndsWithTheSm(r)};
}

// The plan comes into force.
void PartitionCounters::Complete() {
  State& s = state_;
  s.same = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    const bool before = s.partitioned && (s.valid & s.next_valid & 1u << k) != 0;
    // TBs are in order within a range, so its end is a place as good as its beginning.
    if (before &&
        (SameBases(s.part[k], s.next_part[k]) || (s.part[k].at_end && s.next_part[k].at_end))) {
      s.same |= static_cast<KernelMask>(1u << k);
    }
  }
  s.partitioned = true;
  s.valid = s.next_valid;
  s.part = s.next_part;
}

// One step of each part, the last first: all read what the one before held.
void PartitionCounters::Read(const Inputs& in) {
  State& s = state_;
  const Part& p = s.part[in.read_kernel];
  s.warps = Warps(in.read_kernel, s.first, in.read_need.threads);
  s.first = (p.threads + s.index * in.read_need.threads) % kIndexRange;
  s.base = Base(in.read_kernel, s.index & before_mask_, in.read_need);
  s.index = (kIndexRange + in.read_slot - p.tb_base) % kIndexRange;
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
  const Part& p = state_.part[kernel];
  return static_cast<std::uint32_t>(Bits(p.tb_base, p.tb_base + p.tb_count));
}

TbBase PartitionCounters::Base(unsigned kernel, unsigned before, const ResourceVector& need) const {
  if ((state_.valid >> kernel & 1) == 0) return {};
  const Part& p = state_.part[kernel];
  return {static_cast<std::uint16_t>((p.registers + before * need.registers) & register_mask_),
          static_cast<std::uint16_t>((p.shared_memory + before * need.shared_memory) &
                                     shared_memory_mask_)};
}

std::uint64_t PartitionCounters::Warps(unsigned kernel, unsigned first, unsigned warps) const {
  if (!state_.partitioned) return ~std::uint64_t{0};
  if ((state_.valid >> kernel & 1) == 0) return 0;
  return Bits(first, (first + warps) % kIndexRange);
}

}  // namespace smk
