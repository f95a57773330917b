// SPDX-License-Identifier: Apache-2.0
// The model's version.
#pragma once

namespace smk::sim {

// Version of everything that can change a result and is not part of an input. The executable's own
// hash is part of each key too, so this matters only to people who compare results.
inline constexpr char kModelVersion[] = "14";

}  // namespace smk::sim
