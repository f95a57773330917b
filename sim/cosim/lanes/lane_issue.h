// SPDX-License-Identifier: Apache-2.0
// What issues on one SM, as lanes of words that it shares with others; see RtlSm and LaneGroup.
//
// Interface   As of RtlIssue. Shared has the words, and evaluates a cycle of all SMs in Prepare():
//             when an SM is stepped, its grants are there.
// Depends on  The tables' outputs to the schedulers being registers: Tell() has them at the end of
//             a cycle for the next one.
#pragma once

#include <string>
#include <vector>

#include "cosim/lanes/lane_group.h"
#include "cosim/verilated_unit.h"

namespace smk {

// See the head of this file.
template <typename Lanes>
class LaneIssue {
 public:
  using Package = typename Lanes::Package;
  using Tables = typename Lanes::Tables;
  using Group = LaneGroup<Lanes>;

  // The words of all SMs of a machine.
  class Shared {
   public:
    static constexpr bool kPrepares = true;

    explicit Shared(const PolicyConfig& policy)
        : groups_((Package::NumSms + Group::kSms - 1) / Group::kSms, Group(policy)) {}
    void Prepare(const SmMask& sms, const ReadyTable& ready, const SmMask& ticking,
                 PreparedGrants* grants) {
      grants->alone = SmMask();
      for (unsigned g = 0; g < groups_.size(); ++g) {
        groups_[g].Clear();
        for (typename Group::SmBits due = Of(g, sms); due != 0; due &= due - 1) {
          const auto i = static_cast<unsigned>(__builtin_ctzll(due));
          groups_[g].SetReady(i, ready[g * Group::kSms + i]);
        }
        groups_[g].Cycle(Of(g, ticking));
        groups_[g].TakeAlone(g * Group::kSms, grants);
      }
    }
    Group& group(unsigned g) { return groups_[g]; }
    // The grants of an SM in an ordinary cycle.
    Grants Alone(unsigned sm) { return groups_[sm / Group::kSms].Alone(sm % Group::kSms); }

   private:
    // Groups are parts of the mask's words.
    static typename Group::SmBits Of(unsigned group, const SmMask& sms) {
      static_assert(SmMask::kWordBits % Group::kSms == 0);
      const unsigned at = group * Group::kSms;
      return sms.word(at / SmMask::kWordBits) >> at % SmMask::kWordBits &
             ~typename Group::SmBits{0} >> (64 - Group::kSms);
    }
    std::vector<Group> groups_;
  };

  LaneIssue(VerilatedContext* /*context*/, const std::string& /*scope*/, unsigned sm,
            const PolicyConfig& /*policy*/, Shared* shared)
      : group_(&shared->group(sm / Group::kSms)), sm_(sm % Group::kSms) {}

  void All(const SmInputs& in, const Tables& /*tables*/, bool /*tick*/, SmOutputs* out) {
    Ready(in, false, out);
  }
  void Ready(const SmInputs& /*in*/, bool /*gated*/, SmOutputs* out) {
    group_->ReadGrants(sm_, out);
  }
  void Quotas(SmOutputs* out) const { group_->Quotas(sm_, out); }
  void Edge() {}
  void Tell(const Tables& tables) { group_->Tell(sm_, tables); }

  const typename Group::Report& profile() const { return group_->report(sm_); }
  std::uint8_t grant_valid() const { return group_->GrantValid(sm_); }
  std::uint32_t grant_kernels() const { return group_->GrantKernels(sm_); }

  // What is lanes has no waveforms.
  template <typename Visitor>
  void VisitUnits(Visitor /*visit*/) {}

 private:
  Group* group_;
  unsigned sm_;
};

}  // namespace smk
