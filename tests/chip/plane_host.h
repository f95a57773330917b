// SPDX-License-Identifier: Apache-2.0
// The host: launches each program's kernels one after another, and ticks.
#pragma once

#include <string>
#include <vector>

#include "chip/plane_ledger.h"

namespace smk::plane {

class Host {
 public:
  Host(const Scenario& scenario, Ledger* ledger) : scenario_(scenario), ledger_(*ledger) {
    for (const auto& launches : scenario.programs) {
      programs_.push_back({launches.front().gap, 0, false});
    }
  }

  // The signals of this cycle.
  HostInputs Drive(Cycle now) {
    HostInputs in;
    in.tick = now % scenario_.tick_period == scenario_.tick_period - 1;
    offered_ = kMaxKernels;
    for (unsigned k = 0; k < programs_.size() && offered_ == kMaxKernels; ++k) {
      const Program& p = programs_[k];
      if (!p.running && p.next != scenario_.programs[k].size() && now >= p.at) offered_ = k;
    }
    if (offered_ == kMaxKernels) return in;
    in.launch_valid = true;
    in.launch_kernel = static_cast<KernelId>(offered_);
    in.launch = scenario_.programs[offered_][programs_[offered_].next].descriptor;
    wrong_ = Wrong(now, &in);
    return in;
  }

  void Observe(const HostInputs& in, const HostOutputs& out, Cycle now) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((out.kernel_done >> k & 1) == 0) continue;
      ledger_.KernelDone(k, now);
      Program& p = programs_[k];
      p.running = false;
      if (p.next != scenario_.programs[k].size())
        p.at = now + 1 + scenario_.programs[k][p.next].gap;
    }
    if (!in.launch_valid || !out.launch_ready) return;
    Require((out.launch_error != LaunchError::kNone) == wrong_, Check::kKernelDone,
            [&] { return "a launch is judged wrongly at " + std::to_string(now); });
    if (wrong_) return;
    Program& p = programs_[offered_];
    ledger_.Begin(offered_, scenario_.programs[offered_][p.next]);
    p.running = true;
    ++p.next;
  }

  bool done() const {
    for (unsigned k = 0; k < programs_.size(); ++k) {
      if (programs_[k].running || programs_[k].next != scenario_.programs[k].size()) return false;
    }
    return true;
  }

 private:
  struct Program {
    Cycle at;
    unsigned next;
    bool running;
  };

  // Now and then the host asks for what must be refused.
  bool Wrong(Cycle now, HostInputs* in) const {
    switch (Hash(scenario_.seed, 8, now) % 8) {
      case 0:
        in->launch.need.registers = scenario_.config.limits.registers + 1;
        return true;
      case 1:
        in->launch.tb_count = 0;
        return true;
      default:
        return false;
    }
  }

  const Scenario& scenario_;
  Ledger& ledger_;
  std::vector<Program> programs_;
  unsigned offered_ = kMaxKernels;
  bool wrong_ = false;
};

}  // namespace smk::plane
