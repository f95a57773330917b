// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/place_check.h"

#include "machine/run_checks.h"

namespace smk {

void PlaceCheck::Claim(unsigned slot, const TbBase& base, const ResourceVector& need,
                       const std::optional<PartitionRange>& part, Cycle now) {
  const unsigned registers = base.registers, shared_memory = base.shared_memory;
  tbs_[slot] = {{registers, registers + need.registers},
                {shared_memory, shared_memory + need.shared_memory}};
  std::optional<Range> registers_part, shared_memory_part;
  if (part) {
    registers_part = {part->registers_base, part->registers_limit};
    shared_memory_part = {part->shared_memory_base, part->shared_memory_limit};
  }
  Check(slot, "registers", &Tb::registers, {0, limits_.registers}, registers_part, now);
  Check(slot, "shared memory", &Tb::shared_memory, {0, limits_.shared_memory}, shared_memory_part,
        now);
}

void PlaceCheck::Check(unsigned slot, const char* what, Range Tb::*range, const Range& sm,
                       const std::optional<Range>& part, Cycle now) const {
  const Range& mine = tbs_[slot].*range;
  const auto fail = [&](const std::string& how) {
    RunChecks::Fail(now, Index(sm_),
                    std::string(what) + " " + mine.Text() + " of the TB in slot " +
                        std::to_string(slot) + " " + how);
  };
  if (!mine.In(sm)) fail("lie outside the SM " + sm.Text());
  for (unsigned other = 0; other < kMaxTbSlots; ++other) {
    const Range& taken = tbs_[other].*range;
    if (other != slot && mine.Meets(taken)) {
      fail("overlap " + taken.Text() + " of that in slot " + std::to_string(other));
    }
  }
  if (part && !mine.In(*part)) fail("lie outside the partition of its kernel " + part->Text());
}

}  // namespace smk
