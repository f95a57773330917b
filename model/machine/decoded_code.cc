// SPDX-License-Identifier: Apache-2.0
#include "machine/decoded_code.h"

#include <algorithm>

namespace smk {

const Code& CodeTable::Of(const Program& program) {
  if (last_ < entries_.size() && entries_[last_].id == program.id()) return *entries_[last_].code;
  for (last_ = 0; last_ < entries_.size(); ++last_) {
    if (entries_[last_].id == program.id()) return *entries_[last_].code;
  }
  entries_.push_back({program.id(), Decode(program)});
  return *entries_[last_].code;
}

std::unique_ptr<const Code> CodeTable::Decode(const Program& program) const {
  const auto place = [](std::uint8_t reg) { return static_cast<std::uint8_t>(reg + 1); };
  static_assert(static_cast<std::uint8_t>(kNoRegister + 1) == 0);
  const ProgramParts& parts = program.parts();
  const SmConfig& config = shape_.config;
  auto code = std::make_unique<Code>();
  code->program = &program;
  code->steps.resize(parts.nodes.size());
  for (std::size_t i = 0; i < parts.nodes.size(); ++i) {
    const Instruction& from = parts.nodes[i];
    const SmShape::OpCost& cost = shape_.costs[static_cast<unsigned>(from.op)];
    const unsigned extra = cost.per_pass != 0 ? from.conflicts - 1u : 0;
    Step& to = code->steps[i];
    to.place[0] = place(from.dst);
    for (unsigned s = 0; s < 3; ++s) to.place[s + 1] = place(from.src[s]);
    to.latency = static_cast<std::uint16_t>(cost.latency + extra);
    to.initiation = static_cast<std::uint16_t>(cost.initiation + extra);
    to.op = static_cast<std::uint8_t>(from.op);
    to.port = cost.port;
    to.memory = cost.memory;
    // One fetch, to the end of the line of code at most.
    const unsigned left = config.fetch_line - parts.code[i] % config.fetch_line;
    to.fetched = static_cast<std::uint8_t>(std::min(config.fetch_width, left));
    to.conflicts = from.conflicts;
    to.ends_idempotence = from.ends_idempotence;
    to.off_chip = cost.off_chip;
    // Its result must come after its start.
    to.may_pass = shape_.passing && cost.port != SmShape::kLsu &&
                  shape_.shared_units[cost.port] == 0 && to.latency != 0;
    to.ends_run = parts.after[i] != 0;
    const bool collected = config.collectors != 0;
    if (from.ends_idempotence || cost.port == SmShape::kNoPort ||
        !(collected || shape_.plain_ports)) {
      to.way = Step::kOther;
    } else if (collected) {
      to.way = Step::kCollected;
    } else if (cost.port == SmShape::kLsu) {
      to.way = cost.off_chip ? Step::kOther : Step::kBanks;
    }
  }
  return code;
}

}  // namespace smk
