// SPDX-License-Identifier: Apache-2.0
// What 16 SMs and the gates of their warp schedulers say to each other: one word of every net.
//
// Purpose     Brings what is of an SM into words in which each scheduler has a bit, and back.
// Lanes       Scheduler s of the part's SM i is bit s x kStride + i.
// Interface   Tell(), Clear() and SetReady() gather the inputs, Give() puts those that are new into
//             word `word` of the ports. After a cycle Take() has grants, and says which SMs show
//             quotas; ReadGrants(), GrantKernels() and Quotas() are of an SM. LaneGroup calls it.
#pragma once

#include <algorithm>
#include <array>

#include "control/message_fields.h"
#include "cosim/lanes/lane_matrix.h"
#include "cosim/pack.h"

namespace smk {

// See the head of this file. `Lanes` names the classes of a configuration: see configs/.
template <typename Lanes>
class LanePart {
 public:
  using Package = typename Lanes::Package;
  using Tables = typename Lanes::Tables;
  using Inputs = typename Lanes::SchedulerLanes::Inputs;
  using Outputs = typename Lanes::SchedulerLanes::Outputs;
  using Word = std::uint64_t;
  static constexpr unsigned kSms = 16;
  static constexpr Word kSmMask = (Word{1} << kSms) - 1;
  static constexpr unsigned kSchedulers = Package::NumSchedulers;
  static constexpr unsigned kWarps = Package::WarpsPerScheduler;
  static constexpr unsigned kKernels = Package::NumKernels;
  static constexpr unsigned kKernelWidth = Package::KernelWidth;
  static constexpr unsigned kGrantWidth = Package::GrantWidth;
  static constexpr unsigned kStride = 64 / kSchedulers;
  // Values of up to 16 bits for each kernel: four kernels to a matrix.
  static constexpr unsigned kMatrices = (kKernels + 3) / 4;
  using KernelRows = std::array<LaneRows, kMatrices>;
  static_assert(Package::QuotaWidth <= 16 && Package::IssuedWidth <= 16);
  // From a port with a value of `width` bits per kernel: of the 16 bits of a word from `shift` on.
  template <typename Port>
  static KernelRows FromKernels(const Port& port, unsigned word, unsigned shift, unsigned width) {
    KernelRows rows{};
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned b = 0; b < width; ++b) {
        rows[k / 4][b] |= (port[k * width + b][word] >> shift & kSmMask) << 16 * (k % 4);
      }
    }
    for (LaneRows& matrix : rows) Transpose(&matrix);
    return rows;
  }

  // What the tables of SM i say; whether a warp starts or leaves, or quotas are loaded.
  bool Tell(unsigned i, const Tables& tables);
  void Clear() {
    ready_ = {};
    any_ready_ = 0;
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
  }
  bool any_ready() const { return any_ready_ != 0; }
  // What the tables say is not yet given.
  bool changed() const {
    return stop_changed_ || leave_changed_ || control_changed_ || quota_changed_;
  }
  // The inputs of a cycle. `ticking`: bit per SM.
  void Give(unsigned word, Word ticking, Inputs* in);

  // The outputs of the cycle. Of SMs that a grant has changed in who has some left, or whose quotas
  // are loaded, a bit.
  Word Take(unsigned word, const Outputs& out);
  // The warps that are granted.
  LaneMask lanes(unsigned i) const { return lanes_[i]; }
  std::uint8_t GrantValid(unsigned i) const {
    unsigned valid = 0;
    for (unsigned s = 0; s < kSchedulers; ++s) {
      valid |= ((lanes_[i] & kLayout.SchedulerField(s)) != 0 ? 1u : 0u) << s;
    }
    return static_cast<std::uint8_t>(valid);
  }
  void ReadGrants(unsigned i, unsigned word, const Outputs& out, SmOutputs* sm);
  std::uint32_t GrantKernels(unsigned i, unsigned word, const Outputs& out);
  // `out` has left_o of the cycle.
  void Quotas(unsigned i, unsigned word, const Outputs& out, SmOutputs* sm);

 private:
  static_assert(64 % kSchedulers == 0 && kWarps <= kStride && kWarps <= 2 * kSms);
  static constexpr LaneLayout kLayout{kWarps};
  // Of each scheduler the lowest bit, and its lanes.
  static constexpr Word kLowest = ~Word{0} / (kStride == 64 ? ~Word{0} : (Word{1} << kStride) - 1);
  static constexpr Word kLanes = kLowest * kSmMask;

  // Bits that an SM's rows have of each scheduler.
  static constexpr unsigned kStartValid = 0, kStartWarp = 1, kStartKernel = kStartWarp + 5,
                            kLoad = kStartKernel + 3, kGated = kLoad + 1;
  static constexpr unsigned kValid = 0, kWarp = 1, kKernel = kWarp + kGrantWidth,
                            kSomeLeft = kKernel + kKernelWidth;
  static_assert(kSomeLeft + kKernels <= 16);

  static void Set(LaneRows* rows, unsigned i, Word row, bool* changed) {
    *changed = *changed || (*rows)[i] != row;
    (*rows)[i] = row;
  }
  // To words of a bit per warp.
  template <typename Port>
  static void ToWarps(LaneRows rows, unsigned word, Port* port) {
    Transpose(&rows);
    for (unsigned w = 0; w < kWarps; ++w) {
      (*port)[w][word] = rows[w % 16] >> (w / 16 * 16) & kLanes;
    }
  }
  void GiveControl(unsigned word, Inputs* in) const;
  void GiveQuotas(unsigned word, Inputs* in) const;
  void TakeLanes(unsigned word, const Outputs& out);
  Word TakeQuotas(unsigned word, const Outputs& out);
  const LaneRows& Rows(unsigned word, const Outputs& out);

  // By SM, as the tables say them. Of quotas a matrix has four kernels.
  LaneRows stop_{}, leave_{}, control_{};
  KernelRows quota_{};
  bool stop_changed_ = true, leave_changed_ = true, control_changed_ = true, quota_changed_ = true;
  LaneRows ready_{};
  Word any_ready_ = 0;
  bool was_given_ = false;  // the gates have ready warps, of the last cycle that was evaluated
  // By SM, of that cycle: the warps that are granted, and all that is said.
  LaneRows lanes_{}, rows_{};
  KernelRows left_{};
  bool rows_known_ = false, left_known_ = false;
  std::array<Word, kKernels> some_left_{};  // by kernel and lane: who has some left
};

template <typename Lanes>
bool LanePart<Lanes>::Tell(unsigned i, const Tables& t) {
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
  return leave != 0 || t.start_valid_o != 0 || t.load_o != 0;
}

template <typename Lanes>
void LanePart<Lanes>::Give(unsigned word, Word ticking, Inputs* in) {
  if (stop_changed_) ToWarps(stop_, word, &in->stop_i);
  if (leave_changed_) ToWarps(leave_, word, &in->leave_i);
  if (control_changed_) GiveControl(word, in);
  if (quota_changed_) GiveQuotas(word, in);
  stop_changed_ = leave_changed_ = control_changed_ = quota_changed_ = false;
  if (any_ready_ != 0 || was_given_) ToWarps(ready_, word, &in->ready_i);
  was_given_ = any_ready_ != 0;
  in->tick_i[0][word] = ticking * kLowest;
}

template <typename Lanes>
void LanePart<Lanes>::GiveControl(unsigned word, Inputs* in) const {
  LaneRows rows = control_;
  Transpose(&rows);
  in->start_valid_i[0][word] = rows[kStartValid];
  for (unsigned b = 0; b < kGrantWidth; ++b) in->start_warp_i[b][word] = rows[kStartWarp + b];
  for (unsigned b = 0; b < kKernelWidth; ++b) in->start_kernel_i[b][word] = rows[kStartKernel + b];
  in->load_i[0][word] = rows[kLoad];
  in->gated_i[0][word] = rows[kGated];
  in->ungated_i[0][word] = ~rows[kGated];
}

// Those of an SM go to all its schedulers.
template <typename Lanes>
void LanePart<Lanes>::GiveQuotas(unsigned word, Inputs* in) const {
  KernelRows rows = quota_;
  for (LaneRows& matrix : rows) Transpose(&matrix);
  for (unsigned k = 0; k < kKernels; ++k) {
    for (unsigned b = 0; b < Package::QuotaWidth; ++b) {
      in->quota_i[k * Package::QuotaWidth + b][word] =
          (rows[k / 4][b] >> 16 * (k % 4) & kSmMask) * kLowest;
    }
  }
}

template <typename Lanes>
typename LanePart<Lanes>::Word LanePart<Lanes>::Take(unsigned word, const Outputs& out) {
  rows_known_ = left_known_ = false;
  TakeLanes(word, out);
  return TakeQuotas(word, out);
}

// A word for each warp: bit by bit of its number, the schedulers that grant it are told apart.
template <typename Lanes>
void LanePart<Lanes>::TakeLanes(unsigned word, const Outputs& out) {
  lanes_ = {};
  if (any_ready_ == 0) return;
  std::array<Word, 1u << kGrantWidth> grant{};
  grant[0] = out.grant_valid_o[0][word];
  for (unsigned b = 0; b < kGrantWidth; ++b) {
    for (unsigned w = 0; w < 1u << b; ++w) {
      grant[w + (1u << b)] = grant[w] & out.grant_warp_o[b][word];
      grant[w] ^= grant[w + (1u << b)];
    }
  }
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
}

template <typename Lanes>
const LaneRows& LanePart<Lanes>::Rows(unsigned word, const Outputs& out) {
  if (rows_known_) return rows_;
  rows_known_ = true;
  rows_ = {};
  rows_[kValid] = out.grant_valid_o[0][word];
  for (unsigned b = 0; b < kGrantWidth; ++b) rows_[kWarp + b] = out.grant_warp_o[b][word];
  for (unsigned b = 0; b < kKernelWidth; ++b) rows_[kKernel + b] = out.grant_kernel_o[b][word];
  for (unsigned k = 0; k < kKernels; ++k) rows_[kSomeLeft + k] = out.some_left_o[k][word];
  Transpose(&rows_);
  return rows_;
}

// Who has to show quotas. Without a grant they stay what they are.
template <typename Lanes>
typename LanePart<Lanes>::Word LanePart<Lanes>::TakeQuotas(unsigned word, const Outputs& out) {
  Word changed = out.reload_o[0][word];
  for (unsigned k = 0; k < kKernels; ++k) {
    const Word some = out.some_left_o[k][word];
    changed |= some_left_[k] ^ some;
    some_left_[k] = some;
  }
  changed &= out.grant_valid_o[0][word];
  Word shows = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) shows |= changed >> s * kStride & kSmMask;
  return shows;
}

template <typename Lanes>
void LanePart<Lanes>::ReadGrants(unsigned i, unsigned word, const Outputs& out, SmOutputs* sm) {
  // Without a branch: nobody could foretell it. A warp counts only where it is granted.
  Word row = Rows(word, out)[i];
  unsigned valid = 0;
  for (unsigned s = 0; s < kSchedulers; ++s, row >>= kStride % 64) {
    valid |= static_cast<unsigned>(row >> kValid & 1) << s;
    sm->grant_warp[s] = static_cast<std::uint8_t>(row >> kWarp & ((1u << kGrantWidth) - 1));
  }
  sm->grant_valid = static_cast<std::uint8_t>(valid);
}

template <typename Lanes>
std::uint32_t LanePart<Lanes>::GrantKernels(unsigned i, unsigned word, const Outputs& out) {
  const Word row = Rows(word, out)[i];
  std::uint32_t kernels = 0;
  for (unsigned s = 0; s < kSchedulers; ++s) {
    SetBits(&kernels, s * kKernelWidth, kKernelWidth, row >> (s * kStride + kKernel));
  }
  return kernels;
}

template <typename Lanes>
void LanePart<Lanes>::Quotas(unsigned i, unsigned word, const Outputs& out, SmOutputs* sm) {
  if (!left_known_) left_ = FromKernels(out.left_o, word, 0, Package::QuotaWidth);
  left_known_ = true;
  const Word row = Rows(word, out)[i];
  for (unsigned s = 0; s < kSchedulers; ++s) {
    const auto some = static_cast<std::uint32_t>(row >> (s * kStride + kSomeLeft));
    sm->with_quota |= (some & ((1u << kKernels) - 1)) << s * kMaxKernels;
  }
  for (unsigned k = 0; k < kKernels; ++k) {
    sm->quota_left[k] = static_cast<std::uint16_t>(left_[k / 4][i] >> 16 * (k % 4));
  }
}

}  // namespace smk
