// SPDX-License-Identifier: Apache-2.0
// Memory accesses: coefficients of the address, the pattern of the lanes, and the array's bounds.
#include <algorithm>
#include <cmath>

#include "workload/compiler.h"
#include "workload/random.h"

namespace smk {
namespace {

// Holds any sum of products of a file's numbers.
__extension__ using Wide = __int128;

std::string Text(Wide value) {
  if (value < 0) return "-" + Text(-value);
  const std::string digit(1, static_cast<char>('0' + static_cast<int>(value % 10)));
  return value < 10 ? digit : Text(value / 10) + digit;
}

// Offsets are computed in 64 bits.
constexpr Wide kMaxReach = Wide{1} << 62;

// Names become coefficients of variables.
Affine CompileAffine(const AffineSyntax& syntax, const Scope& scope, const CompileTarget& target,
                     int line) {
  Affine a;
  Wide base = syntax.constant;
  for (const auto& [name, coefficient] : syntax.terms) {
    if (const std::int64_t* copy = scope.FindCopyIndex(name)) {
      base += Wide{coefficient} * *copy;
      if (base > kMaxReach || base < -kMaxReach) {
        FailAt(target.file, line, name, "a product below 2^62 (this is " + Text(base) + ")");
      }
      continue;
    }
    const int variable = scope.FindVariable(name);
    if (variable < 0) {
      FailAt(target.file, line, name,
             "tb, tb.x, tb.y, tb.z, warp, a loop or a copy index around this line");
    }
    a.coefficient[static_cast<unsigned>(variable)] += coefficient;
  }
  a.base = static_cast<std::int64_t>(base);
  return a;
}

struct Interval {
  Wide low = 0, high = 0;
};

// All values that it can have.
Interval RangeOf(const Affine& a, const Scope& scope) {
  Interval all{a.base, a.base};
  for (unsigned v = 0; v < kNumVariables; ++v) {
    if (a.coefficient[v] == 0) continue;
    const Scope::Range range = scope.RangeOf(v);
    const Wide coefficient = a.coefficient[v];
    all.low += std::min(coefficient * range.low, coefficient * range.high);
    all.high += std::max(coefficient * range.low, coefficient * range.high);
  }
  return all;
}

// Keeps what is computed with texels within 32 bits.
constexpr std::int64_t kMaxTexel = 1 << 30;

Texels CompileTexels(const TexelSyntax& syntax, const ArrayPlace& array, const Scope& scope,
                     const CompileTarget& target, int line) {
  Texels texels;
  texels.tiles = array.tiles;
  texels.x = CompileAffine(syntax.x, scope, target, line);
  texels.y = CompileAffine(syntax.y, scope, target, line);
  texels.from = CompileAffine(syntax.from, scope, target, line);
  texels.columns = syntax.columns;
  texels.rows = syntax.rows;
  texels.step = syntax.step;
  for (const Affine* part : {&texels.x, &texels.y, &texels.from}) {
    const Interval range = RangeOf(*part, scope);
    const std::int64_t low = part == &texels.from ? 0 : -kMaxTexel;
    if (range.low >= low && range.high <= kMaxTexel) continue;
    FailAt(target.file, line,
           part == &texels.from ? "from"
           : part == &texels.x  ? "x"
                                : "y",
           "numbers from " + std::to_string(low) + " to " + std::to_string(kMaxTexel) +
               " (this reaches " + Text(range.low) + " to " + Text(range.high) + ")");
  }
  return texels;
}

void SetGather(const AccessSyntax& syntax, const CompileTarget& target, int line, Access* a) {
  a->pattern = Access::Pattern::kGather;
  a->window_lines = static_cast<std::uint32_t>(syntax.window / kLineBytes);
  const double mean = *syntax.gather;
  if (mean > a->window_lines) {
    FailAt(target.file, line, "gather", "a mean of at most the window's number of lines");
  }
  a->whole_lines = static_cast<std::uint32_t>(std::floor(mean));
  a->extra_below = ProbabilityBits(mean - std::floor(mean));
  a->far_below = ProbabilityBits(syntax.far);
}

// Bytes from lane 0 to the first byte and behind the last byte of the access.
struct Extent {
  std::int64_t low = 0, high = 0;
};

Extent SetLanes(const AccessSyntax& syntax, Access* a) {
  const auto lanes = static_cast<std::int64_t>(a->lanes);
  const std::int64_t row_lanes = std::min<std::int64_t>(syntax.row_lanes.value_or(32), lanes);
  const std::int64_t rows = (lanes + row_lanes - 1) / row_lanes;
  const std::int64_t stride = syntax.stride.value_or(syntax.bytes);
  a->row_lanes = static_cast<std::uint8_t>(row_lanes);
  a->stride = static_cast<std::int32_t>(stride);
  a->pitch = syntax.pitch;
  const std::int64_t row = stride * (row_lanes - 1);
  const std::int64_t all = syntax.pitch * (rows - 1);
  const Extent extent{std::min<std::int64_t>(row, 0) + std::min<std::int64_t>(all, 0),
                      std::max<std::int64_t>(row, 0) + std::max<std::int64_t>(all, 0) + a->bytes};
  const bool dense = stride >= 0 && stride <= static_cast<std::int64_t>(kLineBytes);
  a->pattern = rows == 1 && dense ? Access::Pattern::kRun : Access::Pattern::kLanes;
  a->ordered = stride >= 0 && (rows == 1 || syntax.pitch >= row + a->bytes);
  return extent;
}

// Fails when an address can leave the array and the access does not wrap.
void CheckBounds(const AccessSyntax& syntax, const Scope& scope, const CompileTarget& target,
                 int line, Extent extent, const Access& a) {
  const auto size = static_cast<std::int64_t>(a.size);
  if (extent.high - extent.low > size) {
    FailAt(target.file, line, syntax.array, "an array at least as large as one access of a warp");
  }
  const Interval range = RangeOf(a.offset, scope);
  const Wide low = range.low + extent.low;
  const Wide high = range.high + extent.high;
  if (low >= 0 && high <= size) return;
  const std::string reached = " (this reaches bytes " + Text(low) + " to " + Text(high) + ")";
  if (!syntax.wrap) {
    FailAt(target.file, line, syntax.array,
           "offsets from 0 to " + std::to_string(size) + reached + ", or `wrap`");
  }
  if (low < -kMaxReach || high > kMaxReach) {
    FailAt(target.file, line, syntax.array, "offsets below 2^62" + reached);
  }
}

}  // namespace

Access CompileAccess(const Statement& statement, const Scope& scope, const CompileTarget& target,
                     std::vector<Texels>* texels) {
  const AccessSyntax& syntax = *statement.access;
  const auto place = target.arrays->find(syntax.array);
  if (place == target.arrays->end()) {
    FailAt(target.file, statement.line, syntax.array, "the name of an array in [arrays]");
  }
  Access a;
  a.start = place->second.start;
  a.size = place->second.size;
  a.lanes = static_cast<std::uint8_t>(syntax.lanes);
  const bool tiled = place->second.tiles.width != 0;
  if (tiled != syntax.texels.has_value()) {
    FailAt(target.file, statement.line, syntax.array,
           tiled ? "[" + syntax.array + " x ... y ...]: this array has a width and a height"
                 : "an array with a width and a height, or [" + syntax.array + " + offset]");
  }
  if (tiled) {
    a.pattern = Access::Pattern::kTexels;
    a.bytes = place->second.tiles.bytes;
    a.texels = static_cast<std::uint16_t>(texels->size());
    texels->push_back(CompileTexels(*syntax.texels, place->second, scope, target, statement.line));
    return a;
  }
  a.bytes = syntax.bytes;
  a.offset = CompileAffine(syntax.offset, scope, target, statement.line);
  Extent extent;
  if (syntax.gather) {
    SetGather(syntax, target, statement.line, &a);
    extent.high = static_cast<std::int64_t>(syntax.window);
  } else {
    extent = SetLanes(syntax, &a);
  }
  CheckBounds(syntax, scope, target, statement.line, extent, a);
  return a;
}

}  // namespace smk
