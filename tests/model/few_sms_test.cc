// SPDX-License-Identifier: Apache-2.0
// As many kernels as SMs, or more: each of them runs, and nobody has an SM to be profiled on [D11].
#include <gtest/gtest.h>

#include <string>

#include "control/reference_control.h"
#include "model/micro.h"

namespace smk {
namespace {

constexpr unsigned kKernels = 3;

MicroKernel Small(unsigned number) {
  MicroKernel kernel;
  kernel.name = "k" + std::to_string(number);
  kernel.threads = 64;
  kernel.registers = 16;
  kernel.tbs = 1000;
  kernel.Loop(20, 20);
  kernel.Op(OpClass::kAlu, 1, {1});
  kernel.End();
  return kernel;
}

struct Outcome {
  RunResult result;
  unsigned quotas = 0;  // SMs on which they are in force in the end
};

Outcome RunOn(unsigned sms, DispatchMode mode, bool quotas) {
  MicroRun run;
  run.request.machine.sms = sms;
  run.request.policy.dispatch = mode;
  run.request.policy.quota_enable = quotas;
  run.request.policy.epoch_length = 500;
  const auto control = MakeReferenceControl(run.Control(), run.request.policy);
  Outcome outcome{run.Run({Small(0), Small(1), Small(2)}, control.get())};
  for (unsigned sm = 0; sm < sms; ++sm) {
    const auto quota = control->quotas(static_cast<SmId>(sm));
    outcome.quotas += quota != decltype(quota){} ? 1 : 0;
  }
  return outcome;
}

TEST(FewSms, EveryKernelRunsUnderSpatial) {
  for (unsigned sms = 1; sms <= kKernels; ++sms) {
    const Outcome outcome = RunOn(sms, DispatchMode::kSpatial, false);
    for (const auto& kernel : outcome.result.kernels) {
      EXPECT_GT(kernel.tbs_completed, 0u) << sms << " SMs";
    }
  }
}

TEST(FewSms, EveryKernelRunsWithQuotasAndNoneAreInForceUnlessAnSmIsLeftToBeShared) {
  for (unsigned sms = 1; sms <= kKernels + 2; ++sms) {
    const Outcome outcome = RunOn(sms, DispatchMode::kPartitioned, true);
    for (const auto& kernel : outcome.result.kernels) {
      EXPECT_GT(kernel.tbs_completed, 0u) << sms << " SMs";
    }
    EXPECT_EQ(outcome.quotas, sms > kKernels ? sms - kKernels : 0) << sms << " SMs";
  }
}

}  // namespace
}  // namespace smk
