// SPDX-License-Identifier: Apache-2.0
#include "base/resources.h"

#include <algorithm>
#include <numeric>

namespace smk {
namespace {

constexpr unsigned CeilDiv(unsigned a, unsigned b) { return (a + b - 1) / b; }

}  // namespace

ResourceVector TbNeed(unsigned threads, unsigned registers_per_thread, unsigned shared_bytes) {
  const unsigned warps = CeilDiv(threads, kWarpThreads);
  const unsigned regs = warps * kWarpThreads * CeilDiv(registers_per_thread, 4) * 4;
  ResourceVector need;
  need.registers = static_cast<std::uint16_t>(CeilDiv(regs, kRegisterUnit));
  need.shared_memory = static_cast<std::uint16_t>(CeilDiv(shared_bytes, kSharedMemoryUnit));
  need.threads = static_cast<std::uint16_t>(warps);
  need.tbs = 1;
  return need;
}

unsigned MaxTbs(const ResourceVector& need, const ResourceVector& limits) {
  unsigned n = limits.tbs;
  if (need.registers != 0) n = std::min<unsigned>(n, limits.registers / need.registers);
  if (need.shared_memory != 0) n = std::min<unsigned>(n, limits.shared_memory / need.shared_memory);
  if (need.threads != 0) n = std::min<unsigned>(n, limits.threads / need.threads);
  return n;
}

ShareWeights ShareWeights::Of(const ResourceVector& limits) {
  ShareWeights w;
  w.whole = std::lcm(std::lcm<std::uint32_t>(limits.registers, limits.shared_memory),
                     std::lcm<std::uint32_t>(limits.threads, limits.tbs));
  w.registers = w.whole / limits.registers;
  w.shared_memory = w.whole / limits.shared_memory;
  w.threads = w.whole / limits.threads;
  w.tbs = w.whole / limits.tbs;
  return w;
}

}  // namespace smk
