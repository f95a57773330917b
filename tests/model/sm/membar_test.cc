// SPDX-License-Identifier: Apache-2.0
// A memory barrier: the warp's next instruction waits for the results of all before it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "model/micro.h"
#include "model/workload/rig.h"

namespace smk {
namespace {

constexpr unsigned kMembarLoad = 200;

// With and without operand collectors, and with what passes them or goes from place to place.
class Membar : public testing::TestWithParam<int> {
 protected:
  Membar() {
    run.memory.latency = kMembarLoad;
    run.sm().collectors = GetParam() == 0 ? 0 : 2;
    run.request.passing = GetParam() != 2;
  }
  MicroRun run;
};

TEST_P(Membar, WaitsForLoads) {
  auto loads = [n = 0](MicroKernel* k) mutable {
    k->Load(n++ % 16, {}, MicroKernel::kNewLine);
    k->Load(n++ % 16, {}, MicroKernel::kNewLine);
    k->Op(OpClass::kAlu, 40);
  };
  const double without = CyclesEach(run, loads);
  EXPECT_LT(without, kMembarLoad / 2);
  const auto barrier = [loads](MicroKernel* k) mutable {
    loads(k);
    k->Membar();
  };
  const double collected = GetParam() == 0 ? 0 : 3;
  EXPECT_EQ(CyclesEach(run, barrier), kMembarLoad + 1 + collected)
      << "the second load issues a cycle after the first";
}

TEST_P(Membar, WaitsForEveryOtherResult) {
  run.sm().dp = {40, 1};
  run.sm().sfu = {25, 1};
  const double collected = GetParam() == 0 ? 0 : 3;
  const auto both = [](MicroKernel* k) {
    k->Op(OpClass::kDp, 3);
    k->Op(OpClass::kSfu, 4);
    k->Membar();
  };
  EXPECT_EQ(CyclesEach(run, both), 40 + collected) << "from the issue of the first";
}

TEST_P(Membar, DoesNotWaitForStores) {
  const auto store = [](MicroKernel* k) {
    k->Store({});
    k->Membar();
  };
  EXPECT_LT(CyclesEach(run, store, 10, 30), kMembarLoad / 2);
}

// Each of two warps waits for its own.
TEST_P(Membar, HoldsUpNoOtherWarp) {
  const auto duration = [this](unsigned threads) {
    return Duration(run, 20, [&](MicroKernel* k) {
      k->threads = threads;
      k->Load(0, {}, MicroKernel::kNewLine);
      k->Membar();
    });
  };
  EXPECT_LT(duration(64), duration(32) + 20);
}

std::string MembarName(const testing::TestParamInfo<int>& info) {
  static const std::array<const char*, 3> kNames{"None", "Passed", "Whole"};
  return kNames.at(static_cast<unsigned>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Collectors, Membar, testing::Values(0, 1, 2), MembarName);

TEST(MembarInstruction, IsWrittenInPrograms) {
  const KernelSpec kernel = CompileTestKernel("load_global v = [a]\nmembar\nalu w =\nalu x =");
  const auto& nodes = kernel.program->parts().nodes;
  ASSERT_EQ(nodes.size(), 5u);
  EXPECT_EQ(nodes[1].op, OpClass::kAlu);
  EXPECT_EQ(nodes[1].special, Special::kMembar);
  EXPECT_EQ(nodes[2].special, Special::kNone);
}

}  // namespace
}  // namespace smk
