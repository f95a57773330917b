// SPDX-License-Identifier: Apache-2.0
#include "control/sm/tb_places.h"

#include <algorithm>

#include "control/sm/tb_gap.h"

namespace smk {
namespace {

using Memory = TbPlaces::Memory;

// The slots of the kernel, taken or not.
std::uint32_t SlotsOf(const TbPlaces::Inputs& in, unsigned kernel, std::uint32_t among) {
  std::uint32_t slots = 0;
  for (std::uint32_t m = among; m != 0; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctz(m));
    if (Index((*in.slot_kernel)[slot]) == kernel) slots |= 1u << slot;
  }
  return slots;
}

// Those of kernels with a resident TB.
std::uint32_t SlotsOfResident(const TbPlaces::Inputs& in, std::uint32_t among) {
  unsigned resident = 0;
  for (std::uint32_t m = in.slot_valid; m != 0; m &= m - 1) {
    resident |= 1u << Index((*in.slot_kernel)[static_cast<unsigned>(__builtin_ctz(m))]);
  }
  std::uint32_t slots = 0;
  for (std::uint32_t m = among; m != 0; m &= m - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctz(m));
    if ((resident >> Index((*in.slot_kernel)[slot]) & 1) != 0) slots |= 1u << slot;
  }
  return slots;
}

bool Meets(const Memory& m) { return MemorySpan{m.at, m.end}.Meets({m.low, m.high}); }

}  // namespace

TbPlaces::TbPlaces(const Config& config)
    : config_(config), all_(config.num_slots == 32 ? ~0u : (1u << config.num_slots) - 1) {}

// A place of the same kernel, or all that is free behind the others.
void TbPlaces::Look(const Inputs& in) {
  State& s = state_;
  const ResourceVector& need = (*in.kernels)[in.kernel].need;
  const std::uint32_t mine = SlotsOf(in, in.kernel, s.kept & ~in.pending);
  const auto begin = [](Memory* m, unsigned amount) {
    m->at = static_cast<std::uint16_t>(BehindAll(amount, m->top));
  };
  begin(&s.registers, need.registers);
  begin(&s.shared_memory, need.shared_memory);
  const bool behind = s.registers.top + need.registers <= config_.limits.registers &&
                      s.shared_memory.top + need.shared_memory <= config_.limits.shared_memory;
  s.keeps = mine != 0;
  s.slots = s.keeps ? mine : all_;
  s.walked = false;
  s.step = s.keeps || behind ? Step::kFound : Step::kBegin;
}

void TbPlaces::Begin() {
  State& s = state_;
  s.walked = true;
  s.registers.at = 0;
  s.shared_memory.at = 0;
  s.step = Step::kSum;
}

// From here on all slots are to be looked at.
void TbPlaces::Sum(const Inputs& in) {
  State& s = state_;
  const ResourceVector& need = (*in.kernels)[in.kernel].need;
  s.registers.end = static_cast<std::uint16_t>(s.registers.at + need.registers);
  s.shared_memory.end = static_cast<std::uint16_t>(s.shared_memory.at + need.shared_memory);
  s.count = 0;
  s.read_valid = s.valid = false;
  if (s.step == Step::kSum) s.step = Step::kWalk;
}

// What a slot holds.
void TbPlaces::Read(const Inputs& in, unsigned slot) {
  State& s = state_;
  const ResourceVector& need = (*in.kernels)[Index((*in.slot_kernel)[slot])].need;
  s.registers.read_base = s.registers.base[slot];
  s.registers.read_need = need.registers;
  s.shared_memory.read_base = s.shared_memory.base[slot];
  s.shared_memory.read_need = need.shared_memory;
}

// No gap is large enough, unless there is one now.
void TbPlaces::GiveUp(const Inputs& in) {
  State& s = state_;
  s.waits = !s.waiting;
  s.waiting = true;
  s.step = s.news || in.gone != 0 ? Step::kBegin : Step::kWait;
}

// One slot per cycle: read, where its TB ends, whether that is in the way. Then the new TB moves
// behind it, and all slots are looked at once more.
void TbPlaces::Walk(const Inputs& in) {
  State& s = state_;
  if (s.registers.end > config_.limits.registers ||
      s.shared_memory.end > config_.limits.shared_memory) {
    return GiveUp(in);
  }
  const bool registers = s.valid && Meets(s.registers);
  const bool shared_memory = s.valid && Meets(s.shared_memory);
  if (registers) s.registers.at = s.registers.high;
  if (shared_memory) s.shared_memory.at = s.shared_memory.high;
  if (registers || shared_memory) {
    s.step = Step::kSum;
  } else if (s.count == config_.num_slots + 1) {
    s.step = Step::kFound;
    s.waiting = false;
  }
  ++s.count;
  s.valid = s.read_valid;
  for (Memory* m : {&s.registers, &s.shared_memory}) {
    m->low = m->read_base;
    m->high = static_cast<std::uint16_t>(m->read_base + m->read_need);
  }
  s.read_valid = (in.slot_valid >> s.index & 1) != 0;
  Read(in, s.index);
  s.index = static_cast<std::uint8_t>(s.index + 1u == config_.num_slots ? 0 : s.index + 1);
}

void TbPlaces::Choose(const Inputs& in) {
  State& s = state_;
  for (Memory* m : {&s.registers, &s.shared_memory}) {
    if (!s.keeps) m->base[in.slot] = m->at;
    if (!s.keeps) m->top = std::max(m->top, m->end);
  }
  s.step = Step::kRest;
}

// Places that stay with their kernel while it has TBs here; in a gap, a TB may lie over any.
std::uint32_t TbPlaces::Kept(const Inputs& in, bool chosen) const {
  std::uint32_t kept = state_.kept;
  if (!in.launching && kept != 0) kept = SlotsOfResident(in, kept);
  if (chosen) kept = state_.walked ? 0 : kept & ~(1u << in.slot);
  return kept | in.gone;
}

void TbPlaces::Tick(const Inputs& in) {
  if (in.partitioned) return;
  State& s = state_;
  const bool chosen = in.chosen && s.step == Step::kFound;
  const Step before = s.step;
  const std::uint32_t kept = Kept(in, chosen);
  if (!in.launching && in.slot_valid == 0) s.registers.top = s.shared_memory.top = 0;
  s.waits = false;
  const bool news = s.news || in.gone != 0;
  switch (before) {
    case Step::kRest:
      if (in.launching) Read(in, in.slot);
      if (in.look) Look(in);
      break;
    case Step::kBegin:
      Begin();
      break;
    case Step::kSum:
      Sum(in);
      break;
    case Step::kWalk:
      Walk(in);
      break;
    case Step::kWait:
      if (in.gone != 0) s.step = Step::kBegin;
      break;
    case Step::kFound:
      Sum(in);
      if (chosen) Choose(in);
      break;
  }
  s.news = before != Step::kBegin && news;
  s.kept = kept;
}

}  // namespace smk
