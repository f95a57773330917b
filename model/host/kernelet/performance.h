// SPDX-License-Identifier: Apache-2.0
// What Kernelet predicts of kernels on a GPU: the chain of warp_chain.h for TBs on an SM that has
// several warp schedulers ([Kernelet] Sec. 4.3, "Adaptation to GPUs with Multiple Warp
// Schedulers").
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/resources.h"
#include "host/kernelet/warp_chain.h"

namespace smk {

// What a profile of one kernel says: it is run alone once ([Kernelet] Algorithm 1, line 4).
struct KerneletKernel {
  std::string name;         // for messages
  ResourceVector need;      // of a TB; its threads are its warps
  double instructions = 1;  // I: warp instructions of a TB
  double memory_ratio = 0;  // R_m
  double uncoalesced = 0;   // the part of its memory instructions that are not coalesced
  double pur = 0;           // IPC over the largest there is [D44]
  double mur = 0;           // bandwidth of memory over the largest there is [D44]
  unsigned least_tbs = 1;   // of a slice, per SM: SmallestSlice()
};

struct KerneletMachine {
  unsigned sms = 1;
  ResourceVector limits;    // of an SM
  unsigned schedulers = 1;  // of an SM
  double issue_rate = 1;    // warp instructions that one issues per cycle
  ChainMemory memory;       // cycles, by requests outstanding per SM
};

class KerneletModel {
 public:
  // InputError for a machine or a kernel that cannot be.
  explicit KerneletModel(const KerneletMachine& machine, const ChainLimits& limits = {});
  void Check(const KerneletKernel& kernel) const;

  // TBs per SM when the kernel is alone.
  unsigned MostTbs(const KerneletKernel& kernel) const;
  // True when so many TBs of both fit an SM.
  bool Fit(const KerneletKernel& a, unsigned tbs_a, const KerneletKernel& b, unsigned tbs_b) const;

  // Warp instructions per cycle of one SM.
  double Alone(const KerneletKernel& kernel, unsigned tbs) const;
  std::array<double, 2> Together(const KerneletKernel& a, unsigned tbs_a, const KerneletKernel& b,
                                 unsigned tbs_b) const;

  const KerneletMachine& machine() const { return machine_; }

 private:
  ChainKernel OnScheduler(const KerneletKernel& kernel, unsigned tbs) const;
  double PerSm(double ipc) const { return ipc * machine_.schedulers * machine_.issue_rate; }

  KerneletMachine machine_;
  ChainLimits limits_;
  ChainMemory memory_;  // of the virtual SM, in slots of one instruction
};

}  // namespace smk
