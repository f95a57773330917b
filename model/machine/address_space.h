// SPDX-License-Identifier: Apache-2.0
// What lies where in the memory of the GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"

namespace smk {

// Each job's memory is 64 GB; context buffers are 8 GB per kernel slot, above the memory of the
// first jobs. It all fits into the 45 bits that usual memory systems can address, and 15 jobs into
// 41 bits. Of more than 495 jobs, some share memory: they can find lines of each other in the
// caches, and nothing else of a run depends on addresses being their own.
inline constexpr std::uint64_t kJobBytes = std::uint64_t{1} << 36;
inline constexpr std::uint64_t kContextRegion = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kContextBytes = std::uint64_t{1} << 33;
inline constexpr std::uint64_t kAboveContexts = std::uint64_t{1} << 41;
inline constexpr std::uint64_t kMemoryEnd = std::uint64_t{1} << 45;
inline constexpr std::uint64_t kJobsBelow = kContextRegion / kJobBytes - 1;
inline constexpr std::uint64_t kJobsAbove = (kMemoryEnd - kAboveContexts) / kJobBytes;

inline std::uint64_t MemoryBase(JobId job) {
  const std::uint64_t place = Index(job) % (kJobsBelow + kJobsAbove);
  return place < kJobsBelow ? (place + 1) * kJobBytes
                            : kAboveContexts + (place - kJobsBelow) * kJobBytes;
}

// Of the context buffers of a kernel slot.
inline std::uint64_t ContextBase(KernelId slot) {
  return kContextRegion + Index(slot) * kContextBytes;
}

// Every address of a run with so many jobs is below.
inline std::uint64_t AddressEnd(std::size_t jobs) {
  if (jobs <= kJobsBelow) return kContextRegion + kNumKernels * kContextBytes;
  const std::uint64_t above = std::min<std::uint64_t>(jobs - kJobsBelow, kJobsAbove);
  return kAboveContexts + above * kJobBytes;
}

}  // namespace smk
