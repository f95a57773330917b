// SPDX-License-Identifier: Apache-2.0
// tb_arrival_t of rtl/common/smk_pkg.sv: a TB on its way to an SM, as the tracker hears of it.
#pragma once

#include <array>

#include "control/message_fields.h"

namespace smk {

// Kernel and need stand only with the four SMs among which its SM is.
struct TbArrival {
  SmMask sms{};  // its SM; none: no TB comes
  std::array<KernelMask, (kMaxSms + 3) / 4> kernels{};
  std::array<ResourceVector, (kMaxSms + 3) / 4> needs{};
};

inline TbArrival ArrivalOf(KernelId kernel, SmId sm, const ResourceVector& need) {
  TbArrival arrival;
  arrival.sms = SmMask::Of(Index(sm));
  arrival.kernels[Index(sm) / 4] = static_cast<KernelMask>(1u << Index(kernel));
  arrival.needs[Index(sm) / 4] = need;
  return arrival;
}

template <typename P>
struct TbArrivalFields {
  using Message = TbArrival;
  static constexpr bool Comes(const TbArrival& a) { return a.sms.Any(); }
  static constexpr auto kFields = std::make_tuple(
      Is<Bits<P::NumSms>>("sms", &Message::sms),
      Is<Vector<P::NumSmGroups, Bits<P::NumKernels>>>("kernels", &Message::kernels, Comes),
      Is<Vector<P::NumSmGroups, TbNeedFields<P>>>("needs", &Message::needs, Comes));
};

}  // namespace smk
