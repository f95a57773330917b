// SPDX-License-Identifier: Apache-2.0
#include "control/reference_control.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace smk {
namespace {

TEST(ReferenceControlTest, TakesTheConfigurationsThatAreShipped) {
  ControlConfig config;
  EXPECT_NE(MakeReferenceControl(config, {}), nullptr);
  config.limits = {128, 192, 48, 8};
  config.num_schedulers = 2;
  config.warps_per_scheduler = 24;
  EXPECT_NE(MakeReferenceControl(config, {}), nullptr);
}

TEST(ReferenceControlTest, RefusesZeroAndTooManySms) {
  for (const unsigned sms : {0u, kMaxSms + 1}) {
    ControlConfig config;
    config.num_sms = sms;
    EXPECT_THROW(MakeReferenceControl(config, {}), InputError);
  }
}

// Shares are counted in 32 bits.
TEST(ReferenceControlTest, RefusesLimitsWithoutASmallCommonMultiple) {
  ControlConfig config;
  config.num_sms = 32;
  config.limits = {255, 383, 63, 31};
  EXPECT_THROW(MakeReferenceControl(config, {}), InputError);
  config.limits = {255, 385, 63, 30};
  EXPECT_NE(MakeReferenceControl(config, {}), nullptr);
}

TEST(ReferenceControlTest, RefusesPoliciesThatCannotRun) {
  PolicyConfig policy;
  policy.latency_scale = 0;
  EXPECT_THROW(MakeReferenceControl({}, policy), InputError);
  policy = {};
  policy.kernels_per_sm = 0;
  EXPECT_THROW(MakeReferenceControl({}, policy), InputError);
  policy = {};
  policy.epoch_length = kNumKernels;
  EXPECT_THROW(MakeReferenceControl({}, policy), InputError);
}

}  // namespace
}  // namespace smk
