// SPDX-License-Identifier: Apache-2.0
// Where jobs and contexts lie, and which machines can tell all of it apart.
#include "machine/address_space.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "memory/address_map.h"
#include "model/micro.h"

namespace smk {
namespace {

TEST(AddressSpace, NothingOf495JobsOverlaps) {
  const std::uint64_t contexts_end = kContextRegion + kNumKernels * kContextBytes;
  for (unsigned job = 0; job < kJobsBelow + kJobsAbove; ++job) {
    const std::uint64_t base = MemoryBase(static_cast<JobId>(job)), end = base + kJobBytes;
    EXPECT_TRUE(end <= kContextRegion || base >= contexts_end) << job;
    EXPECT_LE(end, AddressEnd(job + 1)) << job;
    EXPECT_LE(contexts_end, AddressEnd(job + 1)) << job;
    if (job == 0) continue;
    EXPECT_GE(base, MemoryBase(static_cast<JobId>(job - 1)) + kJobBytes) << job;
  }
  EXPECT_EQ(AddressEnd(10000), kMemoryEnd);
}

// What a machine with so many L2 sets in all says to so many jobs.
std::string Answer(unsigned sets, unsigned jobs, const std::string& model = "gddr") {
  MicroRun run;
  MemoryConfig& memory = run.request.machine.memory;
  memory.model = model;
  memory.controllers = 1;
  memory.l2.bytes = sets * memory.l2.ways * kLineBytes;
  run.request.cycles = 100;
  MicroKernel kernel;
  kernel.Op(OpClass::kAlu, 1);
  try {
    run.Run(std::vector<MicroKernel>(jobs, kernel));
  } catch (const InputError& error) {
    return error.what();
  }
  EXPECT_TRUE(model != "gddr" || TagEnd(memory) >= AddressEnd(jobs));
  return "";
}

TEST(AddressSpace, AnL2WithTooFewSetsForItsTagsIsRefused) {
  EXPECT_EQ(Answer(1, 2),
            "memory.l2.bytes: expected at least 8192, as tags have 32 bits and 2 jobs have "
            "addresses up to 1056 GB, got 2048");
  EXPECT_NE(Answer(2, 2), "");
  EXPECT_EQ(Answer(4, 2), "");
  EXPECT_EQ(Answer(4, 15), "");
  EXPECT_EQ(Answer(4, 16),
            "memory.l2.bytes: expected at least 16384, as tags have 32 bits and 16 jobs have "
            "addresses up to 2112 GB, got 8192");
  EXPECT_EQ(Answer(1, 2, "fixed"), "") << "it has no L2";
}

}  // namespace
}  // namespace smk
