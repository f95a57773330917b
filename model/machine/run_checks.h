// SPDX-License-Identifier: Apache-2.0
// Checks of a run that are always on: a violation ends the run, held checks are counted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace smk {

// Counts checks that held and throws CheckFailure for one that does not.
class RunChecks {
 public:
  // Ends the run: "cycle 123: SM 4: what". `sm` may be kNoSm.
  static constexpr unsigned kNoSm = ~0u;
  [[noreturn]] static void Fail(Cycle cycle, unsigned sm, const std::string& what);

  // `what` is a callable that describes the violation; not called when the check holds.
  template <typename What>
  void Require(bool holds, Cycle cycle, unsigned sm, What what) {
    ++count_;
    if (__builtin_expect(!holds, 0)) Fail(cycle, sm, what());
  }
  void CountHeld(std::uint64_t checks) { count_ += checks; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// Where every TB of the current launch of each kernel slot is. Checks that each completes exactly
// once, that only a saved TB is restored, and that no TB is in two places.
class TbLedger {
 public:
  enum class Place : std::uint8_t { kNew, kResident, kSaved, kFlushed, kComplete };
  static constexpr unsigned kPlaces = 5;

  explicit TbLedger(RunChecks& checks) : checks_(checks) {}

  // The launch has the TBs `first_tb` to `first_tb` + `tb_count` - 1 of its kernel's grid.
  void BeginLaunch(KernelId kernel, std::uint32_t first_tb, std::uint32_t tb_count);
  // The kernel-done pulse: all TBs must be complete, and it must come once per launch.
  void EndLaunch(KernelId kernel, Cycle now);

  // The TB's first warp takes its slot.
  void Dispatch(KernelId kernel, TbId tb, bool restore, unsigned sm, Cycle now);
  // The TB leaves its SM to `to`.
  void Leave(KernelId kernel, TbId tb, Place to, unsigned sm, Cycle now);

  // At the end: dispatched = completed + resident + preempted + flushed, with `resident` counted on
  // the SMs.
  void Balance(KernelId kernel, std::uint64_t resident, Cycle now);

 private:
  struct Slot {
    bool open = false;  // a launch is in the slot
    std::uint32_t first_tb = 0;
    std::vector<Place> place;  // by TB, from first_tb on
    std::array<std::uint64_t, kPlaces> count{};
    std::uint64_t dispatched = 0;  // TBs that started at least once
  };
  // Whether the TB is one of the launch, and where it is.
  static bool Has(const Slot& slot, TbId tb) {
    return slot.open && Index(tb) - slot.first_tb < slot.place.size();
  }
  static Place& At(Slot* slot, TbId tb) { return slot->place[Index(tb) - slot->first_tb]; }
  static void Move(Slot* slot, TbId tb, Place to);
  static std::string Name(KernelId kernel, TbId tb);

  RunChecks& checks_;
  std::array<Slot, kNumKernels> slots_;
};

}  // namespace smk
