// SPDX-License-Identifier: Apache-2.0
#include "serve/alone_cycles.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace smk::sim {

Cycle AloneCycles(ReplayDevice* device, const std::shared_ptr<const Workload>& workload,
                  std::size_t launch, std::uint32_t tbs) {
  if (launch >= workload->launches.size()) {
    throw InputError(fmt::format("{}: expected one of its {} launches, got {}", workload->name,
                                 workload->launches.size(), launch));
  }
  LaunchKind kind{workload, workload->launches[launch], tbs, true};
  const std::uint32_t all = kind.spec().tb_count();
  if (tbs == 0) kind.tbs = all;
  if (kind.tbs > all) {
    throw InputError(fmt::format("{}: expected at most the {} TBs of {}, got {}", workload->name,
                                 all, kind.spec().name, tbs));
  }
  const AloneRate rate = device->UnderAlone().Alone(kind);
  return static_cast<Cycle>(std::floor(rate.Cycles(kind.tbs) + 0.5));
}

}  // namespace smk::sim
