// SPDX-License-Identifier: Apache-2.0
#include "memory/address_map.h"

namespace smk {

AddressMap::AddressMap(const MemoryConfig& config)
    : controllers_(config.controllers),
      interleave_bits_(static_cast<unsigned>(__builtin_ctz(config.interleave_bytes))),
      slice_bits_(static_cast<unsigned>(__builtin_ctz(config.l2_slices_per_controller))),
      slice_mask_(config.l2_slices_per_controller - 1),
      offset_mask_(config.interleave_bytes - 1),
      reciprocal_(~std::uint64_t{0} / config.controllers + 1) {}

}  // namespace smk
