// SPDX-License-Identifier: Apache-2.0
// What the lockstep runs of this program did, for its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smk {

struct LockstepLog {
  // A waveform that was written.
  struct Wave {
    std::string block, test, path;
  };
  std::uint64_t runs = 0, cycles = 0, compared = 0;
  // Runs that ended with a mismatch: wanted where a broken reference must be found.
  std::uint64_t mismatches = 0;
  // The last of them: its seed and cycle.
  std::uint64_t seed = 0, cycle = 0;
  std::vector<Wave> waves;
};

inline LockstepLog& GetLockstepLog() {
  static LockstepLog log;
  return log;
}

}  // namespace smk
