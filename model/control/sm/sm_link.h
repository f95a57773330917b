// SPDX-License-Identifier: Apache-2.0
// Reference of smk_sm_link: relay stations between the driver and one SM.
//
// Purpose     Delays what the driver and one SM tell each other by the same number of cycles, so
//             that the SM can lie anywhere on the chip.
// Paper       none; [SMK] Fig. 3 draws the wires.
// Interface   All pulses with their payload; nothing waits, nothing is refused.
// Latency     `stages` cycles each way; with none it is a wire.
// Throughput  One message each way per cycle.
// Reset       Nothing on its way.
// Doc         docs/blocks/sm_link.md
#pragma once

#include <vector>

#include "base/sm_mask.h"
#include "control/messages.h"

namespace smk {

constexpr unsigned kMaxLinkStages = 15;

constexpr bool Speaks(const DriverToSm& d) {
  return d.command_valid || d.buffer_valid || d.buffer_none || d.event_ack || d.tick ||
         d.sample_begin || d.sample_end;
}
constexpr bool Speaks(const SmToDriver& s) {
  return s.command_credit || s.command_waits || s.event.valid || s.buffer_request ||
         s.buffer_withdraw || s.profile_valid || s.sample_valid;
}

class SmLink {
 public:
  struct Config {
    unsigned stages = 0;
  };
  struct Inputs {
    DriverToSm down{};
    SmToDriver up{};
  };
  using Outputs = Inputs;
  // What is on its way, the next to arrive at `first`.
  struct State {
    std::vector<Inputs> ring;
    unsigned first = 0;
    unsigned busy = 0;  // cycles until nothing is on its way
  };

  explicit SmLink(const Config& config) { state_.ring.resize(config.stages); }
  const Outputs& Eval(const Inputs& in) const {
    return state_.ring.empty() ? in : state_.ring[state_.first];
  }
  void Tick(const Inputs& in) {
    if (state_.ring.empty()) return;
    if (state_.busy != 0) --state_.busy;
    if (Speaks(in.down) || Speaks(in.up)) state_.busy = static_cast<unsigned>(state_.ring.size());
    state_.ring[state_.first] = in;
    state_.first = (state_.first + 1) % static_cast<unsigned>(state_.ring.size());
  }
  bool busy() const { return state_.busy != 0; }
  const State& state() const { return state_; }

 private:
  State state_;
};

// The links of all SMs, as registers of a control plane: what each side sees in the next cycle.
class SmLinks {
 public:
  explicit SmLinks(const ControlConfig& config) {
    for (unsigned sm = 0; sm < config.num_sms; ++sm) {
      const unsigned n = config.LinkStages(sm);
      long_ = long_ || n != 0;
      links_.emplace_back(SmLink::Config{n});
    }
    seen_.resize(config.num_sms);
  }
  // False: both sides see each other's registers as they are.
  bool any() const { return long_; }
  // The registers of both sides at the end of a cycle.
  void Tick(unsigned sm, const DriverToSm& down, const SmToDriver& up) {
    const SmLink::Inputs in{down, up};
    seen_[sm] = links_[sm].Eval(in);
    busy_.Assign(sm, links_[sm].busy());
    links_[sm].Tick(in);
    arriving_.Assign(sm, Speaks(seen_[sm].up));
  }
  // What the driver will see after a tick with this.
  SmToDriver NextUp(unsigned sm, const SmToDriver& up) const {
    return links_[sm].Eval({DriverToSm{}, up}).up;
  }
  const DriverToSm& down(unsigned sm) const { return seen_[sm].down; }
  const SmToDriver& up(unsigned sm) const { return seen_[sm].up; }
  // SMs from which something arrives; links with something on its way, or that arrives.
  const SmMask& arriving() const { return arriving_; }
  const SmMask& busy() const { return busy_; }

 private:
  std::vector<SmLink> links_;
  std::vector<SmLink::Inputs> seen_;
  bool long_ = false;
  SmMask arriving_{}, busy_{};
};

}  // namespace smk
