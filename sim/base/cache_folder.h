// SPDX-License-Identifier: Apache-2.0
// Where the command keeps what it need not make twice.
#pragma once

#include <string>

namespace smk::sim {

// $SMK_CACHE_DIR, $XDG_CACHE_HOME/smk or ~/.cache/smk; "" when there is none of them.
std::string CacheFolder();

}  // namespace smk::sim
