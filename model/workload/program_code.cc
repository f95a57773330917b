// SPDX-License-Identifier: Apache-2.0
#include "workload/program_code.h"

#include <atomic>
#include <numeric>
#include <utility>

#include "workload/random.h"

namespace smk {
namespace {

constexpr unsigned kFirstSide = 1;
constexpr unsigned kSecondSide = 2;

// The sides that a warp executes, as a mask; the same whenever it is asked in the same trip.
unsigned Sides(const Condition& condition, const WarpIdentity& id, const WarpCursor& cursor) {
  if (condition.kind == Condition::Kind::kChance) {
    const std::uint64_t key = condition.per_tb ? id.tb_key : id.key;
    const std::uint64_t draw = DrawBits(key, condition.site, cursor) >> 32;
    return (draw < condition.first_below ? kFirstSide : 0) |
           (draw >= condition.second_from ? kSecondSide : 0);
  }
  std::uint32_t value = VariableValue(condition.variable, id, cursor);
  if (condition.modulus != 0) value %= condition.modulus;
  const bool inside = condition.low <= value && value <= condition.high;
  return inside != condition.negate ? kFirstSide : kSecondSide;
}

}  // namespace

Program::Program(ProgramParts parts, std::shared_ptr<const TraceRecords> records)
    : parts_(std::move(parts)), records_(std::move(records)) {
  if (!parts_.code.empty()) return;
  parts_.code.resize(parts_.nodes.size());
  std::iota(parts_.code.begin(), parts_.code.end(), std::uint16_t{0});
}

std::uint64_t Program::NewId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void Program::StartTrace(const WarpIdentity& id, WarpCursor* cursor) {
  TracePosition position;
  position.run = sizeof(std::uint32_t);
  position.data = position.run + kRunBytes * ReadTrace<std::uint32_t>(id.trace);
  cursor->node = ReadTrace<std::uint16_t>(id.trace + position.run);
  position.last = ReadTrace<std::uint16_t>(id.trace + position.run + 2);
  position.Keep(cursor);
}

unsigned Program::Trips(const TripSource& source, const WarpIdentity& id,
                        const WarpCursor& cursor) const {
  if (source.kind == TripSource::Kind::kConstant) return source.low;
  std::uint64_t value = 0;
  if (source.kind == TripSource::Kind::kSteps) {
    value = VariableValue(source.variable, id, cursor);
  } else {
    value = DrawBits(source.per_tb ? id.tb_key : id.key, source.site, cursor) >> 32;
  }
  if (source.kind == TripSource::Kind::kUniform) {
    return source.low + DrawBelow(static_cast<std::uint32_t>(value), source.range);
  }
  // The last bound of a table is above every value.
  const TripEntry* entry = &parts_.trip_table[source.first];
  while (value >= entry->below) ++entry;
  return entry->trips;
}

void Program::Resolve(const WarpIdentity& id, WarpCursor* cursor, unsigned pc) const {
  for (;;) {
    const ControlOp& op = parts_.control[pc++];
    switch (op.kind) {
      case ControlOp::Kind::kRun:
        cursor->node = op.node;
        return;
      case ControlOp::Kind::kLoop: {
        const unsigned trips = Trips(parts_.trips[op.source], id, *cursor);
        if (trips == 0) {
          pc = op.target;
        } else {
          cursor->trips_left[op.level] = static_cast<std::uint16_t>(trips - 1);
        }
        break;
      }
      case ControlOp::Kind::kNext:
      case ControlOp::Kind::kNextToRun:
        if (cursor->trips_left[op.level] == 0) {
          cursor->trip[op.level] = 0;
        } else {
          --cursor->trips_left[op.level];
          ++cursor->trip[op.level];
          pc = op.target;
        }
        break;
      case ControlOp::Kind::kIf:
        if ((Sides(parts_.conditions[op.source], id, *cursor) & kFirstSide) == 0) pc = op.target;
        break;
      case ControlOp::Kind::kElse:
        if ((Sides(parts_.conditions[op.source], id, *cursor) & kSecondSide) == 0) pc = op.target;
        break;
      case ControlOp::Kind::kTraceStart:
        StartTrace(id, cursor);
        return;
      case ControlOp::Kind::kTraceNext:
      case ControlOp::Kind::kTraceAccess:
        AdvanceTrace(id, cursor, op.kind);
        return;
    }
  }
}

}  // namespace smk
