// SPDX-License-Identifier: Apache-2.0
// The registers between driver and SMs, for those who compare two control planes.
#pragma once

#include "control/messages.h"

namespace smk {

class ControlProbe {
 public:
  virtual ~ControlProbe() = default;
  // Registers of the driver and of an SM, as the other side will see them in the next cycle.
  virtual DriverToSm to_sm(unsigned sm) const = 0;
  virtual SmToDriver to_driver(unsigned sm) const = 0;
};

}  // namespace smk
