// SPDX-License-Identifier: Apache-2.0
// [SMK] Table 2: resources that as many TBs as fit take on a GTX980, in per cent of the SM.
#include <gtest/gtest.h>

#include <cmath>

#include "config/machine_config.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

struct Row {
  const char* workload;
  const char* kernel;  // as the table names it
  double registers, shared_memory, threads;
};

constexpr Row kTable2[] = {
    {"cutcp", "lattice6overlap", 87.5, 67.1, 100.0},   {"lbm", "StreamCollide", 92.3, 0.0, 52.7},
    {"sgemm", "mysgemmNT", 94.5, 5.7, 68.8},           {"spmv", "spmvjds", 46.9, 0.0, 93.8},
    {"stencil", "block2Dregtiling", 75.0, 0.0, 100.0}, {"tpacf", "genhists", 76.6, 94.8, 87.5},
};

double OneDigit(double percent) { return std::round(percent * 10) / 10; }

// The table counts the threads and registers of the TB itself, without the padding of a partial
// warp that decides how many TBs fit.
TEST(PaperOccupancy, Table2IsReproducedToThePrintedDigit) {
  const MachineConfig gtx980 = MachineConfig::Load(SMK_SOURCE_DIR "/machines/gtx980.toml");
  const ResourceVector& limits = gtx980.sm.limits;
  for (const Row& row : kTable2) {
    const auto workload = FindWorkload(std::string("parboil/") + row.workload, SMK_SOURCE_DIR);
    const KernelSpec& kernel = workload->kernels[0];
    const double tbs = MaxTbs(kernel.need, limits);
    const double threads = tbs * kernel.threads;
    const unsigned rounded = (kernel.registers_per_thread + 3) / 4 * 4;
    const double registers = threads * rounded;
    const auto part = [](double taken, double units, double unit) {
      return OneDigit(100 * taken / (units * unit));
    };
    EXPECT_DOUBLE_EQ(part(registers, limits.registers, kRegisterUnit), row.registers) << row.kernel;
    EXPECT_DOUBLE_EQ(part(tbs * kernel.shared_memory, limits.shared_memory, kSharedMemoryUnit),
                     row.shared_memory)
        << row.kernel;
    EXPECT_DOUBLE_EQ(part(threads, limits.threads, kThreadUnit), row.threads) << row.kernel;
  }
}

}  // namespace
}  // namespace smk
