// SPDX-License-Identifier: Apache-2.0
// What a run on SystemC leaves behind in its thread.
#include <gtest/gtest.h>

#include <stdexcept>

#include "control/reference_control.h"
#include "host/simulation.h"
#include "model/micro.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace smk {
namespace {

[[gnu::noinline]] unsigned ThrowFromAFrame(unsigned at) {
  volatile unsigned place[64] = {};
  place[at] = at;
  if (place[at] == at) throw std::runtime_error("from below");
  return place[0];
}

// Whether somebody has left something poisoned below. Without the sanitizer nobody has.
[[gnu::noinline]] bool PoisonBelow() {
#if defined(__SANITIZE_ADDRESS__)
  char* const here = static_cast<char*>(__builtin_frame_address(0));
  return __asan_region_is_poisoned(here - 4096, 3840) != nullptr;
#else
  return false;
#endif
}

// After a run the address sanitizer must know the thread's own stack again. Or else what frames
// have poisoned stays so when an exception ends them.
TEST(SimulationContext, TheSanitizerKnowsTheStackAfterARun) {
  MicroKernel kernel;
  kernel.Op(OpClass::kAlu, 1, {});
  MicroRun run;
  run.request.jobs.push_back({kernel.Build(), 0, false});
  RunSimulation(run.request, MakeReferenceControl(run.Control(), run.request.policy));
  EXPECT_THROW(ThrowFromAFrame(8), std::runtime_error);
  EXPECT_FALSE(PoisonBelow());
}

}  // namespace
}  // namespace smk
