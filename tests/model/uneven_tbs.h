// SPDX-License-Identifier: Apache-2.0
// A kernel for tests whose first two of ten TBs have 17 instructions and the others 5.
#pragma once

#include <memory>

#include "workload/workload_file.h"

namespace smk {

inline std::shared_ptr<const Workload> UnevenTbs() {
  return ParseWorkload(
      "description = \"TBs of two lengths\"\ntype = \"memory\"\nlaunches = [\"k\"]\n[arrays]\n"
      "x = 4096\n[[kernel]]\nname = \"k\"\nthreads = 32\nregisters = 8\nshared_memory = 0\n"
      "grid = [10]\nidempotence = \"yes\"\nprogram = '''\n"
      "loop i by tb < 2: 8 else 2 {\n  alu a =\n  branch\n}\n'''\n",
      "uneven.toml");
}

}  // namespace smk
