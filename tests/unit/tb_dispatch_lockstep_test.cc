// SPDX-License-Identifier: Apache-2.0
// rtl/driver/smk_tb_dispatch.sv against TbDispatch: every output and every question, every cycle.
#include <Vfermi_tb_dispatch.h>
#include <Vfermi_tb_dispatch_smk_pkg.h>
#include <Vsmk_tb_dispatch.h>
#include <Vsmk_tb_dispatch_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "unit/tb_dispatch_pair.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_tb_dispatch_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_tb_dispatch_smk_pkg>(), "rtl and model disagree");

using Gtx980 = DispatchPair<Vsmk_tb_dispatch, Vsmk_tb_dispatch_smk_pkg>;
using Fermi = DispatchPair<Vfermi_tb_dispatch, Vfermi_tb_dispatch_smk_pkg>;

constexpr DispatchMode kModes[] = {DispatchMode::kLeftover,    DispatchMode::kEven,
                                   DispatchMode::kSpatial,     DispatchMode::kOnDemand,
                                   DispatchMode::kPartitioned, DispatchMode::kTable};

std::vector<PolicyConfig> AllPolicies() {
  std::vector<PolicyConfig> all;
  for (const DispatchMode dispatch : kModes) {
    for (unsigned i = 0; i < 24; ++i) {
      PolicyConfig policy;
      policy.dispatch = dispatch;
      policy.preempt = static_cast<PreemptMode>(i / 8);
      policy.quota_enable = (i & 1) != 0;
      policy.kernels_per_sm = (i & 2) != 0 ? 2 : kMaxKernels;
      policy.latency_scale = (i & 4) != 0 ? 4 : 1;
      policy.linger_ticks = 1;
      policy.table = {1, 4, 2, 3};
      all.push_back(policy);
    }
  }
  return all;
}

template <typename Pair>
std::map<DecisionReason, unsigned> RunAll(unsigned cycles) {
  std::map<DecisionReason, unsigned> reasons;
  std::uint64_t seed = GetTestOptions().seed;
  std::uint64_t compared = 0;
  for (const PolicyConfig& policy : AllPolicies()) {
    Pair pair(policy, seed % 3 == 0 ? 6 : 512, seed);
    for (unsigned i = 0; i < cycles && pair.lockstep().ok(); ++i) pair.Cycle();
    EXPECT_TRUE(pair.lockstep().ok())
        << "mode " << static_cast<int>(policy.dispatch) << ": " << pair.lockstep().mismatch();
    if (!pair.lockstep().ok()) break;
    for (const auto& [reason, count] : pair.reasons()) reasons[reason] += count;
    compared += pair.lockstep().compared();
    ++seed;
  }
  std::printf("%llu values compared; decisions:", static_cast<unsigned long long>(compared));
  for (const auto& [reason, count] : reasons)
    std::printf(" %d:%u", static_cast<int>(reason), count);
  std::printf("\n");
  return reasons;
}

TEST(TbDispatchLockstep, EqualsTheReferenceInEveryMode) { RunAll<Gtx980>(1500); }

TEST(TbDispatchLockstep, EqualsTheReferenceInConfigurationFermi) { RunAll<Fermi>(1000); }

}  // namespace
}  // namespace smk
