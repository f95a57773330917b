// SPDX-License-Identifier: Apache-2.0
// What the SMs need to know of the kernel that occupies a kernel slot.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "workload/program_code.h"
#include "workload/workload.h"

namespace smk {

class MergedLaunch;  // machine/merged_launch.h

// The launch in a kernel slot: a whole kernel or a slice of it. Changes only when all TBs of the
// one before are complete. TBs are named by their index in the grid of the kernel, so that a slice
// executes what the whole kernel would.
struct Launch {
  const KernelSpec* spec = nullptr;
  const Program* program = nullptr;
  JobId job{0};
  std::uint32_t number = 0;          // launches of the job so far, this one included
  unsigned warps = 0;                // per TB
  std::uint64_t key = 0;             // source of the warps' draws
  std::uint64_t memory_base = 0;     // byte address of the program's memory
  std::uint64_t context_base = 0;    // byte address of the context buffers
  std::uint64_t context_stride = 0;  // bytes per buffer
  unsigned context_lines = 0;        // per TB
  // Its TBs are groups that execute the TBs of others, which they take from here; else null.
  MergedLaunch* merged = nullptr;

  // Identity of one warp: the same in every run with the same seed, wherever and whenever it runs.
  WarpIdentity Identity(TbId tb, unsigned warp) const;
  // Active threads of one warp: the last one of a TB may be partial.
  unsigned Threads(unsigned warp) const;
};

using LaunchTable = std::array<Launch, kNumKernels>;

// Mixes a value into a hash (the finalizer of SplitMix64).
constexpr std::uint64_t MixHash(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t z = hash + 0x9e3779b97f4a7c15 * (value + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Source of all draws of a program: of the seed, its name, and how many of the same name stand
// before it in the run. A launch mixes in its place in the program.
std::uint64_t ProgramKey(std::uint64_t seed, const std::string& name, std::uint64_t twins);

}  // namespace smk
