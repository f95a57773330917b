// SPDX-License-Identifier: Apache-2.0
// Isolated calibration: each Parboil program alone stalls as much as in the paper. Shorter runs
// than the 2 million cycles of the recorded figures, hence a margin of one point more.
#include <gtest/gtest.h>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

struct Target {
  const char* name;
  double low, high;  // percent of scheduler cycles without an issue
  const char* type;
};

// SMK Table 2 with 6 points either way, one more below for stencil, whose first planes run faster;
// else the range of Sec. 1.
const Target kTargets[] = {
    {"cutcp", 48.5, 60.5, "compute"},  {"sgemm", 46.5, 58.5, "compute"},
    {"tpacf", 54.2, 66.2, "compute"},  {"mri-q", 52.5, 98.1, "compute"},
    {"lbm", 83.9, 95.9, "memory"},     {"spmv", 85.2, 97.2, "memory"},
    {"stencil", 84.2, 97.2, "memory"}, {"histo", 52.5, 98.1, "memory"},
    {"sad", 52.5, 98.1, "memory"},     {"mri-g", 52.5, 98.1, "memory"},
};

class Calibration : public ::testing::TestWithParam<Target> {};

RunRequest Alone(const std::string& name, const std::string& machine) {
  const std::string data_dir = SMK_SOURCE_DIR;
  RunRequest request;
  request.machine = MachineConfig::Load(FindMachine(machine, data_dir));
  request.jobs.push_back({FindWorkload(name, data_dir), 0, true});
  request.policy.dispatch = DispatchMode::kLeftover;
  request.cycles = 400000;
  return request;
}

std::uint64_t Instructions(const RunRequest& request) {
  return RunSimulation(request,
                       MakeReferenceControl(ControlConfigOf(request.machine), request.policy))
      .warp_instructions;
}

TEST_P(Calibration, StallCyclesAloneAreThoseOfThePaper) {
  const RunRequest request = Alone(GetParam().name, "gtx980");
  const double scheduler_cycles = 4.0 * request.machine.sms * static_cast<double>(request.cycles);
  const double stall =
      100.0 * (1.0 - static_cast<double>(Instructions(request)) / scheduler_cycles);
  EXPECT_GE(stall, GetParam().low);
  EXPECT_LE(stall, GetParam().high);
  EXPECT_EQ(request.jobs[0].workload->type, GetParam().type);
}

// A program alone does not collapse: with twice the SMs it does at least as much, but for 2 % that
// a full memory may lose.
TEST_P(Calibration, TwiceTheSmsDoNoLess) {
  for (const char* machine : {"gtx980", "gtx980-gpgpusim"}) {
    RunRequest request = Alone(GetParam().name, machine);
    request.cycles = 200000;
    const std::uint64_t all = Instructions(request);
    request.machine.sms /= 2;
    EXPECT_GE(static_cast<double>(all), 0.98 * static_cast<double>(Instructions(request)))
        << machine;
  }
}

std::string Name(const ::testing::TestParamInfo<Target>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Parboil, Calibration, ::testing::ValuesIn(kTargets), Name);

}  // namespace
}  // namespace smk
