// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch and what a test tells it to do: kernels of a size, one after the other.
#pragma once

#include <Vfermi_tb_dispatch.h>
#include <Vfermi_tb_dispatch_smk_pkg.h>
#include <Vsmk_tb_dispatch.h>
#include <Vsmk_tb_dispatch_smk_pkg.h>
#include <Vv100_tb_dispatch.h>
#include <Vv100_tb_dispatch_smk_pkg.h>

#include <vector>

#include "tb_dispatch/pair.h"

namespace smk::tb_dispatch {

using Gtx980 = DispatchPair<Vsmk_tb_dispatch, Vsmk_tb_dispatch_smk_pkg>;
using Fermi = DispatchPair<Vfermi_tb_dispatch, Vfermi_tb_dispatch_smk_pkg>;
using V100 = DispatchPair<Vv100_tb_dispatch, Vv100_tb_dispatch_smk_pkg>;

inline PolicyConfig PolicyOf(DispatchMode dispatch, std::uint8_t scale = 1) {
  PolicyConfig policy;
  policy.stream = false;
  policy.dispatch = dispatch;
  policy.latency_scale = scale;
  return policy;
}

template <typename Pair>
ResourceVector NeedOf(unsigned part) {
  ResourceVector need;
  need.registers = static_cast<std::uint16_t>(Pair::kLimits.registers / part);
  need.threads = 1;
  need.tbs = 1;
  return need;
}

// Until there has been nothing to do for a while; what was decided on the way.
template <typename Pair>
std::vector<Decision> Rest(Pair* pair) {
  std::vector<Decision> decisions;
  for (unsigned quiet = 0; quiet < 40 && pair->lockstep().ok(); ++quiet) {
    if (const auto decision = pair->Cycle()) decisions.push_back(*decision);
    if (pair->work()) quiet = 0;
  }
  return decisions;
}

// Kernel 1 has run and lingers; kernel 0 has as many TBs as the GPU holds. Or two others.
template <typename Pair>
void Fill(Pair* pair, const ResourceVector& need0, const ResourceVector& need1, unsigned tbs = 9999,
          unsigned kernel0 = 0) {
  pair->machine().launches = false;
  pair->machine().SetRates(1000, 100, 100);
  pair->machine().LaunchNext((kernel0 + 1) % kNumKernels, need1, 1);
  Rest(pair);
  pair->machine().SetRates(0, 0, 100);
  pair->machine().LaunchNext(kernel0, need0, tbs);
  Rest(pair);
}
template <typename Pair>
void Fill(Pair* pair, unsigned part0, unsigned part1, unsigned tbs = 9999) {
  Fill(pair, NeedOf<Pair>(part0), NeedOf<Pair>(part1), tbs);
}

}  // namespace smk::tb_dispatch
