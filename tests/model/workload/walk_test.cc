// SPDX-License-Identifier: Apache-2.0
// A warp walks through its program as the text says, and the same way every time.
#include <type_traits>

#include "model/workload/rig.h"
#include "workload/program_summary.h"

namespace smk {
namespace {

// Lines of the program (from 0) in the order of execution, without the exit.
std::vector<int> Path(const std::string& program, unsigned tb = 0, unsigned warp = 0) {
  const KernelSpec kernel = CompileTestKernel(program);
  std::vector<int> path;
  for (const WalkedStep& step : Walk(kernel, TestWarp(kernel, tb, warp))) {
    if (step.op != OpClass::kExit) path.push_back(step.line - kProgramLine);
  }
  return path;
}

TEST(WorkloadWalk, CursorIsSmallAndTriviallyCopyable) {
  EXPECT_LE(sizeof(WarpCursor), 32u);
  EXPECT_TRUE(std::is_trivially_copyable_v<WarpCursor>);
}

TEST(WorkloadWalk, EndsWithExactlyOneExit) {
  const KernelSpec kernel = CompileTestKernel("");
  const auto steps = Walk(kernel, TestWarp(kernel, 0, 0));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].op, OpClass::kExit);
}

TEST(WorkloadWalk, ExecutesNestedLoopsInOrder) {
  EXPECT_EQ(Path("loop i 2 {\nalu a =\nloop j 3 {\nalu b =\n}\nalu c =\n}\nalu d ="),
            (std::vector<int>{1, 3, 3, 3, 5, 1, 3, 3, 3, 5, 7}));
}

TEST(WorkloadWalk, ExecutesLoopsThatBeginAndEndTogether) {
  EXPECT_EQ(Path("loop i 2 {\nloop j 2 {\nalu b =\n}\n}"), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(Path("loop i 1 {\nalu b =\n}\nloop i 2 {\nalu b =\n}"), (std::vector<int>{1, 4, 4}));
}

TEST(WorkloadWalk, ExecutesSixNestedLoops) {
  std::string text;
  for (int i = 0; i < 6; ++i) text += "loop i" + std::to_string(i) + " 2 {\n";
  EXPECT_EQ(Path(text + "alu a =\n}\n}\n}\n}\n}\n}").size(), 64u);
}

TEST(WorkloadWalk, ChoosesSidesByCompare) {
  const std::string program = "if warp == 1 {\nalu a =\n} else {\nalu b =\n}\nalu c =";
  EXPECT_EQ(Path(program, 0, 1), (std::vector<int>{1, 5}));
  EXPECT_EQ(Path(program, 0, 2), (std::vector<int>{3, 5}));
}

TEST(WorkloadWalk, ComparesEveryVariableWithEveryOperator) {
  // The grid is 8 x 4 x 2: TB 45 is x 5, y 1, z 1.
  const auto holds = [](const std::string& condition) {
    return !Path("if " + condition + " {\nalu a =\n}", 45, 3).empty();
  };
  for (const std::string yes : {"tb == 45", "tb.x == 5", "tb.y == 1", "tb.z == 1", "warp == 3",
                                "tb != 44", "tb < 46", "tb <= 45", "tb > 44", "tb >= 45",
                                "tb in 45..45", "tb in 3..60", "tb % 10 == 5", "tb % 10 in 4..6"}) {
    EXPECT_TRUE(holds(yes)) << yes;
  }
  for (const std::string no :
       {"tb == 44", "tb.x == 4", "tb.y != 1", "tb.z < 1", "warp > 3", "tb < 45", "tb <= 44",
        "tb > 45", "tb >= 46", "tb in 46..60", "tb % 10 != 5"}) {
    EXPECT_FALSE(holds(no)) << no;
  }
}

TEST(WorkloadWalk, ComparesLoopCounters) {
  EXPECT_EQ(Path("loop i 4 {\nalu a =\nif i % 2 == 1 {\nalu b =\n}\n}"),
            (std::vector<int>{1, 1, 3, 1, 1, 3}));
}

TEST(WorkloadWalk, DivergentWarpsExecuteBothSidesInOrder) {
  EXPECT_EQ(Path("if chance 0 both 1 {\nalu a =\nalu a =\n} else {\nalu b =\n}\nalu c ="),
            (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(Path("if chance 0 {\nalu a =\n} else {\nalu b =\n}"), (std::vector<int>{3}));
  EXPECT_EQ(Path("if chance 1 {\nalu a =\n} else {\nalu b =\n}"), (std::vector<int>{1}));
}

TEST(WorkloadWalk, SkipsLoopsWithoutTrips) {
  EXPECT_EQ(Path("loop i by tb < 1: 0 else 2 {\nalu a =\n}\nalu b =", 0), (std::vector<int>{3}));
  EXPECT_EQ(Path("loop i by tb < 1: 0 else 2 {\nalu a =\n}\nalu b =", 1),
            (std::vector<int>{1, 1, 3}));
}

TEST(WorkloadWalk, TakesTripsFromTheFirstBoundAbove) {
  const std::string program = "loop i by tb < 10: 3 < 40: 2 else 1 {\nalu a =\n}";
  EXPECT_EQ(Path(program, 9).size(), 3u);
  EXPECT_EQ(Path(program, 10).size(), 2u);
  EXPECT_EQ(Path(program, 39).size(), 2u);
  EXPECT_EQ(Path(program, 40).size(), 1u);
}

TEST(WorkloadWalk, UnrollsWithCopyIndices) {
  const KernelSpec kernel =
      CompileTestKernel("unroll i 3 {\nalu c.i =\nif i == 1 {\nimul d = c.i\n}\n}");
  const auto& nodes = kernel.program->parts().nodes;
  ASSERT_EQ(nodes.size(), 5u);  // alu, alu, imul, alu, exit
  EXPECT_EQ(nodes[2].op, OpClass::kImul);
  EXPECT_EQ(nodes[2].src[0], nodes[1].dst);
  EXPECT_NE(nodes[0].dst, nodes[1].dst);
  EXPECT_EQ(kernel.program->num_registers(), 4u);
}

TEST(WorkloadWalk, ChainsDependOnTheInstructionBefore) {
  const KernelSpec kernel = CompileTestKernel("alu a =\nalu b = a x5 chain");
  const auto& nodes = kernel.program->parts().nodes;
  EXPECT_EQ(nodes[1].src[0], nodes[0].dst);
  for (unsigned i = 2; i <= 5; ++i) {
    EXPECT_EQ(nodes[i].src[0], nodes[1].dst) << i;
    EXPECT_EQ(nodes[i].src[1], nodes[0].dst) << i;
    EXPECT_EQ(nodes[i].dst, nodes[1].dst) << i;
  }
}

TEST(WorkloadWalk, ParallelChainsAreIndependentUntilTheLast) {
  const KernelSpec kernel = CompileTestKernel("alu a =\nalu b = a x10 ilp 3");
  const auto& nodes = kernel.program->parts().nodes;
  for (unsigned i = 4; i < 10; ++i) {
    EXPECT_EQ(nodes[i].src[0], nodes[i - 3].dst) << i;
    EXPECT_EQ(nodes[i].dst, nodes[i - 3].dst) << i;
    EXPECT_EQ(nodes[i].src[1], kNoRegister) << i;
  }
  EXPECT_EQ(nodes[10].dst, nodes[1].dst);
  EXPECT_EQ(nodes[10].src[1], nodes[9].dst) << "the last joins the chains";
  EXPECT_EQ(nodes[10].src[2], nodes[8].dst);
  EXPECT_EQ(kernel.program->num_registers(), 4u);
}

TEST(WorkloadWalk, KeepsConflictsAndAddresses) {
  const KernelSpec kernel = CompileTestKernel(
      "load_const c = addresses 4\natomic_shared d = c conflicts 32\nstore_shared d");
  const auto& nodes = kernel.program->parts().nodes;
  EXPECT_EQ(nodes[0].conflicts, 4);
  EXPECT_EQ(nodes[1].conflicts, 32);
  EXPECT_EQ(nodes[2].conflicts, 1);
}

TEST(WorkloadWalk, MarksOverwritingStoresOnly) {
  TestFile file;
  file.idempotence = "idempotence = \"until_store\"";
  file.program = "alu a =\nstore_global a [b]\nstore_global a [b] overwrites";
  const auto workload = file.Parse();
  const auto& nodes = workload->kernels[0].program->parts().nodes;
  EXPECT_FALSE(nodes[1].ends_idempotence);
  EXPECT_TRUE(nodes[2].ends_idempotence);
}

const char kRandomProgram[] =
    "loop i per warp uniform 1 20 {\nalu a =\nif chance 0.4 both 0.2 {\nload_global b = [a + "
    "i*640] "
    "gather 5.5 window 16K\n} else {\nimul c =\n}\nloop j per tb geometric 3 max 30 {\nsfu d "
    "=\n}\n}";

TEST(WorkloadWalk, IsTheSameWheneverItIsRepeated) {
  const KernelSpec kernel = CompileTestKernel(kRandomProgram);
  for (unsigned warp = 0; warp < 4; ++warp) {
    const auto first = Walk(kernel, TestWarp(kernel, 7, warp), true);
    const auto second = Walk(kernel, TestWarp(kernel, 7, warp), true);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].line, second[i].line);
      EXPECT_EQ(first[i].lines, second[i].lines);
    }
  }
}

TEST(WorkloadWalk, DiffersBetweenSeeds) {
  const KernelSpec kernel = CompileTestKernel(kRandomProgram);
  unsigned different = 0;
  for (unsigned tb = 0; tb < 16; ++tb) {
    const auto a = Walk(kernel, TestWarp(kernel, tb, 0, 1));
    const auto b = Walk(kernel, TestWarp(kernel, tb, 0, 2));
    different += a.size() != b.size() ? 1 : 0;
  }
  EXPECT_GT(different, 8u);
}

TEST(WorkloadWalk, ContinuesFromASavedCursorAsIfNothingHappened) {
  const KernelSpec kernel = CompileTestKernel(kRandomProgram);
  const Program& program = *kernel.program;
  const WarpIdentity id = TestWarp(kernel, 3, 1);
  WarpCursor cursor;
  program.Start(id, &cursor);
  while (program.At(cursor).op != OpClass::kExit) {
    WarpCursor saved = cursor;
    program.Advance(id, &cursor);
    program.Advance(id, &saved);
    ASSERT_EQ(saved.node, cursor.node);
    for (unsigned i = 0; i < kMaxLoops; ++i) {
      ASSERT_EQ(saved.trip[i], cursor.trip[i]);
      ASSERT_EQ(saved.trips_left[i], cursor.trips_left[i]);
    }
  }
}

TEST(WorkloadWalk, AllWarpsOfATbReachTheSameBarriers) {
  const KernelSpec kernel = CompileTestKernel(
      "loop i per tb weighted 1:1 4:2 9:1 {\nalu a =\nif chance 0.5 per tb {\nbarrier\n}\n"
      "loop j per warp uniform 0 5 {\nalu b =\n}\nloop k per tb uniform 0 3 {\nbarrier\n}\n}");
  for (unsigned tb = 0; tb < 64; ++tb) {
    const unsigned barriers = CountOf(Walk(kernel, TestWarp(kernel, tb, 0)), OpClass::kBarrier);
    for (unsigned warp = 1; warp < 4; ++warp) {
      EXPECT_EQ(CountOf(Walk(kernel, TestWarp(kernel, tb, warp)), OpClass::kBarrier), barriers);
    }
  }
}

TEST(WorkloadWalk, SummaryCountsWhatWarpsExecute) {
  const KernelSpec kernel = CompileTestKernel(
      "loop i 10 {\nalu a =\nif i in 2..4 {\nimul b =\n}\n}\nif warp < 2 {\nif warp > 0 {\nsfu c "
      "=\n}\n}\n"
      "if tb.x < 2 {\nif tb.y == 0 {\ndp d =\n}\n}\nloop j by tb < 32: 6 else 2 {\nbranch\n}");
  const ProgramSummary summary = Summarise(kernel);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kAlu), 10);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kImul), 3);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kSfu), 0.25);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kDp), 0.0625);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kBranch), 4);
  EXPECT_DOUBLE_EQ(summary.OfClass(OpClass::kExit), 1);
}

TEST(WorkloadWalk, SummaryIsTheMeanOfManyRandomWarps) {
  const KernelSpec kernel = CompileTestKernel(kRandomProgram);
  const ProgramSummary summary = Summarise(kernel);
  double instructions = 0;
  double lines = 0;
  unsigned warps = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (unsigned tb = 0; tb < 64; ++tb) {
      for (unsigned warp = 0; warp < 4; ++warp, ++warps) {
        const auto steps = Walk(kernel, TestWarp(kernel, tb, warp, seed), true);
        instructions += static_cast<double>(steps.size());
        for (const WalkedStep& step : steps) lines += static_cast<double>(step.lines.size());
      }
    }
  }
  EXPECT_NEAR(instructions / warps, summary.warp_instructions, 0.02 * summary.warp_instructions);
  EXPECT_NEAR(lines / warps, summary.lines_per_warp, 0.02 * summary.lines_per_warp);
}

}  // namespace
}  // namespace smk
