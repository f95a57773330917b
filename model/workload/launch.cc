// SPDX-License-Identifier: Apache-2.0
#include "workload/launch.h"

#include <algorithm>

namespace smk {

WarpIdentity Launch::Identity(TbId tb, unsigned warp) const {
  const unsigned index = Index(tb);
  WarpIdentity id;
  id.tb = index;
  id.tb_x = static_cast<std::uint16_t>(index % spec->grid_x);
  id.tb_y = static_cast<std::uint16_t>(index / spec->grid_x % spec->grid_y);
  id.tb_z = static_cast<std::uint16_t>(index / spec->grid_x / spec->grid_y);
  id.warp = static_cast<std::uint16_t>(warp);
  id.tb_key = MixHash(key, index);
  id.key = MixHash(id.tb_key, warp);
  id.base = memory_base;
  id.trace = program->Record(index, warp);
  return id;
}

std::uint64_t ProgramKey(std::uint64_t seed, const std::string& name, std::uint64_t twins) {
  std::uint64_t key = MixHash(0, seed);
  for (const char c : name) key = MixHash(key, static_cast<unsigned char>(c));
  return MixHash(key, twins);
}

unsigned Launch::Threads(unsigned warp) const {
  const unsigned before = warp * kWarpThreads;
  return spec->threads <= before ? 0 : std::min(spec->threads - before, kWarpThreads);
}

}  // namespace smk
