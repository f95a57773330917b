// SPDX-License-Identifier: Apache-2.0
// The checks of the test of the whole control plane, by name.
#pragma once

#include <stdexcept>
#include <string>

namespace smk::plane {

// What is checked; a failure names the check that fired.
enum class Check {
  kTbOnce,      // a TB starts once, leaves as often as it comes back, and completes once
  kKernelDone,  // said once, when all TBs of the launch have completed, and soon
  kResources,   // resident TBs never take more than the SM has
  kSlots,       // warp and TB slots exist, are not used twice, and are taken in order
  kAlignment,   // in a settled partition, a TB's place follows from its slot
  kGrant,       // only ready warps of TBs that run and are not stopped
  kWork,        // without quotas, a ready warp is never left waiting while its scheduler idles
  kQuota,       // quotas count down by one per grant and are reloaded when all are spent
  kContext,     // each line once, in order, held until taken, in a buffer of its own
  kRelease,     // a TB leaves when nothing of it is in flight and its context is stored
  kStop,        // a TB that stopped to be saved stays stopped until it has left
  kRoom,        // no TB waits for long while there is room for it
  kHosting,     // an SM hosts kernels as the mode says
  kProgress,    // all kernels complete in bounded time
  kLazy,        // skipping whoever is not awake and has quiet inputs changes nothing
  kDecisions,   // the log says what happens, in order
};

inline const char* Name(Check check) {
  constexpr const char* kNames[] = {
      "tb_once", "kernel_done", "resources", "slots", "alignment", "grant",    "work", "quota",
      "context", "release",     "stop",      "room",  "hosting",   "progress", "lazy", "decisions"};
  return kNames[static_cast<unsigned>(check)];
}

struct Failure : std::runtime_error {
  Failure(Check c, const std::string& message)
      : std::runtime_error(std::string(Name(c)) + ": " + message), check(c) {}
  Check check;
};

template <typename Message>
void Require(bool holds, Check check, const Message& message) {
  if (!holds) throw Failure(check, message());
}

}  // namespace smk::plane
