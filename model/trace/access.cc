// SPDX-License-Identifier: Apache-2.0
#include "trace/access.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>

#include "workload/trace_stream.h"

namespace smk {
namespace {

constexpr unsigned kLineBits = 7;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << kTraceMemoryBits;
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 24;  // of generic addresses

// Local memory: the last 8 GB, 16 KB per thread, for 16,384 warps in turn.
constexpr std::uint64_t kLocalWarps = 16384;
constexpr std::uint64_t kLocalBytes = std::uint64_t{1} << 14;
static_assert(kLocalWarps >= std::uint64_t{kMaxSms} * kMaxWarps, "as many as are on a GPU at once");
constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kLocalLines = kLocalBytes / kWordBytes;  // a line is one word of 32 threads
constexpr std::uint64_t kFirstLocalLine =
    (std::uint64_t{1} << (kTraceMemoryBits - kLineBits)) - kLocalWarps * kLocalLines;

constexpr unsigned kBanks = 32;

bool InWindow(std::uint64_t address, std::uint64_t base) {
  return address >= base && address - base < kWindowBytes;
}

// Of each transaction of an atomic, the bytes of its line that its lanes want.
using TakenBytes = std::array<std::bitset<kLineBytes>, kMaxLines>;

// Where the line is in the set, or its end.
unsigned Find(std::uint32_t line, const TraceLineSet& lines) {
  const auto* const begin = lines.line.data();
  const auto* const end = begin + lines.count;
  const auto* const found =
      lines.count != 0 && end[-1] == line ? end - 1 : std::find(begin, end, line);
  return static_cast<unsigned>(found - begin);
}

// The first transaction of the line none of whose lanes wants one of the bytes first..last, or the
// end. It takes them.
unsigned FindAtomic(std::uint32_t line, std::uint64_t first, std::uint64_t last,
                    const TraceLineSet& lines, TakenBytes* taken) {
  std::bitset<kLineBytes> wanted;
  for (std::uint64_t byte = first; byte <= last; ++byte) wanted.set(byte);
  unsigned at = 0;
  while (at != lines.count && (lines.line[at] != line || ((*taken)[at] & wanted).any())) ++at;
  if (at != kMaxLines) (*taken)[at] |= wanted;
  return at;
}

// The bytes first..last of a line. `taken`: of an atomic, else null.
void Add(std::uint64_t line, std::uint64_t first, std::uint64_t last, TraceLineSet* lines,
         TakenBytes* taken) {
  const auto number = static_cast<std::uint32_t>(line);
  const unsigned at =
      taken == nullptr ? Find(number, *lines) : FindAtomic(number, first, last, *lines, taken);
  if (at == kMaxLines) return;
  for (std::uint64_t sector = first / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
    lines->sectors[at] |= static_cast<SectorMask>(1u << sector);
  }
  if (at != lines->count) return;
  lines->line[lines->count++] = number;
}

template <typename T>
void Put(T value, std::vector<std::uint8_t>* out) {
  const std::size_t at = out->size();
  out->resize(at + sizeof value);
  std::memcpy(out->data() + at, &value, sizeof value);
}

}  // namespace

TraceSpace SpaceOf(TraceKind kind, const TraceInstruction& instruction, const TraceHeader& header) {
  if (instruction.width == 0 || instruction.lanes == 0) return TraceSpace::kNone;
  switch (kind) {
    case TraceKind::kLoadShared:
    case TraceKind::kStoreShared:
    case TraceKind::kAtomicShared:
      return TraceSpace::kShared;
    case TraceKind::kLoadLocal:
    case TraceKind::kStoreLocal:
      return TraceSpace::kLocal;
    case TraceKind::kLoadGeneric:
    case TraceKind::kStoreGeneric:
      if (header.shared_base == 0 || header.local_base == 0) return TraceSpace::kShared;
      if (InWindow(instruction.address[0], header.shared_base)) return TraceSpace::kShared;
      if (InWindow(instruction.address[0], header.local_base)) return TraceSpace::kLocal;
      return TraceSpace::kGlobal;
    case TraceKind::kLoadGlobal:
    case TraceKind::kStoreGlobal:
    case TraceKind::kAtomicGlobal:
    case TraceKind::kCopyAsync:
    case TraceKind::kTexture:
    case TraceKind::kUnknown:
      return TraceSpace::kGlobal;
    default:
      return TraceSpace::kNone;
  }
}

TraceLineSet LinesOf(const TraceInstruction& instruction, TraceSpace space, std::uint64_t warp,
                     bool atomic) {
  const bool local = space == TraceSpace::kLocal;
  const std::uint64_t origin = kFirstLocalLine + warp % kLocalWarps * kLocalLines;
  const std::uint64_t grain = local ? kWordBytes : kLineBytes;  // bytes of a thread in one line
  const std::uint64_t grains = local ? kLocalLines : kMemoryBytes / kLineBytes;
  TraceLineSet lines;
  TakenBytes bytes;
  TakenBytes* const taken = atomic ? &bytes : nullptr;
  std::uint32_t others = instruction.mask;  // lanes that are still to come
  for (unsigned i = 0; i < instruction.lanes; ++i, others &= others - 1) {
    const std::uint64_t begin = instruction.address[i] % (grain * grains);
    const std::uint64_t end = begin + instruction.width;
    for (std::uint64_t at = begin / grain; at * grain < end; ++at) {
      if (local) {
        // A line is one word of all threads: where the lane's is, by its number.
        const auto lane = static_cast<unsigned>(__builtin_ctz(others));
        const std::uint64_t byte = lane * kWordBytes;
        Add(origin + at % grains, byte, byte, &lines, taken);
      } else {
        Add(at % grains, std::max(begin, at * grain) - at * grain,
            std::min(end, (at + 1) * grain) - 1 - at * grain, &lines, taken);
      }
    }
  }
  return lines;
}

unsigned BankPasses(const TraceInstruction& instruction, bool atomic) {
  const unsigned words = std::clamp(instruction.width / 4, 1u, kBanks);
  std::array<std::array<std::uint64_t, kWarpThreads>, kBanks> seen;  // words of each bank
  std::array<unsigned, kBanks> count{};
  unsigned passes = 1;
  for (unsigned i = 0; i < instruction.lanes; ++i) {
    for (unsigned w = 0; w < words; ++w) {
      const std::uint64_t word = instruction.address[i] / kWordBytes + w;
      const unsigned bank = word % kBanks;
      auto* const begin = seen[bank].data();
      auto* const end = begin + count[bank];
      if (!atomic && std::find(begin, end, word) != end) continue;
      *end = word;
      passes = std::max(passes, ++count[bank]);
    }
  }
  return passes;
}

void EncodeLines(const TraceLineSet& lines, std::vector<std::uint8_t>* out) {
  std::int64_t largest = 0;
  bool consecutive = true;
  for (unsigned i = 1; i < lines.count; ++i) {
    const std::int64_t delta = std::int64_t{lines.line[i]} - lines.line[i - 1];
    consecutive = consecutive && delta == 1;
    largest = std::max<std::int64_t>(largest, delta < 0 ? -delta - 1 : delta);
  }
  const LineForm form = consecutive         ? LineForm::kConsecutive
                        : largest <= 0x7f   ? LineForm::kDelta8
                        : largest <= 0x7fff ? LineForm::kDelta16
                                            : LineForm::kList;
  const bool whole = std::all_of(lines.sectors.begin(), lines.sectors.begin() + lines.count,
                                 [](SectorMask sectors) { return sectors == kAllSectors; });
  out->push_back(static_cast<std::uint8_t>((lines.count - 1) | static_cast<unsigned>(form) << 5 |
                                           (whole ? 0u : kTraceParts)));
  Put(lines.line[0], out);
  for (unsigned i = 1; i < lines.count && form != LineForm::kConsecutive; ++i) {
    const std::int64_t delta = std::int64_t{lines.line[i]} - lines.line[i - 1];
    if (form == LineForm::kDelta8) {
      Put(static_cast<std::int8_t>(delta), out);
    } else if (form == LineForm::kDelta16) {
      Put(static_cast<std::int16_t>(delta), out);
    } else {
      Put(lines.line[i], out);
    }
  }
  for (unsigned i = 0; i < lines.count && !whole; i += 2) {
    const unsigned second = i + 1 < lines.count ? lines.sectors[i + 1] : 0u;
    out->push_back(static_cast<std::uint8_t>(lines.sectors[i] | second << 4));
  }
}

}  // namespace smk
