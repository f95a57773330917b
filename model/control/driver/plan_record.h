// SPDX-License-Identifier: Apache-2.0
// The partitions that the driver has sent to each SM, for checks.
//
// Purpose     Keeps what the kPartition commands say, so that whoever checks where TBs lie need not
//             ask the block that placed them. A TB is dispatched only when the plan before it is
//             settled, and has its first warp before the next one is sent: at that moment the last
//             plan is that of the TB, however long the links are.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "control/messages.h"

namespace smk {

class PlanRecord {
 public:
  explicit PlanRecord(unsigned num_sms) : sms_(num_sms) {}

  // A command that the driver sends to the SM.
  void Hear(unsigned sm, const SmCommand& command) {
    if (command.op != CommandOp::kPartition) return;
    Plans& plans = sms_[sm];
    if (command.first) plans.coming = {};
    plans.coming[Index(command.kernel)] = command.range;
    if (!command.last) return;
    plans.sent = plans.coming;
    plans.any = true;
  }
  // The kernel's part by the last whole plan, empty when it has none; nothing before the first
  // plan.
  std::optional<PartitionRange> Of(SmId sm, KernelId kernel) const {
    const Plans& plans = sms_[Index(sm)];
    if (!plans.any) return std::nullopt;
    return plans.sent[Index(kernel)];
  }

 private:
  struct Plans {
    bool any = false;
    std::array<PartitionRange, kMaxKernels> coming{}, sent{};
  };
  std::vector<Plans> sms_;
};

}  // namespace smk
