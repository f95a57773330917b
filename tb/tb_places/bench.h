// SPDX-License-Identifier: Apache-2.0
// What stands around smk_tb_places in tests: an SM's slots, and launches that wait for a place.
#pragma once

#include <array>
#include <optional>

#include "control/sm/tb_places.h"

namespace smk {

// Slots that come and go, and one launch at a time: `Control` is stepped like TbPlaces, a call of
// Cycle(in) per cycle. A launch takes the lowest free slot of those that it may, as tb_table.
template <typename Control>
class TbPlacesBench {
 public:
  template <typename... Args>
  explicit TbPlacesBench(const Args&... args) : control(args...) {}

  // One cycle; slots in `gone` are empty from the next one on.
  void Step(std::uint32_t gone = 0) {
    TbPlaces::Inputs in;
    in.partitioned = partitioned;
    in.kernels = &views;
    in.slot_kernel = &slot_kernel;
    in.slot_valid = valid;
    in.gone = gone;
    in.pending = pending;
    in.launching = launching_ != 0;
    in.look = launching_ == 1;
    in.chosen = launching_ == 3;
    in.kernel = kernel_;
    in.slot = slot_;
    const bool found = control.found() || partitioned;
    control.Cycle(in);
    if (in.launching) Launching(found);
    valid &= ~gone;
  }
  // A TB of the kernel is launched; it starts some cycles after it has got its slot.
  void Begin(unsigned kernel) {
    Step();
    kernel_ = static_cast<std::uint8_t>(kernel);
    launching_ = 1;
    waited = 0;
  }
  // Until it has started, or for so many cycles.
  std::optional<unsigned> Finish(unsigned cycles = 100'000) {
    for (; launching_ != 0 && cycles != 0; --cycles) Step();
    if (launching_ != 0) return {};
    return slot_;
  }
  unsigned Place(unsigned kernel) {
    Begin(kernel);
    return Finish().value_or(~0u);
  }
  void Leave(std::uint32_t gone) {
    Step(gone);
    Step();
    Step();
  }
  void Need(unsigned kernel, unsigned registers, unsigned shared_memory) {
    views[kernel].need = {static_cast<std::uint16_t>(registers),
                          static_cast<std::uint16_t>(shared_memory), 1, 1};
  }
  bool launching() const { return launching_ != 0; }
  bool has_slot() const { return launching_ > 2; }
  unsigned kernel() const { return kernel_; }

  Control control;
  KernelViews views{};
  std::array<KernelId, kMaxTbSlots> slot_kernel{};
  std::array<TbBase, kMaxTbSlots> base{};  // of each TB that has come
  std::uint32_t valid = 0, pending = 0;
  bool partitioned = false;
  unsigned waited = 0;  // cycles in which the launch had no place

 private:
  // Slots, Choose (until a place is found), Index, First, Warps.
  void Launching(bool found) {
    if (launching_ == 2 && !found) {
      ++waited;
      return;
    }
    if (launching_ == 2) Take();
    if (launching_ == 5) base[slot_] = control.base();
    launching_ = launching_ == 5 ? 0 : launching_ + 1;
  }
  void Take() {
    const std::uint32_t free = control.slots() & ~valid & ~pending;
    slot_ = free == 0 ? 0 : static_cast<std::uint8_t>(__builtin_ctz(free));
    valid |= 1u << slot_;
    slot_kernel[slot_] = static_cast<KernelId>(kernel_);
  }

  unsigned launching_ = 0;
  std::uint8_t kernel_ = 0, slot_ = 0;
};

// The reference alone.
struct TbPlacesAlone {
  TbPlacesAlone() = default;
  explicit TbPlacesAlone(const TbPlaces::Config& config) : places(config) {}
  void Cycle(const TbPlaces::Inputs& in) { places.Tick(in); }
  bool found() const { return places.found(); }
  std::uint32_t slots() const { return places.state().slots; }
  TbBase base() const { return places.base(); }
  TbPlaces places;
};

}  // namespace smk
