// SPDX-License-Identifier: Apache-2.0
// What issues on up to 16 SMs, as lanes of words: their warp schedulers and profile counters.
//
// Purpose     All schedulers of the SMs in one pass over the gates of smk_quota_scheduler, in which
//             each is one bit of every word; the profile counters of smk_sm_profile in another.
// Lanes       Scheduler s of SM i is bit s x kStride + i; the counters of SM i are bit i.
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
  static constexpr unsigned kSms = 16;
  // The ports of smk_sm_profile of one SM.
  struct Report {
    bool report_valid_o = false;
    std::array<std::uint32_t, (Package::NumKernels * Package::IssuedWidth + 31) / 32>
        report_issued_o{};
  };

  explicit LaneGroup(const PolicyConfig& policy);

  void Tell(unsigned i, const Tables& tables);
  void Clear() {
    ready_ = {};
    any_ready_ = 0;
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
    ready_[i] = row;
    any_ready_ |= row;
    prepared_ |= 1u << i;
  }
  // `ticking`: bit per SM.
  void Cycle(unsigned ticking);

  // Of all SMs, the first of which is the machine's `first`: those that have nothing to say but
  // their grants, and these.
  void TakeAlone(unsigned first, PreparedGrants* grants) const;
  // Of an SM that is stepped, once in a cycle: as outputs, or in short.
  void ReadGrants(unsigned i, SmOutputs* out);
  Grants Alone(unsigned i);
  std::uint8_t GrantValid(unsigned i) const {
    unsigned valid = 0;
    for (unsigned s = 0; s < kSchedulers; ++s) {
      valid |= ((lanes_[i] & kLayout.SchedulerField(s)) != 0 ? 1u : 0u) << s;
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
  static_assert(64 % kSchedulers == 0 && kWarps <= kStride && kWarps <= 2 * kSms);
  static constexpr LaneLayout kLayout{kWarps};
  // Of each scheduler the lowest bit, and its lanes.
  static constexpr Word kLowest = ~Word{0} / (kStride == 64 ? ~Word{0} : (Word{1} << kStride) - 1);
  static constexpr Word kLanes = kLowest * 0xffff;

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

  static void Set(LaneRows* rows, unsigned i, Word row, bool* changed) {
    *changed = *changed || (*rows)[i] != row;
    (*rows)[i] = row;
  }
  // To words of a bit per warp.
  static void ToWarps(LaneRows rows, Word* port) {
    Transpose(&rows);
    for (unsigned w = 0; w < kWarps; ++w) port[w] = rows[w % 16] >> (w / 16 * 16) & kLanes;
  }
  // From a port with a value of `width` bits per kernel, of the first scheduler of each SM.
  static void FromKernels(const Word* port, unsigned width, KernelRows* rows) {
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned b = 0; b < width; ++b) {
        (*rows)[k / 4][b] |= (port[k * width + b] & 0xffff) << 16 * (k % 4);
      }
    }
    for (LaneRows& matrix : *rows) Transpose(&matrix);
  }
  void ApplyControl();
  void ApplyQuotas();
  void CountGrants();
  void TakeLanes();
  const LaneRows& Rows();
  void TakeQuotas();
  void TakeReports();
  // In this cycle.
  void Use(unsigned i) {
    if ((prepared_ >> i & 1) == 0) throw CheckFailure("an SM is stepped that was not prepared");
    prepared_ &= ~(1u << i);
  }

  const bool greedy_;
  typename Lanes::SchedulerLanes schedulers_;
  typename Lanes::ProfileLanes profile_;
  // By SM, as the tables say them. Of quotas a matrix has four kernels.
  LaneRows stop_{}, leave_{}, control_{};
  KernelRows quota_{};
  bool stop_changed_ = true, leave_changed_ = true, control_changed_ = true, quota_changed_ = true;
  unsigned pulses_ = 0;  // SMs of which a warp starts or leaves, or quotas are loaded

  LaneRows ready_{};
  Word any_ready_ = 0;
  unsigned prepared_ = 0;  // SMs that may be stepped in this cycle
  bool evaluated_ = false;
  // By SM, of the last cycle that was evaluated: the warps that are granted, and all that is said.
  LaneRows lanes_{}, rows_{};
  bool rows_known_ = false;
  KernelRows left_{};
  bool left_known_ = false;
  bool ungated_ = false;  // quotas were in force nowhere in the cycle before
  // By kernel and lane: who has some left. By SM: a grant has changed that, or quotas are loaded.
  std::array<Word, kKernels> some_left_{};
  unsigned shows_ = 0;
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
    for (Word& word : *port) word = (value >> b++ & 1) != 0 ? ~Word{0} : 0;
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
  Set(&stop_, i, stop, &stop_changed_);
  Set(&leave_, i, leave, &leave_changed_);
  Set(&control_, i, control, &control_changed_);
  for (unsigned k = 0; k < kKernels; k += 4) {
    const unsigned width = std::min(kKernels - k, 4u) * Package::QuotaWidth;
    static_assert(Package::QuotaWidth == 16, "a row of four quotas is bits of the port");
    Set(&quota_[k / 4], i, GetBits(t.quota_o, k * Package::QuotaWidth, width), &quota_changed_);
  }
  const bool pulse = leave != 0 || t.start_valid_o != 0 || t.load_o != 0;
  pulses_ = (pulses_ & ~(1u << i)) | (pulse ? 1u : 0u) << i;
}

template <typename Lanes>
void LaneGroup<Lanes>::ApplyControl() {
  LaneRows rows = control_;
  Transpose(&rows);
  auto& in = schedulers_.in;
  in.start_valid_i[0] = rows[kStartValid];
  for (unsigned b = 0; b < kGrantWidth; ++b) in.start_warp_i[b] = rows[kStartWarp + b];
  for (unsigned b = 0; b < kKernelWidth; ++b) in.start_kernel_i[b] = rows[kStartKernel + b];
  in.load_i[0] = rows[kLoad];
  in.gated_i[0] = rows[kGated];
  in.ungated_i[0] = ~rows[kGated];
}

// Those of an SM go to all its schedulers.
template <typename Lanes>
void LaneGroup<Lanes>::ApplyQuotas() {
  KernelRows rows = quota_;
  for (LaneRows& matrix : rows) Transpose(&matrix);
  for (unsigned k = 0; k < kKernels; ++k) {
    for (unsigned b = 0; b < Package::QuotaWidth; ++b) {
      schedulers_.in.quota_i[k * Package::QuotaWidth + b] =
          (rows[k / 4][b] >> 16 * (k % 4) & 0xffff) * kLowest;
    }
  }
}

template <typename Lanes>
void LaneGroup<Lanes>::Cycle(unsigned ticking) {
  const bool changed = stop_changed_ || leave_changed_ || control_changed_ || quota_changed_;
  evaluated_ = any_ready_ != 0 || changed || pulses_ != 0 || ticking != 0 || reporting_;
  if (!evaluated_) return;
  if (stop_changed_) ToWarps(stop_, schedulers_.in.stop_i);
  if (leave_changed_) ToWarps(leave_, schedulers_.in.leave_i);
  if (control_changed_) ApplyControl();
  if (quota_changed_) ApplyQuotas();
  if (changed) schedulers_.Changed();
  stop_changed_ = leave_changed_ = control_changed_ = quota_changed_ = false;
  ToWarps(ready_, schedulers_.in.ready_i);
  schedulers_.in.tick_i[0] = ticking * kLowest;
  profile_.in.tick_i[0] = ticking;
  if (pulses_ != 0 || ticking != 0) {
    schedulers_.Cycle();
  } else if (!greedy_) {
    schedulers_.Quiet();
  } else if (!ungated_ || schedulers_.in.gated_i[0] != 0) {
    schedulers_.Greedy();
  } else {
    schedulers_.Ungated();
  }
  ungated_ = schedulers_.in.gated_i[0] == 0;
  left_known_ = false;
  CountGrants();
  TakeLanes();
  TakeQuotas();
  if (ticking != 0 || reporting_) TakeReports();
  reporting_ = ticking != 0;
}

template <typename Lanes>
void LaneGroup<Lanes>::CountGrants() {
  for (unsigned s = 0; s < kSchedulers; ++s) {
    profile_.in.grant_valid_i[s] = schedulers_.out.grant_valid_o[0] >> s * kStride;
    for (unsigned b = 0; b < kKernelWidth; ++b) {
      profile_.in.grant_kernel_i[s * kKernelWidth + b] =
          schedulers_.out.grant_kernel_o[b] >> s * kStride;
    }
  }
  profile_.Edge();
}

// A word for each warp: bit by bit of its number, the schedulers that grant it are told apart.
template <typename Lanes>
void LaneGroup<Lanes>::TakeLanes() {
  const auto& out = schedulers_.out;
  std::array<Word, 1u << kGrantWidth> grant{};
  grant[0] = out.grant_valid_o[0];
  for (unsigned b = 0; b < kGrantWidth; ++b) {
    for (unsigned w = 0; w < 1u << b; ++w) {
      grant[w + (1u << b)] = grant[w] & out.grant_warp_o[b];
      grant[w] ^= grant[w + (1u << b)];
    }
  }
  lanes_ = {};
  for (unsigned w = 0; w < kWarps; ++w) lanes_[w % 16] |= grant[w] << (w / 16 * 16);
  Transpose(&lanes_);
  if constexpr (kStride != kLayout.lanes_per_scheduler()) {
    for (Word& row : lanes_) {
      Word lanes = 0;
      for (unsigned s = 0; s < kSchedulers; ++s) {
        lanes |= (row >> s * kStride & kLayout.SchedulerField(0)) << kLayout.LaneOf(s, 0);
      }
      row = lanes;
    }
  }
  rows_known_ = false;
}

template <typename Lanes>
const LaneRows& LaneGroup<Lanes>::Rows() {
  if (rows_known_) return rows_;
  rows_known_ = true;
  const auto& out = schedulers_.out;
  rows_ = {};
  rows_[kValid] = out.grant_valid_o[0];
  for (unsigned b = 0; b < kGrantWidth; ++b) rows_[kWarp + b] = out.grant_warp_o[b];
  for (unsigned b = 0; b < kKernelWidth; ++b) rows_[kKernel + b] = out.grant_kernel_o[b];
  for (unsigned k = 0; k < kKernels; ++k) rows_[kSomeLeft + k] = out.some_left_o[k];
  Transpose(&rows_);
  return rows_;
}

// Who has to show quotas. Without a grant they stay what they are.
template <typename Lanes>
void LaneGroup<Lanes>::TakeQuotas() {
  const auto& out = schedulers_.out;
  Word changed = out.reload_o[0];
  for (unsigned k = 0; k < kKernels; ++k) {
    changed |= some_left_[k] ^ out.some_left_o[k];
    some_left_[k] = out.some_left_o[k];
  }
  changed &= out.grant_valid_o[0];
  shows_ = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) shows_ |= changed >> s * kStride & 0xffff;
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeReports() {
  profile_.Registers();
  KernelRows rows{};
  FromKernels(profile_.out.report_issued_o, Package::IssuedWidth, &rows);
  for (unsigned i = 0; i < kSms; ++i) {
    reports_[i].report_valid_o = (profile_.out.report_valid_o[0] >> i & 1) != 0;
    for (unsigned k = 0; k < kKernels; ++k) {
      SetBits(&reports_[i].report_issued_o, k * Package::IssuedWidth, Package::IssuedWidth,
              rows[k / 4][i] >> 16 * (k % 4));
    }
  }
}

template <typename Lanes>
Grants LaneGroup<Lanes>::Alone(unsigned i) {
  Use(i);
  if (!evaluated_) return {};
  return {lanes_[i], (shows_ >> i & 1) != 0};
}

template <typename Lanes>
void LaneGroup<Lanes>::TakeAlone(unsigned first, PreparedGrants* grants) const {
  const unsigned sms = std::min(kSms, Package::NumSms - first);
  for (unsigned i = 0; i < sms; ++i) grants->lanes[first + i] = evaluated_ ? lanes_[i] : 0;
  grants->alone.SetSome(first, prepared_ & ~(evaluated_ ? shows_ : 0));
}

template <typename Lanes>
void LaneGroup<Lanes>::ReadGrants(unsigned i, SmOutputs* out) {
  Use(i);
  if (!evaluated_) return;
  // Without a branch: nobody could foretell it. A warp counts only where it is granted.
  Word row = Rows()[i];
  unsigned valid = 0;
  for (unsigned s = 0; s < kSchedulers; ++s, row >>= kStride % 64) {
    valid |= static_cast<unsigned>(row >> kValid & 1) << s;
    out->grant_warp[s] = static_cast<std::uint8_t>(row >> kWarp & ((1u << kGrantWidth) - 1));
  }
  out->grant_valid = static_cast<std::uint8_t>(valid);
}

template <typename Lanes>
std::uint32_t LaneGroup<Lanes>::GrantKernels(unsigned i) {
  std::uint32_t kernels = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) {
    SetBits(&kernels, s * kKernelWidth, kKernelWidth, Rows()[i] >> (s * kStride + kKernel));
  }
  return kernels;
}

template <typename Lanes>
void LaneGroup<Lanes>::Quotas(unsigned i, SmOutputs* out) {
  if (!left_known_) {
    schedulers_.Left();
    left_ = {};
    FromKernels(schedulers_.out.left_o, Package::QuotaWidth, &left_);
    left_known_ = true;
  }
  const Word row = Rows()[i];
  for (unsigned s = 0; s < kSchedulers; ++s) {
    const auto some = static_cast<std::uint32_t>(row >> (s * kStride + kSomeLeft));
    out->with_quota |= (some & ((1u << kKernels) - 1)) << s * kMaxKernels;
  }
  for (unsigned k = 0; k < kKernels; ++k) {
    out->quota_left[k] = static_cast<std::uint16_t>(left_[k / 4][i] >> 16 * (k % 4));
  }
}

}  // namespace smk
