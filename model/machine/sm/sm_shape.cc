// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/sm_shape.h"

#include <algorithm>

namespace smk {

SmShape::SmShape(const SmConfig& sm, bool passing)
    : config(sm),
      layout(sm.warps_per_scheduler),
      all_schedulers(layout.LastLanesOf((1u << sm.schedulers) - 1)),
      collects(sm.collectors != 0),
      passing(passing) {
  while ((1u << fetch_shift) < config.fetch_warps) ++fetch_shift;
  const auto set = [this](OpClass op, Port port, const PipeConfig& pipe, unsigned per_pass,
                          unsigned memory) {
    OpCost& cost = costs[static_cast<unsigned>(op)];
    cost.port = port;
    cost.latency = static_cast<std::uint16_t>(pipe.latency + config.operand_latency);
    cost.initiation = static_cast<std::uint16_t>(std::max(pipe.initiation, 1u));
    cost.per_pass = static_cast<std::uint8_t>(per_pass);
    cost.memory = static_cast<std::uint8_t>(memory);
  };
  const auto share = [this](Port port, unsigned units) {
    if (units >= config.schedulers) return;
    shared_units[port] = static_cast<std::uint8_t>(units);
    any_shared = true;
  };
  share(kSp, config.units.sp);
  share(kSfu, config.units.sfu);
  share(kDp, config.units.dp);
  share(kLsu, config.units.memory);
  if (config.units.constant != 0) share(kConstant, config.units.constant);
  set(OpClass::kAlu, kSp, config.alu, 0, 0);
  set(OpClass::kImul, kSfu, config.imul, 0, 0);
  set(OpClass::kSfu, kSfu, config.sfu, 0, 0);
  set(OpClass::kDp, kDp, config.dp, 0, 0);
  set(OpClass::kLoadConst, config.units.constant == 0 ? kLsu : kConstant, config.constant, 1, 1);
  for (const OpClass op : {OpClass::kLoadShared, OpClass::kStoreShared, OpClass::kAtomicShared}) {
    set(op, kLsu, config.shared, 1, 0);
  }
  for (const OpClass op :
       {OpClass::kLoadGlobal, OpClass::kTexture, OpClass::kStoreGlobal, OpClass::kAtomicGlobal}) {
    set(op, kLsu, config.lsu, 0, 1);
    costs[static_cast<unsigned>(op)].off_chip = true;
  }
  for (const OpClass op : {OpClass::kBarrier, OpClass::kBranch, OpClass::kExit}) {
    set(op, kNoPort, PipeConfig{1, 1}, 0, 0);
  }
}

}  // namespace smk
