// SPDX-License-Identifier: Apache-2.0
// A merged launch: what its groups execute, and which group takes which TB ([KernelMerge] Sec. 2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/launch.h"

namespace smk {

// Who executes TBs of the first kernel only; all others execute the second only. Nobody: all groups
// execute both. Only one of the two can be given.
struct MergeSplit {
  std::uint32_t groups = 0;  // those with the lowest numbers
  std::uint32_t sms = 0;     // those on the SMs with the lowest numbers
  bool any() const { return groups != 0 || sms != 0; }
};

// The TBs of one kernel or two, as the TBs of the launch that stands for both, its groups, take
// them. Each is taken once: who asks first gets the next. What a queue in memory costs, the groups'
// atomics pay; one in hardware answers a group per cycle, as smk_work_queue does.
class MergedLaunch {
 public:
  // A kernel that is merged. Its statistics are those of its kernel slot.
  struct Member {
    Launch launch;
    KernelId slot{0};
    std::uint32_t first_tb = 0, tb_count = 0;
  };
  struct Item {
    std::uint8_t member = 0;
    TbId tb{0};
  };

  // Every group takes the head of one queue: the kernels' TBs in turn, and what is left of the
  // longer one at the end (Fig. 3a). With a split there is a queue for each kernel (Fig. 3b).
  // `answer_cycles`: from request to answer of a queue in hardware; 0: the queue is in memory.
  explicit MergedLaunch(std::vector<Member> members, MergeSplit split = {},
                        unsigned answer_cycles = 0)
      : members_(std::move(members)), split_(split), answer_cycles_(answer_cycles) {}

  const Member& member(unsigned index) const { return members_[index]; }
  std::size_t members() const { return members_.size(); }

  // What the group on this SM executes next; nothing if its queue is empty.
  std::optional<Item> Take(TbId group, SmId sm);
  // When a group that asks now has its answer. Once for each Take, in the order of time.
  Cycle Answered(Cycle now);
  // A TB of the member has been executed.
  void Complete(unsigned member) { ++completed_[member]; }
  // All have.
  bool complete() const;

 private:
  std::uint32_t left(unsigned member) const { return members_[member].tb_count - taken_[member]; }

  const std::vector<Member> members_;
  const MergeSplit split_;
  const unsigned answer_cycles_;
  Cycle next_request_ = 0;  // when hardware can take one
  std::array<std::uint32_t, 2> taken_{}, completed_{};
  unsigned turn_ = 0;  // whose TB is at the head of the one queue
};

}  // namespace smk
