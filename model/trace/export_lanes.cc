// SPDX-License-Identifier: Apache-2.0
#include "trace/export_lanes.h"

#include <algorithm>
#include <vector>

#include "trace/access.h"

namespace smk {
namespace {

constexpr unsigned kWord = 4;
constexpr unsigned kSectorWords = kSectorBytes / kWord;
constexpr unsigned kLineSectors = kLineBytes / kSectorBytes;

bool Gives(const TraceInstruction& access, const AskedLines& asked, std::uint64_t base,
           bool atomic) {
  if (access.lanes == 0) return false;
  const TraceLineSet found = LinesOf(access, TraceSpace::kGlobal, 0, atomic);
  if (found.count != asked.count) return false;
  for (unsigned i = 0; i < found.count; ++i) {
    if (std::uint64_t{found.line[i]} * kLineBytes != asked.line[i] - base) return false;
    if (found.sectors[i] != asked.sectors[i]) return false;
  }
  return true;
}

void SetOwn(const LaneAddresses& own, bool atomic, TraceInstruction* access) {
  access->width = own.bytes;
  access->lanes = 0;
  for (unsigned i = 0; i < own.count; ++i) {
    auto* const end = access->address.data() + access->lanes;
    if (atomic && std::find(access->address.data(), end, own.address[i]) != end) continue;
    access->address[access->lanes++] = own.address[i];
  }
}

// Where pieces of `sectors` sectors begin that cover what is asked and nothing else; none if there
// are no such pieces, or more than a warp has lanes.
std::vector<std::uint64_t> Pieces(const AskedLines& asked, unsigned sectors) {
  std::vector<std::uint64_t> pieces;
  for (unsigned i = 0; i < asked.count; ++i) {
    for (unsigned from = 0; from < kLineSectors;) {
      unsigned to = from;
      while (to < kLineSectors && (asked.sectors[i] >> to & 1) != 0) ++to;
      if (to != from && to - from < sectors) return {};
      for (unsigned at = from; at < to; at += sectors) {
        pieces.push_back(asked.line[i] + std::min(at, to - sectors) * kSectorBytes);
      }
      from = to + 1;
    }
  }
  if (pieces.size() > kWarpThreads) pieces.clear();
  return pieces;
}

// Lanes of a piece have a word each, as far as there are words. One atomic lane more would be
// another transaction.
void SetPieces(const std::vector<std::uint64_t>& pieces, unsigned sectors, unsigned threads,
               bool atomic, TraceInstruction* access) {
  const auto count = static_cast<unsigned>(pieces.size());
  const unsigned lanes = std::max(count, threads);
  const unsigned words = sectors == 1 ? kSectorWords : 1;
  access->width = sectors == 1 ? kWord : sectors * kSectorBytes;
  access->lanes = 0;
  for (unsigned i = 0, word = 0, last = count; i < lanes; ++i) {
    const unsigned piece = i * count / lanes;
    word = piece == last ? word + 1 : 0;
    last = piece;
    if (atomic && word >= words) continue;
    access->address[access->lanes++] = pieces[piece] + word % words * kWord;
  }
}

// Each line gets its share of the lanes, each of which takes its next sector.
void SetLines(const AskedLines& asked, unsigned threads, TraceInstruction* access) {
  access->width = kWord;
  access->lanes = std::max({asked.count, threads, 1u});
  unsigned sector = 0;
  for (unsigned i = 0, last = asked.count; i < access->lanes; ++i) {
    const unsigned line = i * asked.count / access->lanes;
    do {
      sector = line == last ? (sector + 1) % kLineSectors : 0;
      last = line;
    } while ((asked.sectors[line] >> sector & 1) == 0);
    access->address[i] = asked.line[line] + sector * kSectorBytes + i % kSectorWords * kWord;
  }
}

}  // namespace

void SetExportLanes(const AskedLines& asked, const LaneAddresses& own, std::uint64_t base,
                    unsigned threads, bool atomic, TraceInstruction* access) {
  threads = std::min(threads, kWarpThreads);
  if (own.bytes <= kSectorBytes) {
    SetOwn(own, atomic, access);
    if (Gives(*access, asked, base, atomic)) return;
  }
  for (unsigned sectors = 1; sectors <= kLineSectors; ++sectors) {
    const std::vector<std::uint64_t> pieces = Pieces(asked, sectors);
    if (pieces.empty()) continue;
    SetPieces(pieces, sectors, threads, atomic, access);
    if (Gives(*access, asked, base, atomic)) return;
  }
  SetLines(asked, threads, access);
}

}  // namespace smk
