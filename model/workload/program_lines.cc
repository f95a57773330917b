// SPDX-License-Identifier: Apache-2.0
// Program: the lines that a memory instruction touches.
#include <algorithm>

#include "workload/program_code.h"
#include "workload/random.h"

namespace smk {
namespace {

constexpr unsigned kLineBits = 7;
static_assert(kLineBytes == 1u << kLineBits);

std::int64_t Value(const Affine& affine, const WarpIdentity& id, const WarpCursor& cursor) {
  const auto& c = affine.coefficient;
  std::int64_t value = affine.base + c[0] * id.tb + c[1] * id.tb_x + c[2] * id.tb_y +
                       c[3] * id.tb_z + c[4] * id.warp;
  for (unsigned i = 0; i < kMaxLoops; ++i) {
    value += c[kNumFixedVariables + i] * cursor.trip[i];
  }
  return value;
}

// Byte offset of lane 0 in the array, before wrapping.
std::int64_t Offset(const Access& access, const WarpIdentity& id, const WarpCursor& cursor) {
  return Value(access.offset, id, cursor);
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

// Sectors of the bytes first..last of a line.
constexpr SectorMask SectorsOf(unsigned first, unsigned last) {
  const unsigned below = (2u << (last / kSectorBytes)) - 1;
  return static_cast<SectorMask>(below & (kAllSectors << (first / kSectorBytes)));
}

// Collects distinct lines of an array.
class LineSet {
 public:
  LineSet(const Access& access, const WarpIdentity& id, std::uint64_t* lines, SectorMask* sectors)
      : origin_(id.base + access.start),
        size_(access.size),
        ordered_(access.ordered),
        out_(lines),
        sectors_(sectors) {}

  // All lines of the bytes first..last.
  void AddRange(std::int64_t first, std::int64_t last) {
    const std::int64_t from = first >> kLineBits;
    const std::int64_t to = last >> kLineBits;
    for (std::int64_t line = from; line <= to; ++line) {
      const unsigned at = Add(line);
      if (sectors_ == nullptr || at == kMaxLines) continue;
      sectors_[at] |= SectorsOf(line == from ? first & (kLineBytes - 1) : 0,
                                line == to ? last & (kLineBytes - 1) : kLineBytes - 1);
    }
  }
  unsigned count() const { return count_; }

 private:
  // The line's place; kMaxLines when there is none left.
  unsigned Add(std::int64_t line) {
    const std::uint64_t address = origin_ + Wrap(line * kLineBytes, size_);
    const unsigned first = ordered_ && count_ != 0 ? count_ - 1 : 0;
    for (unsigned at = first; at < count_; ++at) {
      if (out_[at] == address) return at;
    }
    if (count_ == kMaxLines) return kMaxLines;
    if (sectors_ != nullptr) sectors_[count_] = 0;
    out_[count_] = address;
    return count_++;
  }

  std::uint64_t origin_, size_;
  bool ordered_;
  std::uint64_t* out_;
  SectorMask* sectors_;
  unsigned count_ = 0;
};

unsigned RunLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                  const WarpCursor& cursor, std::uint64_t* lines, SectorMask* sectors) {
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
  if (sectors != nullptr) {
    std::fill(sectors, sectors + n, kAllSectors);
    sectors[0] &= SectorsOf(first & (kLineBytes - 1), kLineBytes - 1);
    if (n == count) sectors[n - 1] &= SectorsOf(0, last & (kLineBytes - 1));
  }
  return n;
}

unsigned LaneLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                   const WarpCursor& cursor, std::uint64_t* lines, SectorMask* sectors) {
  LineSet set(access, id, lines, sectors);
  std::int64_t row = Offset(access, id, cursor);
  const int reach =
      sectors == nullptr ? static_cast<int>(kLineBytes) : static_cast<int>(kSectorBytes);
  const bool dense = access.stride >= 0 && access.stride <= reach;
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

// The lanes of a line are side by side in it, from a place that is drawn.
void GatherSectors(const Access& access, unsigned lanes, const WarpIdentity& id,
                   const WarpCursor& cursor, unsigned lines, SectorMask* sectors) {
  std::uint64_t bits = DrawBits(id.key, access.site + 1, cursor);
  const unsigned bytes = std::min((lanes + lines - 1) / lines * access.bytes, kLineBytes);
  for (unsigned i = 0; i < lines; ++i) {
    bits = ScrambleBits(bits + 0x9e3779b97f4a7c15);
    const unsigned places = (kLineBytes - bytes) / access.bytes + 1;
    const unsigned first = DrawBelow(static_cast<std::uint32_t>(bits), places) * access.bytes;
    sectors[i] = SectorsOf(first, first + bytes - 1);
  }
}

// Lines of a gather: the window is cut into as many parts as lines are wanted, one line from each,
// so that they are distinct by construction. A line sent to the rest of the array stays near when
// it falls into the window or on another one.
unsigned GatherLines(const Access& access, unsigned lanes, const WarpIdentity& id,
                     const WarpCursor& cursor, std::uint64_t* lines, SectorMask* sectors) {
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
  if (sectors != nullptr) GatherSectors(access, lanes, id, cursor, n, sectors);
  return n;
}

// Calls take(x, y) for the texel of each lane that has one, in order.
template <typename Take>
void ForEachTexel(const Texels& texels, unsigned lanes, const WarpIdentity& id,
                  const WarpCursor& cursor, Take take) {
  const auto clamp = [](std::int64_t value, std::uint32_t size) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, size - 1));
  };
  const std::int64_t x = Value(texels.x, id, cursor);
  const std::int64_t y = Value(texels.y, id, cursor);
  const auto from = static_cast<std::uint32_t>(Value(texels.from, id, cursor));
  std::uint32_t column = from % texels.columns;
  std::uint32_t row = from / texels.columns;
  const std::uint32_t columns_on = texels.step % texels.columns;
  const std::uint32_t rows_on = texels.step / texels.columns;
  for (unsigned lane = 0; lane < lanes && row < texels.rows; ++lane) {
    take(clamp(x + column, texels.tiles.width), clamp(y + row, texels.tiles.height));
    column += columns_on;
    row += rows_on;
    if (column >= texels.columns) {
      column -= texels.columns;
      ++row;
    }
  }
}

// No lane has a texel: the line of the array's first. An instruction touches one at least.
unsigned TexelLines(const Texels& texels, std::uint64_t origin, unsigned lanes,
                    const WarpIdentity& id, const WarpCursor& cursor, std::uint64_t* lines,
                    SectorMask* sectors) {
  unsigned count = 0;
  SectorMask touched[kMaxLines] = {};
  ForEachTexel(texels, lanes, id, cursor, [&](std::uint32_t x, std::uint32_t y) {
    const std::uint64_t line = origin + texels.tiles.Line(x, y);
    const std::uint64_t* const at = std::find(lines, lines + count, line);
    const std::uint32_t byte = texels.tiles.InLine(x, y);
    touched[at - lines] |= SectorsOf(byte, byte);
    if (at == lines + count) lines[count++] = line;
  });
  if (count == 0) {
    lines[count++] = origin;
    touched[0] = 1;
  }
  if (sectors != nullptr) std::copy(touched, touched + count, sectors);
  return count;
}

}  // namespace

LaneAddresses Program::Lanes(const Instruction& instruction, const WarpIdentity& id,
                             const WarpCursor& cursor) const {
  const Access& access = parts_.accesses[instruction.access];
  LaneAddresses lanes;
  if (access.pattern == Access::Pattern::kTexels) {
    const Texels& texels = parts_.texels[access.texels];
    const std::uint64_t origin = id.base + access.start;
    lanes.bytes = access.bytes;
    ForEachTexel(texels, ActiveLanes(access, id), id, cursor, [&](auto x, auto y) {
      lanes.address[lanes.count++] = origin + texels.tiles.Line(x, y) + texels.tiles.InLine(x, y);
    });
    return lanes;
  }
  if (access.pattern != Access::Pattern::kRun && access.pattern != Access::Pattern::kLanes) {
    return lanes;
  }
  lanes.bytes = access.bytes;
  lanes.count = ActiveLanes(access, id);
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
                        const WarpCursor& cursor, std::uint64_t lines[kMaxLines],
                        SectorMask* sectors) const {
  const Access& access = parts_.accesses[instruction.access];
  const unsigned lanes = ActiveLanes(access, id);
  switch (access.pattern) {
    case Access::Pattern::kRun:
      // Lanes further apart than a sector leave some out.
      if (sectors != nullptr && access.stride > static_cast<int>(kSectorBytes)) {
        return LaneLines(access, lanes, id, cursor, lines, sectors);
      }
      return RunLines(access, lanes, id, cursor, lines, sectors);
    case Access::Pattern::kLanes:
      return LaneLines(access, lanes, id, cursor, lines, sectors);
    case Access::Pattern::kTexels:
      return TexelLines(parts_.texels[access.texels], id.base + access.start, lanes, id, cursor,
                        lines, sectors);
    case Access::Pattern::kGather:
      break;
    case Access::Pattern::kTrace:
      return AccessLines(id.trace + TracePosition::Of(cursor).data, id.base, lines, sectors);
  }
  return GatherLines(access, lanes, id, cursor, lines, sectors);
}

}  // namespace smk
