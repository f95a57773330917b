// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/decoded_code.h"

#include <algorithm>

namespace smk {

const Code& CodeTable::Of(const Program& program) {
  if (last_ < entries_.size() && entries_[last_].id == program.id()) return *entries_[last_].code;
  for (last_ = 0; last_ < entries_.size(); ++last_) {
    if (entries_[last_].id == program.id()) return *entries_[last_].code;
  }
  entries_.push_back({program.id(), DecodeAll(program)});
  return *entries_[last_].code;
}

Step Decode(const Instruction& from, const SmShape& shape) {
  const auto place = [](std::uint8_t reg) { return static_cast<std::uint8_t>(reg + 1); };
  static_assert(static_cast<std::uint8_t>(kNoRegister + 1) == 0);
  const SmShape::OpCost& cost = shape.costs[static_cast<unsigned>(from.op)];
  const bool at_lsu = cost.port == SmShape::kLsu;
  const unsigned more = cost.per_pass != 0 ? from.conflicts - 1u : 0;  // passes
  const unsigned extra = more * (at_lsu ? cost.initiation : 1);
  Step to{};
  (from.special == Special::kJoins ? to.joined : to.place[0]) = place(from.dst);
  for (unsigned s = 0; s < 3; ++s) to.place[s + 1] = place(from.src[s]);
  to.latency = static_cast<std::uint16_t>(cost.latency + extra);
  to.initiation = static_cast<std::uint16_t>(cost.initiation + extra);
  to.op = static_cast<std::uint8_t>(from.op);
  to.port = cost.port;
  to.memory = cost.memory;
  if (to.place[0] != 0) to.result = to.memory != 0 ? Step::kMemory : Step::kShort;
  to.ends_idempotence = from.ends_idempotence;
  to.off_chip = cost.off_chip;
  to.membar = from.special == Special::kMembar;
  // Its result must come after its start.
  to.may_pass = shape.passing && !at_lsu && shape.shared_units[cost.port] == 0 && to.latency != 0;
  if (from.ends_idempotence || to.membar || cost.port == SmShape::kNoPort ||
      (shape.any_shared && !shape.collects)) {
    to.way = Step::kOther;
  } else if (shape.collects) {
    to.way = Step::kCollected;
  } else if (at_lsu) {
    to.way = cost.off_chip ? Step::kOther : Step::kBanks;
  } else if (to.initiation == 1 && to.place[0] != 0) {
    to.way = Step::kPlain;
  }
  return to;
}

std::unique_ptr<const Code> CodeTable::DecodeAll(const Program& program) const {
  const ProgramParts& parts = program.parts();
  const SmConfig& config = shape_.config;
  auto code = std::make_unique<Code>();
  code->program = &program;
  for (std::size_t i = 0; i < parts.nodes.size(); ++i) {
    Step step = Decode(parts.nodes[i], shape_);
    // One fetch, to the end of the line of code at most.
    const unsigned left = config.fetch_line - parts.code[i] % config.fetch_line;
    step.fetched = static_cast<std::uint8_t>(std::min(config.fetch_width, left));
    step.ends_run = parts.after[i] != 0;
    code->places = std::max({code->places, step.place[0] + 1u, step.joined + 1u});
    code->steps.push_back(step);
  }
  return code;
}

}  // namespace smk
