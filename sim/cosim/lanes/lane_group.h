// SPDX-License-Identifier: Apache-2.0
// What issues on some SMs, as lanes of words: their warp schedulers and profile counters.
//
// Purpose     All schedulers of the SMs in one pass over the gates of smk_quota_scheduler, in which
//             each is one bit of every word; the profile counters of smk_sm_profile in another.
// Lanes       16 SMs have a word, see LanePart. A net of the gates has one or two of them. The
//             counters of the group's SM i are bit i of a word.
// Interface   Tell() when registers of an SM's tables have changed. A cycle is Clear(), SetReady()
//             for SMs that may be stepped, Cycle(); then ReadGrants(), or Alone() in an ordinary
//             cycle, and Quotas() are those of it. report() is registers.
// Idle        Nothing is evaluated in a cycle in which no warp is ready and nothing else happens.
//             Where only warps are ready, the gates are those that this leaves, and fewer where
//             no quotas are in force.
#pragma once

#include <algorithm>
#include <array>

#include "base/error.h"
#include "control/message_fields.h"
#include "cosim/lanes/lane_part.h"
#include "cosim/pack.h"

namespace smk {

// `Lanes` names the classes of a configuration: see configs/.
template <typename Lanes>
class LaneGroup {
 public:
  using Package = typename Lanes::Package;
  using Tables = typename Lanes::Tables;
  using Part = LanePart<Lanes>;
  using SmBits = std::uint64_t;  // a bit per SM
  static constexpr unsigned kParts = Lanes::SchedulerLanes::kWords;
  static constexpr unsigned kSms = kParts * Part::kSms;
  static_assert(kSms <= 64, "the counters of all SMs are bits of one word");
  // The ports of smk_sm_profile of one SM.
  struct Report {
    bool report_valid_o = false;
    std::array<std::uint32_t, (Package::NumKernels * Package::IssuedWidth + 31) / 32>
        report_issued_o{};
  };

  explicit LaneGroup(const PolicyConfig& policy);

  void Tell(unsigned i, const Tables& tables) {
    const bool pulse = PartOf(i).Tell(i % Part::kSms, tables);
    pulses_ = (pulses_ & ~(SmBits{1} << i)) | SmBits{pulse} << i;
  }
  void Clear() {
    for (Part& part : parts_) part.Clear();
    prepared_ = 0;
  }
  void SetReady(unsigned i, LaneMask ready) {
    PartOf(i).SetReady(i % Part::kSms, ready);
    prepared_ |= SmBits{1} << i;
  }
  void Cycle(SmBits ticking);

  // Of all SMs, the first of which is the machine's `first`: those that have nothing to say but
  // their grants, and these.
  void TakeAlone(unsigned first, PreparedGrants* grants) const;
  // Of an SM that is stepped, once in a cycle: as outputs, or in short.
  void ReadGrants(unsigned i, SmOutputs* out) {
    Use(i);
    if (evaluated_) PartOf(i).ReadGrants(i % Part::kSms, i / Part::kSms, schedulers_.out, out);
  }
  Grants Alone(unsigned i);
  std::uint8_t GrantValid(unsigned i) const { return PartOf(i).GrantValid(i % Part::kSms); }
  // The kernels of its grants, as grant_kernels_t.
  std::uint32_t GrantKernels(unsigned i) {
    return PartOf(i).GrantKernels(i % Part::kSms, i / Part::kSms, schedulers_.out);
  }
  // What is left after the cycle.
  void Quotas(unsigned i, SmOutputs* out) {
    if (!left_known_) schedulers_.Left();
    left_known_ = true;
    PartOf(i).Quotas(i % Part::kSms, i / Part::kSms, schedulers_.out, out);
  }
  const Report& report(unsigned i) const { return reports_[i]; }

 private:
  using Word = typename Part::Word;

  Part& PartOf(unsigned i) { return parts_[i / Part::kSms]; }
  const Part& PartOf(unsigned i) const { return parts_[i / Part::kSms]; }
  bool Gated() const;
  void CountGrants();
  void TakeReports();
  // In this cycle.
  void Use(unsigned i) {
    if ((prepared_ >> i & 1) == 0) throw CheckFailure("an SM is stepped that was not prepared");
    prepared_ &= ~(SmBits{1} << i);
  }

  const bool greedy_;
  typename Lanes::SchedulerLanes schedulers_;
  typename Lanes::ProfileLanes profile_;
  std::array<Part, kParts> parts_;
  SmBits pulses_ = 0;    // a warp starts or leaves, or quotas are loaded
  SmBits prepared_ = 0;  // may be stepped in this cycle
  SmBits shows_ = 0;     // a grant has changed who has some left, or quotas are loaded
  bool evaluated_ = false;
  bool left_known_ = false;
  bool ungated_ = false;  // quotas were in force nowhere in the cycle before
  bool reporting_ = false;
  std::array<Report, kSms> reports_{};
};

template <typename Lanes>
LaneGroup<Lanes>::LaneGroup(const PolicyConfig& policy)
    : greedy_(policy.warp_policy == WarpPolicy::kGto) {
  schedulers_.Reset();
  profile_.Reset();
  const auto constant = [](auto* port, unsigned value) {
    unsigned b = 0;
    for (auto& bit : *port) {
      for (unsigned p = 0; p < kParts; ++p) bit[p] = (value >> b & 1) != 0 ? ~Word{0} : 0;
      ++b;
    }
  };
  constant(&schedulers_.in.policy_i, static_cast<unsigned>(policy.warp_policy));
  constant(&schedulers_.in.epoch_end_i, static_cast<unsigned>(policy.epoch_end));
}

template <typename Lanes>
bool LaneGroup<Lanes>::Gated() const {
  Word gated = 0;
  for (unsigned p = 0; p < kParts; ++p) gated |= schedulers_.in.gated_i[0][p];
  return gated != 0;
}

template <typename Lanes>
void LaneGroup<Lanes>::Cycle(SmBits ticking) {
  bool changed = false, ready = false;
  for (const Part& part : parts_) {
    changed = changed || part.changed();
    ready = ready || part.any_ready();
  }
  evaluated_ = ready || changed || pulses_ != 0 || ticking != 0 || reporting_;
  if (!evaluated_) return;
  for (unsigned p = 0; p < kParts; ++p) {
    parts_[p].Give(p, ticking >> Part::kSms * p & Part::kSmMask, &schedulers_.in);
  }
  if (changed) schedulers_.Changed();
  const bool gated = Gated();
  if (pulses_ != 0 || ticking != 0) {
    schedulers_.Cycle();
  } else if (!greedy_) {
    schedulers_.Quiet();
  } else if (!ungated_ || gated) {
    schedulers_.Greedy();
  } else {
    schedulers_.Ungated();
  }
  ungated_ = !gated;
  left_known_ = false;
  profile_.in.tick_i[0][0] = ticking;
  CountGrants();
  shows_ = 0;
  for (unsigned p = 0; p < kParts; ++p) {
    shows_ |= parts_[p].Take(p, schedulers_.out) << Part::kSms * p;
  }
  if (ticking != 0 || reporting_) TakeReports();
  reporting_ = ticking != 0;
}

template <typename Lanes>
void LaneGroup<Lanes>::CountGrants() {
  // Of the SMs of all parts. With one part, nobody reads what is behind its SMs.
  const auto sms = [](const auto& word, unsigned shift) {
    if constexpr (kParts == 1) return Word{word[0]} >> shift;
    Word bits = 0;
    for (unsigned p = 0; p < kParts; ++p) {
      bits |= (word[p] >> shift & Part::kSmMask) << Part::kSms * p;
    }
    return bits;
  };
  const auto& out = schedulers_.out;
  for (unsigned s = 0; s < Part::kSchedulers; ++s) {
    profile_.in.grant_valid_i[s][0] = sms(out.grant_valid_o[0], s * Part::kStride);
    for (unsigned b = 0; b < Part::kKernelWidth; ++b) {
      profile_.in.grant_kernel_i[s * Part::kKernelWidth + b][0] =
          sms(out.grant_kernel_o[b], s * Part::kStride);
    }
  }
  profile_.Edge();
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeReports() {
  profile_.Registers();
  for (unsigned p = 0; p < kParts; ++p) {
    const auto rows =
        Part::FromKernels(profile_.out.report_issued_o, 0, Part::kSms * p, Package::IssuedWidth);
    for (unsigned row = 0; row < Part::kSms; ++row) {
      const unsigned i = Part::kSms * p + row;
      reports_[i].report_valid_o = (profile_.out.report_valid_o[0][0] >> i & 1) != 0;
      for (unsigned k = 0; k < Part::kKernels; ++k) {
        SetBits(&reports_[i].report_issued_o, k * Package::IssuedWidth, Package::IssuedWidth,
                rows[k / 4][row] >> 16 * (k % 4));
      }
    }
  }
}

template <typename Lanes>
Grants LaneGroup<Lanes>::Alone(unsigned i) {
  Use(i);
  if (!evaluated_) return {};
  return {PartOf(i).lanes(i % Part::kSms), (shows_ >> i & 1) != 0 ? Grants::kLeft : 0};
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeAlone(unsigned first, PreparedGrants* grants) const {
  const unsigned sms = std::min(kSms, Package::NumSms - first);
  for (unsigned i = 0; i < sms; ++i) {
    grants->lanes[first + i] = evaluated_ ? PartOf(i).lanes(i % Part::kSms) : 0;
  }
  grants->alone.SetSome(first, prepared_ & ~(evaluated_ ? shows_ : 0));
}

}  // namespace smk
