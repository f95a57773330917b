// SPDX-License-Identifier: Apache-2.0
// Clients that share a GPU over seconds: a program each, as a script of host time, kernels and
// synchronisations ([Gemini] Sec. 3.3, Fig. 4).
//
// Units       time in nanoseconds, shares in millionths of the GPU's time, memory in bytes. All of
//             it whole numbers, so that results are the same everywhere.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace smk::gemini {

using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kNeverNs = std::numeric_limits<Nanoseconds>::max();
inline constexpr Nanoseconds kMicrosecond = 1'000, kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;
// Shares and ratios: 350,000 is 35 %.
inline constexpr std::int64_t kWhole = 1'000'000;

enum class StepKind : std::uint8_t {
  kHost,      // the program computes for `time`
  kKernels,   // it launches `count` kernels of `time` each, one every `launch`
  kSync,      // it waits for all that it has launched
  kAllocate,  // `bytes` of the GPU's memory
  kFree,      // `bytes` of what it has
};

struct ClientStep {
  StepKind kind = StepKind::kHost;
  Nanoseconds time = 0;
  std::uint32_t count = 1;
  Nanoseconds launch = 0;      // host time of a launch call
  std::int64_t variation = 0;  // of a kernel's time, drawn evenly within +- so many millionths
  std::uint64_t bytes = 0;
};

// What a client does, and what it may have.
struct ClientScript {
  std::string name;
  std::vector<ClientStep> steps;  // of one job
  // When jobs arrive, from `start` on, in ascending order; they wait for each other. Empty: each
  // when the one before has ended.
  std::vector<Nanoseconds> arrivals;
  std::uint64_t jobs = 0;  // then the client ends; 0: never
  Nanoseconds start = 0, stop = kNeverNs;
  std::int64_t request = 0, limit = kWhole;  // guaranteed and largest share
  std::uint64_t memory_limit = 0;            // bytes that it may allocate; 0: no limit
  std::uint64_t memory = 0;                  // allocated at the start, and used by all its kernels
  std::uint64_t temporary = 0;               // also, but not used any more after a job
};

}  // namespace smk::gemini
