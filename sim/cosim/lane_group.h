// SPDX-License-Identifier: Apache-2.0
// What issues on some SMs, as lanes of words: their warp schedulers and profile counters.
//
// Purpose     All schedulers of the SMs in one pass over the gates of smk_quota_scheduler, in which
//             each is one bit of every word; the profile counters of smk_sm_profile in another.
// Lanes       16 SMs are a part, and have a word: scheduler s of the part's SM i is its bit
//             s x kStride + i. A net of the gates has the words of all parts, one or two. The
//             counters of the group's SM i are bit i.
// Interface   Tell() when registers of an SM's tables have changed. A cycle is Clear(), SetReady()
//             for SMs that may be stepped, Cycle(); then ReadGrants(), or Alone() in an ordinary
//             cycle, and Quotas() are those of it. report() is registers.
// Idle        Nothing is evaluated in a cycle in which no warp is ready and nothing else happens.
//             Where only warps are ready, the gates are those that this leaves, and fewer where
//             no quotas are in force.
#pragma once

#include <array>

#include "base/error.h"
#include "control/message_fields.h"
#include "cosim/lane_matrix.h"
#include "cosim/pack.h"

namespace smk {

// `Lanes` names the classes of a configuration: see configs/.
template <typename Lanes>
class LaneGroup {
 public:
  using Package = typename Lanes::Package;
  using Tables = typename Lanes::Tables;
  using Word = std::uint64_t;
  using SmBits = std::uint64_t;  // a bit per SM
  static constexpr unsigned kParts = Lanes::SchedulerLanes::kWords;
  static constexpr unsigned kPartSms = 16;
  static constexpr unsigned kSms = kParts * kPartSms;
  // The ports of smk_sm_profile of one SM.
  struct Report {
    bool report_valid_o = false;
    std::array<std::uint32_t, (Package::NumKernels * Package::IssuedWidth + 31) / 32>
        report_issued_o{};
  };

  explicit LaneGroup(const PolicyConfig& policy);

  void Tell(unsigned i, const Tables& tables);
  void Clear() {
    for (Part& part : parts_) {
      part.ready = {};
      part.any_ready = 0;
    }
    prepared_ = 0;
  }
  void SetReady(unsigned i, LaneMask ready) {
    Word row = ready;
    if constexpr (kStride != kLayout.lanes_per_scheduler()) {
      row = 0;
      for (unsigned s = 0; s < kSchedulers; ++s) {
        row |= (ready & kLayout.SchedulerField(s)) >> kLayout.LaneOf(s, 0) << s * kStride;
      }
    }
    Part& part = PartOf(i);
    part.ready[i % kPartSms] = row;
    part.any_ready |= row;
    prepared_ |= SmBits{1} << i;
  }
  void Cycle(SmBits ticking);

  // Of all SMs, the first of which is the machine's `first`: those that have nothing to say but
  // their grants, and these.
  void TakeAlone(unsigned first, PreparedGrants* grants) const;
  // Of an SM that is stepped, once in a cycle: as outputs, or in short.
  void ReadGrants(unsigned i, SmOutputs* out);
  Grants Alone(unsigned i);
  std::uint8_t GrantValid(unsigned i) const {
    const LaneMask lanes = PartOf(i).lanes[i % kPartSms];
    unsigned valid = 0;
    for (unsigned s = 0; s < kSchedulers; ++s) {
      valid |= ((lanes & kLayout.SchedulerField(s)) != 0 ? 1u : 0u) << s;
    }
    return static_cast<std::uint8_t>(valid);
  }
  // The kernels of its grants, as grant_kernels_t.
  std::uint32_t GrantKernels(unsigned i);
  // What is left after the cycle.
  void Quotas(unsigned i, SmOutputs* out);
  const Report& report(unsigned i) const { return reports_[i]; }

 private:
  static constexpr unsigned kSchedulers = Package::NumSchedulers;
  static constexpr unsigned kWarps = Package::WarpsPerScheduler;
  static constexpr unsigned kKernels = Package::NumKernels;
  static constexpr unsigned kKernelWidth = Package::KernelWidth;
  static constexpr unsigned kGrantWidth = Package::GrantWidth;
  static constexpr unsigned kStride = 64 / kSchedulers;
  static_assert(64 % kSchedulers == 0 && kWarps <= kStride && kWarps <= 2 * kPartSms);
  static_assert(kSms <= 64, "the counters of all SMs are bits of one word");
  static constexpr LaneLayout kLayout{kWarps};
  // Of each scheduler the lowest bit, and its lanes.
  static constexpr Word kLowest = ~Word{0} / (kStride == 64 ? ~Word{0} : (Word{1} << kStride) - 1);
  static constexpr Word kPartMask = (Word{1} << kPartSms) - 1;
  static constexpr Word kLanes = kLowest * kPartMask;

  // Bits that an SM's rows have of each scheduler.
  static constexpr unsigned kStartValid = 0, kStartWarp = 1, kStartKernel = kStartWarp + 5,
                            kLoad = kStartKernel + 3, kGated = kLoad + 1;
  static constexpr unsigned kValid = 0, kWarp = 1, kKernel = kWarp + kGrantWidth,
                            kSomeLeft = kKernel + kKernelWidth;
  static_assert(kSomeLeft + kKernels <= 16);

  // Values of up to 16 bits for each kernel: four kernels to a matrix.
  static constexpr unsigned kMatrices = (kKernels + 3) / 4;
  using KernelRows = std::array<LaneRows, kMatrices>;
  static_assert(Package::QuotaWidth <= 16 && Package::IssuedWidth <= 16);

  struct Part {
    // By SM, as the tables say them. Of quotas a matrix has four kernels.
    LaneRows stop{}, leave{}, control{};
    KernelRows quota{};
    bool stop_changed = true, leave_changed = true, control_changed = true, quota_changed = true;
    bool was_given = false;  // the gates have ready warps, of the last cycle that was evaluated
    Word any_ready = 0;
    LaneRows ready{};
    // By SM, of the last cycle that was evaluated: the warps that are granted, and all that is
    // said.
    LaneRows lanes{}, rows{};
    bool rows_known = false, left_known = false;
    KernelRows left{};
    // By kernel and lane: who has some left.
    std::array<Word, kKernels> some_left{};

    bool changed() const {
      return stop_changed || leave_changed || control_changed || quota_changed;
    }
  };

  static void Set(LaneRows* rows, unsigned i, Word row, bool* changed) {
    *changed = *changed || (*rows)[i] != row;
    (*rows)[i] = row;
  }
  // To words of a bit per warp.
  template <typename Port>
  static void ToWarps(LaneRows rows, unsigned part, Port* port) {
    Transpose(&rows);
    for (unsigned w = 0; w < kWarps; ++w) {
      (*port)[w][part] = rows[w % 16] >> (w / 16 * 16) & kLanes;
    }
  }
  // From a port with a value of `width` bits per kernel: of the 16 bits of a word from `shift` on.
  template <typename Port>
  static void FromKernels(const Port& port, unsigned word, unsigned shift, unsigned width,
                          KernelRows* rows) {
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned b = 0; b < width; ++b) {
        (*rows)[k / 4][b] |= (port[k * width + b][word] >> shift & kPartMask) << 16 * (k % 4);
      }
    }
    for (LaneRows& matrix : *rows) Transpose(&matrix);
  }
  static Word SmsOf(SmBits sms, unsigned part) { return sms >> kPartSms * part & kPartMask; }
  Part& PartOf(unsigned i) { return parts_[i / kPartSms]; }
  const Part& PartOf(unsigned i) const { return parts_[i / kPartSms]; }
  void Give(unsigned p, Word ticking);
  void GiveControl(unsigned p);
  void GiveQuotas(unsigned p);
  bool Gated() const;
  void CountGrants();
  void Take(unsigned p);
  void TakeLanes(unsigned p);
  void TakeQuotas(unsigned p);
  const LaneRows& Rows(unsigned p);
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
  bool left_evaluated_ = false;  // the gates of what is left
  bool ungated_ = false;         // quotas were in force nowhere in the cycle before
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
void LaneGroup<Lanes>::Tell(unsigned i, const Tables& t) {
  using Warps = SchedulerWarps<Package>;
  Word stop = 0, leave = 0, control = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) {
    stop |= BitsAt<Warps>(s, t.stop_warps_o) << s * kStride;
    leave |= BitsAt<Warps>(s, t.leave_warps_o) << s * kStride;
    control |= Word{(t.start_valid_o >> s & 1u) << kStartValid | t.start_warp_o << kStartWarp |
                    t.start_kernel_o << kStartKernel | t.load_o << kLoad | t.gated_o << kGated}
               << s * kStride;
  }
  Part& part = PartOf(i);
  const unsigned row = i % kPartSms;
  Set(&part.stop, row, stop, &part.stop_changed);
  Set(&part.leave, row, leave, &part.leave_changed);
  Set(&part.control, row, control, &part.control_changed);
  for (unsigned k = 0; k < kKernels; k += 4) {
    const unsigned width = std::min(kKernels - k, 4u) * Package::QuotaWidth;
    static_assert(Package::QuotaWidth == 16, "a row of four quotas is bits of the port");
    Set(&part.quota[k / 4], row, GetBits(t.quota_o, k * Package::QuotaWidth, width),
        &part.quota_changed);
  }
  const bool pulse = leave != 0 || t.start_valid_o != 0 || t.load_o != 0;
  pulses_ = (pulses_ & ~(SmBits{1} << i)) | SmBits{pulse} << i;
}

template <typename Lanes>
void LaneGroup<Lanes>::GiveControl(unsigned p) {
  LaneRows rows = parts_[p].control;
  Transpose(&rows);
  auto& in = schedulers_.in;
  in.start_valid_i[0][p] = rows[kStartValid];
  for (unsigned b = 0; b < kGrantWidth; ++b) in.start_warp_i[b][p] = rows[kStartWarp + b];
  for (unsigned b = 0; b < kKernelWidth; ++b) in.start_kernel_i[b][p] = rows[kStartKernel + b];
  in.load_i[0][p] = rows[kLoad];
  in.gated_i[0][p] = rows[kGated];
  in.ungated_i[0][p] = ~rows[kGated];
}

// Those of an SM go to all its schedulers.
template <typename Lanes>
void LaneGroup<Lanes>::GiveQuotas(unsigned p) {
  KernelRows rows = parts_[p].quota;
  for (LaneRows& matrix : rows) Transpose(&matrix);
  for (unsigned k = 0; k < kKernels; ++k) {
    for (unsigned b = 0; b < Package::QuotaWidth; ++b) {
      schedulers_.in.quota_i[k * Package::QuotaWidth + b][p] =
          (rows[k / 4][b] >> 16 * (k % 4) & kPartMask) * kLowest;
    }
  }
}

// The inputs of a cycle.
template <typename Lanes>
void LaneGroup<Lanes>::Give(unsigned p, Word ticking) {
  Part& part = parts_[p];
  auto& in = schedulers_.in;
  if (part.stop_changed) ToWarps(part.stop, p, &in.stop_i);
  if (part.leave_changed) ToWarps(part.leave, p, &in.leave_i);
  if (part.control_changed) GiveControl(p);
  if (part.quota_changed) GiveQuotas(p);
  part.stop_changed = part.leave_changed = part.control_changed = part.quota_changed = false;
  if (part.any_ready != 0 || part.was_given) ToWarps(part.ready, p, &in.ready_i);
  part.was_given = part.any_ready != 0;
  in.tick_i[0][p] = ticking * kLowest;
}

template <typename Lanes>
bool LaneGroup<Lanes>::Gated() const {
  Word gated = 0;
  for (unsigned p = 0; p < kParts; ++p) gated |= schedulers_.in.gated_i[0][p];
  return gated != 0;
}

template <typename Lanes>
void LaneGroup<Lanes>::Cycle(SmBits ticking) {
  bool changed = false;
  Word any_ready = 0;
  for (const Part& part : parts_) {
    changed = changed || part.changed();
    any_ready |= part.any_ready;
  }
  evaluated_ = any_ready != 0 || changed || pulses_ != 0 || ticking != 0 || reporting_;
  if (!evaluated_) return;
  for (unsigned p = 0; p < kParts; ++p) Give(p, SmsOf(ticking, p));
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
  left_evaluated_ = false;
  profile_.in.tick_i[0][0] = ticking;
  CountGrants();
  shows_ = 0;
  for (unsigned p = 0; p < kParts; ++p) Take(p);
  if (ticking != 0 || reporting_) TakeReports();
  reporting_ = ticking != 0;
}

template <typename Lanes>
void LaneGroup<Lanes>::CountGrants() {
  // Of the SMs of all parts. With one part, nobody reads what is behind its SMs.
  const auto sms = [](const auto& word, unsigned shift) {
    if constexpr (kParts == 1) return Word{word[0]} >> shift;
    Word bits = 0;
    for (unsigned p = 0; p < kParts; ++p) bits |= SmsOf(word[p] >> shift, 0) << kPartSms * p;
    return bits;
  };
  const auto& out = schedulers_.out;
  for (unsigned s = 0; s < kSchedulers; ++s) {
    profile_.in.grant_valid_i[s][0] = sms(out.grant_valid_o[0], s * kStride);
    for (unsigned b = 0; b < kKernelWidth; ++b) {
      profile_.in.grant_kernel_i[s * kKernelWidth + b][0] = sms(out.grant_kernel_o[b], s * kStride);
    }
  }
  profile_.Edge();
}

template <typename Lanes>
void LaneGroup<Lanes>::Take(unsigned p) {
  parts_[p].rows_known = parts_[p].left_known = false;
  TakeLanes(p);
  TakeQuotas(p);
}

// A word for each warp: bit by bit of its number, the schedulers that grant it are told apart.
template <typename Lanes>
void LaneGroup<Lanes>::TakeLanes(unsigned p) {
  Part& part = parts_[p];
  part.lanes = {};
  if (part.any_ready == 0) return;
  const auto& out = schedulers_.out;
  std::array<Word, 1u << kGrantWidth> grant{};
  grant[0] = out.grant_valid_o[0][p];
  for (unsigned b = 0; b < kGrantWidth; ++b) {
    for (unsigned w = 0; w < 1u << b; ++w) {
      grant[w + (1u << b)] = grant[w] & out.grant_warp_o[b][p];
      grant[w] ^= grant[w + (1u << b)];
    }
  }
  for (unsigned w = 0; w < kWarps; ++w) part.lanes[w % 16] |= grant[w] << (w / 16 * 16);
  Transpose(&part.lanes);
  if constexpr (kStride != kLayout.lanes_per_scheduler()) {
    for (Word& row : part.lanes) {
      Word lanes = 0;
      for (unsigned s = 0; s < kSchedulers; ++s) {
        lanes |= (row >> s * kStride & kLayout.SchedulerField(0)) << kLayout.LaneOf(s, 0);
      }
      row = lanes;
    }
  }
}

template <typename Lanes>
const LaneRows& LaneGroup<Lanes>::Rows(unsigned p) {
  Part& part = parts_[p];
  if (part.rows_known) return part.rows;
  part.rows_known = true;
  const auto& out = schedulers_.out;
  part.rows = {};
  part.rows[kValid] = out.grant_valid_o[0][p];
  for (unsigned b = 0; b < kGrantWidth; ++b) part.rows[kWarp + b] = out.grant_warp_o[b][p];
  for (unsigned b = 0; b < kKernelWidth; ++b) part.rows[kKernel + b] = out.grant_kernel_o[b][p];
  for (unsigned k = 0; k < kKernels; ++k) part.rows[kSomeLeft + k] = out.some_left_o[k][p];
  Transpose(&part.rows);
  return part.rows;
}

// Who has to show quotas. Without a grant they stay what they are.
template <typename Lanes>
void LaneGroup<Lanes>::TakeQuotas(unsigned p) {
  const auto& out = schedulers_.out;
  Word changed = out.reload_o[0][p];
  for (unsigned k = 0; k < kKernels; ++k) {
    const Word some = out.some_left_o[k][p];
    changed |= parts_[p].some_left[k] ^ some;
    parts_[p].some_left[k] = some;
  }
  changed &= out.grant_valid_o[0][p];
  Word shows = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) shows |= changed >> s * kStride & kPartMask;
  shows_ |= shows << kPartSms * p;
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeReports() {
  profile_.Registers();
  for (unsigned p = 0; p < kParts; ++p) {
    KernelRows rows{};
    FromKernels(profile_.out.report_issued_o, 0, kPartSms * p, Package::IssuedWidth, &rows);
    for (unsigned row = 0; row < kPartSms; ++row) {
      const unsigned i = kPartSms * p + row;
      reports_[i].report_valid_o = (profile_.out.report_valid_o[0][0] >> i & 1) != 0;
      for (unsigned k = 0; k < kKernels; ++k) {
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
  return {PartOf(i).lanes[i % kPartSms], (shows_ >> i & 1) != 0};
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeAlone(unsigned first, PreparedGrants* grants) const {
  const unsigned sms = std::min(kSms, Package::NumSms - first);
  for (unsigned i = 0; i < sms; ++i) {
    grants->lanes[first + i] = evaluated_ ? PartOf(i).lanes[i % kPartSms] : 0;
  }
  grants->alone.SetSome(first, prepared_ & ~(evaluated_ ? shows_ : 0));
}

template <typename Lanes>
void LaneGroup<Lanes>::ReadGrants(unsigned i, SmOutputs* out) {
  Use(i);
  if (!evaluated_) return;
  // Without a branch: nobody could foretell it. A warp counts only where it is granted.
  Word row = Rows(i / kPartSms)[i % kPartSms];
  unsigned valid = 0;
  for (unsigned s = 0; s < kSchedulers; ++s, row >>= kStride % 64) {
    valid |= static_cast<unsigned>(row >> kValid & 1) << s;
    out->grant_warp[s] = static_cast<std::uint8_t>(row >> kWarp & ((1u << kGrantWidth) - 1));
  }
  out->grant_valid = static_cast<std::uint8_t>(valid);
}

template <typename Lanes>
std::uint32_t LaneGroup<Lanes>::GrantKernels(unsigned i) {
  const Word row = Rows(i / kPartSms)[i % kPartSms];
  std::uint32_t kernels = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) {
    SetBits(&kernels, s * kKernelWidth, kKernelWidth, row >> (s * kStride + kKernel));
  }
  return kernels;
}

template <typename Lanes>
void LaneGroup<Lanes>::Quotas(unsigned i, SmOutputs* out) {
  const unsigned p = i / kPartSms, at = i % kPartSms;
  Part& part = parts_[p];
  if (!left_evaluated_) schedulers_.Left();
  left_evaluated_ = true;
  if (!part.left_known) {
    part.left = {};
    FromKernels(schedulers_.out.left_o, p, 0, Package::QuotaWidth, &part.left);
    part.left_known = true;
  }
  const Word row = Rows(p)[at];
  for (unsigned s = 0; s < kSchedulers; ++s) {
    const auto some = static_cast<std::uint32_t>(row >> (s * kStride + kSomeLeft));
    out->with_quota |= (some & ((1u << kKernels) - 1)) << s * kMaxKernels;
  }
  for (unsigned k = 0; k < kKernels; ++k) {
    out->quota_left[k] = static_cast<std::uint16_t>(part.left[k / 4][at] >> 16 * (k % 4));
  }
}

}  // namespace smk
