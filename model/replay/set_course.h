// SPDX-License-Identifier: Apache-2.0
// Launches that go on at the rates of their set: they feed, and drain, or go in waves.
#pragma once

#include <array>
#include <optional>

#include "replay/course.h"
#include "replay/waves.h"

namespace smk {

class SetCourse : public Course {
 public:
  // The residents must live as long.
  explicit SetCourse(Residents& residents) : residents_(residents) {}

  // It feeds, and may take the places of those that were placed.
  void Begin(KernelId slot) override;
  // A launch all of whose TBs are on the SMs.
  void TakeOver(KernelId slot);
  void Refresh() override;
  bool Advance(Cycle next) override;
  bool Done(KernelId slot) const override;
  Cycle NextEvent() const override;

 private:
  using Slot = Residents::Slot;
  // Beside what the residents have.
  struct Feed {
    bool drains = false;     // all its TBs have been placed, and some have ended
    double places = 0;       // its TBs on the SMs; when it drains, at the beginning
    Cycle leaves_until = 0;  // its places are given to an older launch, whose kernel came again
    std::optional<Waves> waves = {};  // its TBs are followed, and it neither feeds nor drains
  };
  // Its TBs have all been placed: it has none for the places of others.
  bool AllPlaced(unsigned slot) const;
  // Work that is left when the launch begins to drain; 0: it does not.
  double DrainsAt(unsigned slot) const;
  bool Leaves(unsigned slot) const { return feeds_[slot].leaves_until > residents_.now; }
  KernelMask Holders() const;
  void ShareLast(unsigned slot);
  void AddRates(KernelMask slots, double weight);

  Residents& residents_;
  std::array<Feed, kNumKernels> feeds_{};
};

}  // namespace smk
