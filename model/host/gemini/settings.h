// SPDX-License-Identifier: Apache-2.0
// What [Gemini] leaves to choose. Sources: (p) the paper, (c) the authors' code, which the paper
// cites as [6], (a) assumed; docs/gemini.md and D62 have the reasons.
#pragma once

#include "host/gemini/client.h"

namespace smk::gemini {

// Who decides when a client may launch.
enum class Control : std::uint8_t {
  kNone,        // nobody: the GPU's time slices only
  kSequential,  // one client after the other, each alone
  kStatic,      // tokens of one quota for all (GaiaGPU)
  kDynamic,     // tokens whose quota is estimated: Gemini
};

struct Settings {
  Control control = Control::kDynamic;
  std::int64_t alpha = 500'000;                 // eq. 1: weight of the 90th percentile (a)
  std::int64_t beta = 500'000;                  // eq. 2: weight of the last quota (c)
  Nanoseconds gamma = 2 * kMillisecond;         // intervals below are merged (c)
  std::int64_t epsilon = 50'000;                // as are those below this part of a mean burst (p)
  std::uint32_t bursts = 5;                     // n: bursts that the monitor remembers (a)
  Nanoseconds window = 10 * kSecond;            // sliding window (c)
  Nanoseconds base_quota = 250 * kMillisecond;  // before the first burst is known (c)
  Nanoseconds least_quota = 20 * kMillisecond;  // (c): of its launch script, see D62
  Nanoseconds quota = 100 * kMillisecond;       // of kStatic
  Nanoseconds delay = 250 * kMicrosecond;       // of a message between client and scheduler (a)
  Nanoseconds hook = 0;                         // host time that the hook adds to a launch call (a)
  bool revocation = true;                       // tokens are given back early (Sec. 3.5.3)
  bool count_launched = false;               // what remains of a quota is also less by the kernels
                                             // that were launched with it; not in the paper
  std::uint32_t launch_queue = 1024;         // kernels of a client that wait for the GPU (a)
  Nanoseconds gpu_slice = 2 * kMillisecond;  // of the GPU between clients that all have kernels (a)
};

// Memory of the GPU, and the PCI-e link to that of the host.
struct MemorySettings {
  std::uint64_t bytes = 0;              // of the GPU; 0: never full
  Nanoseconds latency = 0;              // of a transfer
  std::uint64_t bytes_per_us = 12'000;  // each direction
  bool prefetch = false;                // while a client waits for a token
  bool resize = false;                  // what is not used after a job is freed
};

}  // namespace smk::gemini
