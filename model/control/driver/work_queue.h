// SPDX-License-Identifier: Apache-2.0
// Reference of smk_work_queue: which work-group of two merged kernels is executed next.
//
// Purpose     The queue of a merged launch: the kernels' work-groups in turn, and what is left of
//             the longer one at the end; or a part of the scheduler work-groups for each kernel.
// Paper       [KernelMerge] Sec. 2.2, Fig. 3, in hardware as in Sec. 2.5.
// Interface   load: pulse, starts a pair. request, answer: streams.
// Latency     Request to answer 1 cycle.
// Throughput  One request and one answer per cycle.
// Reset       No pair: every answer is that there is none.
// Doc         docs/blocks/work_queue.md
// MergedLaunch (model/machine/merged_launch.h) is the same queue in the memory of a GPU.
#pragma once

#include <array>
#include <cstdint>

namespace smk {

class WorkQueue {
 public:
  struct Inputs {
    bool load = false;
    std::array<std::uint32_t, 2> count{};  // work-groups of each kernel
    std::uint16_t split = 0;  // scheduler work-groups that execute the first kernel; 0: no split
    bool request_valid = false;
    std::uint16_t request_group = 0;
    bool answer_ready = false;
  };
  struct Answer {
    std::uint16_t group = 0;
    bool none = false;
    bool second = false;      // of which kernel
    std::uint32_t index = 0;  // its work-group; with none, how many it has had
  };
  struct State {
    std::array<std::uint32_t, 2> count{}, next{};
    std::uint16_t split = 0;
    bool turn = false;  // the second kernel's work-group is at the head
    bool answer_valid = false;
    Answer answer;
  };
  struct Outputs {
    bool request_ready = false;
    bool answer_valid = false;
    Answer answer;
  };

  Outputs Eval(const Inputs& in) const {
    const bool ready = !in.load && (!state_.answer_valid || in.answer_ready);
    return {ready, state_.answer_valid, state_.answer};
  }
  void Tick(const Inputs& in) {
    const bool fire = in.request_valid && Eval(in).request_ready;
    if (in.answer_ready) state_.answer_valid = false;
    if (in.load) {
      state_.count = in.count;
      state_.next = {};
      state_.split = in.split;
      state_.turn = false;
    }
    if (fire) Take(in.request_group);
  }
  const State& state() const { return state_; }

 private:
  bool Some(bool second) const {
    return state_.next[second ? 1 : 0] != state_.count[second ? 1 : 0];
  }
  void Take(std::uint16_t group) {
    bool second = group >= state_.split;
    if (state_.split == 0) {
      second = Some(state_.turn) ? state_.turn : !state_.turn;
      state_.turn = !second;
    }
    std::uint32_t& next = state_.next[second ? 1 : 0];
    const bool some = Some(second);
    state_.answer_valid = true;
    state_.answer = {group, !some, second, next};
    next += some ? 1 : 0;
  }

  State state_;
};

}  // namespace smk
