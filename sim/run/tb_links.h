// SPDX-License-Identifier: Apache-2.0
// Which decision brought a TB to its SM, which one took it away, and which TB came in its place.
#pragma once

#include <optional>
#include <vector>

#include "run/results.h"

namespace smk::sim {

// Of one stay: places in RunResult::decisions, and in RunResult::tbs.
struct TbLinks {
  std::optional<std::size_t> dispatched_by, preempted_by, replaced_by;
};

// One for each of RunResult::tbs. A decision to preempt names a kernel, an SM and a number of TBs,
// not the TBs: those that leave first are taken for them. They were dispatched before it.
std::vector<TbLinks> LinkTbs(const Results& results);

}  // namespace smk::sim
