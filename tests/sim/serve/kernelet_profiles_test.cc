// SPDX-License-Identifier: Apache-2.0
// Profiles of kernels by a cycle model that is made up: of how many of their TBs they are.
#include "serve/kernelet_profiles.h"

#include <gtest/gtest.h>

#include "config/machine_config.h"
#include "sim/fake.h"
#include "workload/workload_file.h"

namespace smk::sim {
namespace {

constexpr Cycle kProfiledTbCycles = 1000;

// TBs end one by one, whatever the slices are.
class KerneletProfilesTest : public testing::Test {
 protected:
  KerneletProfilesTest() {
    backend.find_workload = [](const std::string& name) {
      return ParseWorkload(
          "description = \"A hundred TBs\"\ntype = \"compute\"\nlaunches = [\"k\"]\n[[kernel]]\n"
          "name = \"k\"\nthreads = 128\nregisters = 32\nshared_memory = 0\ngrid = [100]\n"
          "idempotence = \"yes\"\nprogram = '''\nalu a = x10\n'''\n",
          name + ".toml");
    };
    backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
      RunResult result = FakeResult(request);
      const Workload& workload = *request.jobs[0].workload;
      result.jobs[0].start = 0;
      result.jobs[0].finish = kProfiledTbCycles * workload.kernels[workload.launches[0]].tb_count();
      return result;
    };
    Options options;
    options.kernels = "a";
    experiment = Resolve(options, backend);
    experiment.machine.sms = 16;
  }
  KerneletProfile Profile(const ProfiledTbs& tbs) {
    KerneletRuns runs(backend, experiment, {1, true, ""});
    return KerneletProfiler(&runs, tbs).Measure().kernels.at(0);
  }
  Backend backend = FakeBackend();
  Experiment experiment;
};

TEST_F(KerneletProfilesTest, AreOfAllTbs) {
  const KerneletProfile all = Profile({});
  EXPECT_EQ(all.profiled, 100u);
  EXPECT_EQ(all.cycles, 100 * kProfiledTbCycles);
  EXPECT_EQ(all.model.least_tbs, 1u) << "slices cost nothing here";
}

// [D61].
TEST_F(KerneletProfilesTest, OfALongKernelAreOfItsFirstTbs) {
  const KerneletProfile part = Profile([](const auto&, std::uint16_t) { return 40; });
  EXPECT_EQ(part.tbs, 100u);
  EXPECT_EQ(part.profiled, 40u);
  EXPECT_EQ(part.cycles, 40 * kProfiledTbCycles);
  EXPECT_EQ(part.model.least_tbs, 1u);
  EXPECT_EQ(Profile([](const auto&, std::uint16_t) { return 7; }).model.least_tbs, 7u)
      << "fewer than SMs have no slices: the whole kernel, 100 TBs on 16 SMs";
}

}  // namespace
}  // namespace smk::sim
