// SPDX-License-Identifier: Apache-2.0
// Program: the lines that a memory instruction touches.
#include <algorithm>

#include "workload/program_code.h"
#include "workload/random.h"

namespace smk {
namespace {

constexpr unsigned kLineBits = 7;
static_assert(kLineBytes == 1u << kLineBits);

// Byte offset of lane 0 in the array, before wrapping.
std::int64_t Offset(const Access& access, const WarpIdentity& id, const WarpCursor& cursor) {
  const auto& c = access.coefficient;
  std::int64_t offset = access.base + c[0] * id.tb + c[1] * id.tb_x + c[2] * id.tb_y +
                        c[3] * id.tb_z + c[4] * id.warp;
  for (unsigned i = 0; i < kMaxLoops; ++i) {
    offset += c[kNumFixedVariables + i] * cursor.trip[i];
  }
  return offset;
}

// `value` mod `size`; the division is skipped in the usual case.
std::uint64_t Wrap(std::int64_t value, std::uint64_t size) {
  if (__builtin_expect(static_cast<std::uint64_t>(value) < size, 1)) {
    return static_cast<std::uint64_t>(value);
  }
  const auto s = static_cast<std::int64_t>(size);
  const std::int64_t rest = value % s;
  return static_cast<std::uint64_t>(rest < 0 ? rest + s : rest);
}

// Collects distinct lines of an array.
class LineSet {
 public:
  LineSet(const Access& access, const WarpIdentity& id, std::uint64_t* lines)
      : origin_(id.base + access.start),
        size_(access.size),
        ordered_(access.ordered),
        out_(lines) {}

  void Add(std::int64_t line) {
    const std::uint64_t address = origin_ + Wrap(line * kLineBytes, size_);
    if (count_ == kMaxLines || Has(address)) return;
    out_[count_++] = address;
  }
  // All lines of the bytes first..last.
  void AddRange(std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first >> kLineBits; line <= last >> kLineBits; ++line) Add(line);
  }
  unsigned count() const { return count_; }

 private:
  bool Has(std::uint64_t address) const {
    if (ordered_) return count_ != 0 && out_[count_ - 1] == address;
    return std::find(out_, out_ + count_, address) != out_ + count_;
  }

  std::uint64_t origin_, size_;
  bool ordered_;
  std::uint64_t* out_;
  unsigned count_ = 0;
};

unsigned RunLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                  const WarpCursor& cursor, std::uint64_t* lines) {
  const std::uint64_t first = Wrap(Offset(access, id, cursor), access.size);
  const std::uint64_t last =
      first + (lanes - 1) * static_cast<std::uint64_t>(access.stride) + access.bytes - 1;
  const auto count = static_cast<unsigned>((last >> kLineBits) - (first >> kLineBits)) + 1;
  const unsigned n = std::min(count, kMaxLines);
  std::uint64_t line = first & ~std::uint64_t{kLineBytes - 1};
  const std::uint64_t origin = id.base + access.start;
  for (unsigned i = 0; i < n; ++i, line += kLineBytes) {
    lines[i] = origin + (line < access.size ? line : line - access.size);
  }
  return n;
}

unsigned LaneLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                   const WarpCursor& cursor, std::uint64_t* lines) {
  LineSet set(access, id, lines);
  std::int64_t row = Offset(access, id, cursor);
  const bool dense = access.stride >= 0 && access.stride <= static_cast<int>(kLineBytes);
  for (unsigned done = 0; done < lanes; row += access.pitch) {
    const unsigned n = std::min<unsigned>(access.row_lanes, lanes - done);
    done += n;
    if (dense) {
      set.AddRange(row, row + (n - 1) * std::int64_t{access.stride} + access.bytes - 1);
      continue;
    }
    for (unsigned lane = 0; lane < n; ++lane) {
      const std::int64_t first = row + lane * std::int64_t{access.stride};
      set.AddRange(first, first + access.bytes - 1);
    }
  }
  return set.count();
}

// A window of an array, in lines.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t length = 0;
  std::uint64_t array = 0;  // lines of the array

  std::uint64_t At(std::uint64_t offset) const {
    const std::uint64_t line = first + offset;
    return line < array ? line : line - array;
  }
  bool Contains(std::uint64_t line) const {
    return (line >= first ? line - first : line + array - first) < length;
  }
};

// Lines of a gather: the window is cut into as many parts as lines are wanted, one line from each,
// so that they are distinct by construction. A line sent to the rest of the array stays near when
// it falls into the window or on another one.
unsigned GatherLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                     const WarpCursor& cursor, std::uint64_t* lines) {
  std::uint64_t bits = DrawBits(id.key, access.site, cursor);
  unsigned n = access.whole_lines + ((bits >> 32) < access.extra_below ? 1 : 0);
  n = std::max(1u, std::min(n, lanes));
  const std::uint64_t origin = id.base + access.start;
  const Window window{Wrap(Offset(access, id, cursor), access.size) >> kLineBits,
                      access.window_lines, access.size >> kLineBits};
  const std::uint32_t part = access.window_lines / n;
  const std::uint32_t longer = access.window_lines % n;  // the first parts have one line more
  std::uint32_t begin = 0;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t length = part + (i < longer ? 1 : 0);
    bits = ScrambleBits(bits + 0x9e3779b97f4a7c15);
    lines[i] = origin +
               window.At(begin + DrawBelow(static_cast<std::uint32_t>(bits), length)) * kLineBytes;
    begin += length;
    if ((bits >> 32) >= access.far_below) continue;
    bits = ScrambleBits(bits + 0x9e3779b97f4a7c15);
    const std::uint64_t line =
        DrawBelow(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(window.array));
    const std::uint64_t address = origin + line * kLineBytes;
    if (!window.Contains(line) && std::find(lines, lines + i, address) == lines + i) {
      lines[i] = address;
    }
  }
  return n;
}

}  // namespace

LaneAddresses Program::Lanes(const Instruction& instruction, const WarpIdentity& id,
                             const WarpCursor& cursor) const {
  const Access& access = parts_.accesses[instruction.access];
  LaneAddresses lanes;
  if (access.pattern != Access::Pattern::kRun && access.pattern != Access::Pattern::kLanes) {
    return lanes;
  }
  lanes.bytes = access.bytes;
  lanes.count = id.warp == parts_.last_warp ? std::min<unsigned>(access.lanes, parts_.last_lanes)
                                            : access.lanes;
  const std::int64_t first = Offset(access, id, cursor);
  const unsigned row_lanes =
      access.pattern == Access::Pattern::kRun ? kWarpThreads : access.row_lanes;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    const std::int64_t offset =
        first + lane / row_lanes * access.pitch + lane % row_lanes * std::int64_t{access.stride};
    lanes.address[lane] = id.base + access.start + Wrap(offset, access.size);
  }
  return lanes;
}

unsigned Program::Lines(const Instruction& instruction, const WarpIdentity& id,
                        const WarpCursor& cursor, std::uint64_t lines[kMaxLines]) const {
  const Access& access = parts_.accesses[instruction.access];
  const unsigned lanes = id.warp == parts_.last_warp
                             ? std::min<unsigned>(access.lanes, parts_.last_lanes)
                             : access.lanes;
  switch (access.pattern) {
    case Access::Pattern::kRun:
      return RunLines(access, lanes, id, cursor, lines);
    case Access::Pattern::kLanes:
      return LaneLines(access, lanes, id, cursor, lines);
    case Access::Pattern::kGather:
      break;
    case Access::Pattern::kTrace:
      return AccessLines(id.trace + TracePosition::Of(cursor).data, id.base, lines);
  }
  return GatherLines(access, lanes, id, cursor, lines);
}

}  // namespace smk
