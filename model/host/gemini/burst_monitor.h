// SPDX-License-Identifier: Apache-2.0
// What the hook of one client knows of its kernels ([Gemini] Sec. 3.4).
//
// Purpose     Times of kernel bursts, by the events that the paper names and no others: before and
//             after a synchronisation, expiry of a token, receipt of one, the moment from which one
//             is too short (Sec. 3.5.3), first launch after a synchronisation. It sees neither when
//             a kernel starts nor when one ends.
// Bursts      One begins at the first launch that goes to the GPU, and ends when a synchronisation
//             or the end of a token finds the GPU done with it. Time in which the GPU idles before
//             the program synchronises counts, as in Fig. 5 between K4 and S3.
// Merging     The interval before a burst is from the end of the last one to the call of its first
//             launch; that it then waits for a token is no part of it. Two bursts are one when the
//             interval is below gamma, or below epsilon of the mean burst, or when the end of a
//             token and no synchronisation has parted them [D63]. One that a token's end has cut
//             is not counted before it is complete, unless no other is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/gemini/quota.h"

namespace smk::gemini {

// One burst as the monitor saw it.
struct Burst {
  Nanoseconds start = 0, end = 0;
  std::uint64_t kernels = 0;
  Nanoseconds interval = 0;  // before it
  bool cut = false;          // by the end of a token: the next one belongs to it
  Nanoseconds time() const { return end - start; }
};

class BurstMonitor {
 public:
  explicit BurstMonitor(const Settings& settings) : settings_(settings) {}

  // The program calls a launch, which goes to the GPU now or when there is a token.
  void Call(Nanoseconds now);
  // It goes to the GPU.
  void Launch(Nanoseconds now);
  // When the program called the last launch.
  Nanoseconds called() const { return call_; }
  // A monitor event has found the GPU done with all that was launched. The burst that ended; with
  // no kernels when none was open.
  Burst End(Nanoseconds now, bool synchronised);

  // Estimated time of a kernel: that of the last burst by its kernels; 0 before the first.
  Nanoseconds KernelTime() const { return kernel_time_; }
  // Times of the last n bursts, merged; oldest first.
  std::vector<Nanoseconds> Merged() const;
  // KB_max and KB_last of these.
  BurstReport Report() const;

 private:
  const Settings& settings_;
  std::vector<Burst> bursts_;  // the last n, oldest first
  Burst open_;
  Nanoseconds call_ = 0;  // of a launch that waits
  bool called_ = false;
  Nanoseconds kernel_time_ = 0;
};

}  // namespace smk::gemini
