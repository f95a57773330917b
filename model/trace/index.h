// SPDX-License-Identifier: Apache-2.0
// The index of a trace cache as bytes: everything of the kernels but their TBs' records.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/builder.h"

namespace smk {

std::vector<std::uint8_t> EncodeTraceIndex(const std::vector<TraceKernel>& kernels);

// False when the bytes are not what EncodeTraceIndex() wrote; never reads behind them.
bool DecodeTraceIndex(const std::uint8_t* bytes, std::uint64_t size,
                      std::vector<TraceKernel>* kernels);

}  // namespace smk
