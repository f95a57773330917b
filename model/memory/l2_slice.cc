// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_slice.h"

#include <algorithm>

#include "memory/address_map.h"

namespace smk {
namespace {

constexpr unsigned kArrayWindow = 32768;  // cycles that the data array's calendar looks ahead

}  // namespace

L2Slice::L2Slice(sc_core::sc_module_name name, const MemoryConfig& config)
    : sc_core::sc_module(name),
      socket_("socket"),
      memory_socket_("memory_socket"),
      ways_(config.l2.ways),
      set_bits_(Log2(config.l2.bytes / kLineBytes / config.l2.ways)),
      set_mask_((std::uint64_t{1} << set_bits_) - 1),
      chunk_mask_(config.interleave_bytes / kLineBytes - 1),
      slice_bits_(Log2(config.l2_slices_per_controller)),
      merges_(config.l2.mshr_merges),
      bytes_per_cycle_(config.l2_bytes_per_cycle),
      sectored_(config.sector_bytes != kLineBytes),
      fetches_writes_(config.l2_write_miss == "fetch"),
      latency_(config.l2.latency),
      write_latency_(config.writes == "acknowledged" ? config.l2.latency : 0),
      sets_(1u << set_bits_, ways_),
      lines_(config.l2.bytes / kLineBytes),
      array_(kArrayWindow),
      mshrs_(config.l2.mshrs),
      evictions_(config.l2_eviction_buffer),
      times_(sectored_ ? lines_.size() : 0) {
  socket_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

// Reads and writes part here, and each is served in one function: calls between its steps would be
// a tenth of a read from DRAM.
Cycle L2Slice::Serve(LineAccess* request, Cycle arrival) {
  return request->store() ? Write(request, arrival) : Read(request, arrival);
}

// The slice's lines are numbered densely: the bits that chose the slice are left out. The set is a
// hash of the number that keeps every aligned run of as many lines as there are sets free of
// conflicts.
[[gnu::always_inline]] inline L2Slice::Access L2Slice::Decode(const LineAccess& request,
                                                              Cycle arrival) const {
  const std::uint64_t line = request.address / kLineBytes;
  const std::uint64_t number = (line >> slice_bits_ & ~chunk_mask_) | (line & chunk_mask_);
  const std::uint64_t tag = number >> set_bits_;
  const std::uint64_t set = (number ^ Scatter(tag)) & set_mask_;
  return {request, arrival, static_cast<unsigned>(set), static_cast<std::uint32_t>(tag)};
}

inline L2Slice::Line* L2Slice::Find(const Access& access) {
  const unsigned way = sets_.Find(access.set, access.tag);
  if (way == CacheSets::kNone) return nullptr;
  sets_.Use(access.set, way);
  return &lines_[access.set * ways_ + way];
}

// The way of the least recently used line that is not in flight; when all are, of the first that
// will be there.
inline unsigned L2Slice::Victim(unsigned set, Cycle arrival) const {
  const Line* const lines = &lines_[set * ways_];
  unsigned way = sets_.Oldest(set);
  while (lines[way].ready > arrival) {
    if (way == sets_.Newest(set)) return FirstReady(lines);
    way = sets_.Newer(set, way);
  }
  return way;
}

unsigned L2Slice::FirstReady(const Line* lines) const {
  const auto before = [](const Line& a, const Line& b) { return a.ready < b.ready; };
  return static_cast<unsigned>(std::min_element(lines, lines + ways_, before) - lines);
}

// Gives the access a line. When all are in flight, it starts when the victim is there.
[[gnu::always_inline]] inline L2Slice::Line* L2Slice::Replace(const Access& access, Cycle* start) {
  const unsigned victim = Victim(access.set, access.arrival);
  Line& line = lines_[access.set * ways_ + victim];
  *start = std::max<Cycle>(*start, line.ready);
  if (line.dirty != 0) WriteOut(line, Bytes(line.dirty), line.writer, access.line.sm, 0, start);
  line = Line{};
  line.address = access.line.address;
  sets_.SetTag(access.set, victim, access.tag);
  sets_.Use(access.set, victim);
  return &line;
}

// Through the eviction buffer to the controller: waits until there is a place, and leaves `delay`
// cycles later.
inline void L2Slice::WriteOut(const Line& line, unsigned bytes, KernelId kernel, SmId sm,
                              Cycle delay, Cycle* start) {
  *start = std::max(*start, evictions_.next_free());
  LineAccess store;
  store.address = line.address;
  store.bytes = bytes;
  store.kernel = kernel;
  store.sm = sm;
  store.access = MemoryAccess::kStore;
  evictions_.Take(memory_socket_.Write(&store, *start + delay));
}

[[gnu::noinline]] Cycle L2Slice::Read(LineAccess* request, Cycle arrival) {
  const Access access = Decode(*request, arrival);
  Line* line = Find(access);
  const unsigned passes = bytes_per_cycle_.Up(request->bytes) * (request->atomic() ? 2 : 1);
  bool hit = false;
  Cycle done = 0;
  if (line != nullptr && Missing(access, *line) == 0) {
    done = ReadPresent(access, line, passes, &hit);
  } else {
    Cycle start = arrival;
    if (line == nullptr) line = Replace(access, &start);
    done = Fetch(access, line, start, passes);
  }
  if (request->atomic()) Modify(access, line);
  Count(request, hit);
  return done;
}

inline void L2Slice::Count(LineAccess* request, bool hit) {
  ++stats_.l2_accesses[Index(request->kernel)];
  stats_.l2_hits[Index(request->kernel)] += hit;
  request->l2_hit = hit;
}

// Without sectors a line that is not whole is fetched whole.
unsigned L2Slice::Missing(const Access& access, const Line& line) const {
  if (!sectored_) return line.valid < kLineBytes ? kLineBytes : 0;
  return Bytes(static_cast<std::uint8_t>(access.line.sectors & ~line.valid));
}

inline Cycle L2Slice::Ready(const Access& access, const Line& line) const {
  if (line.ready <= access.arrival || !sectored_) return line.ready;
  return times_.Last(Number(line), access.line.sectors);
}

inline Cycle L2Slice::ReadPresent(const Access& access, Line* line, unsigned passes, bool* hit) {
  const Cycle ready = Ready(access, *line);
  *hit = ready <= access.arrival;
  if (*hit) return array_.Take(access.arrival, passes).end - passes + latency_;
  ++stats_.l2_merges[Index(access.line.kernel)];
  const Cycle out = array_.Take(ready, passes).end - passes;
  if (line->merges == merges_) return out + latency_;
  ++line->merges;
  return out;
}

// The data go on to the SM while the array is filled.
[[gnu::always_inline]] inline Cycle L2Slice::Fetch(const Access& access, Line* line, Cycle start,
                                                   unsigned passes) {
  start = std::max(start + latency_, mshrs_.next_free());
  const unsigned bytes = sectored_ ? Missing(access, *line) : kLineBytes;
  LineAccess fetch;
  fetch.address = line->address;
  fetch.bytes = bytes;
  fetch.kernel = access.line.kernel;
  fetch.sm = access.line.sm;
  Cycle ready = memory_socket_.Read(&fetch, start);
  line->merges = 0;
  mshrs_.Take(ready);
  if (sectored_) {
    ready = AddSectors(access.line.sectors, line, ready);
  } else {
    line->ready = static_cast<std::uint32_t>(ready);
    line->valid = kLineBytes;
  }
  passes = std::max(passes, bytes_per_cycle_.Up(bytes));
  return array_.Take(ready, passes).end - passes;
}

// Gives the line the missing sectors at `ready`; returns when all that are wanted are here.
// Those that were written have a time of the line before, when this one had no place yet.
[[gnu::noinline]] Cycle L2Slice::AddSectors(SectorMask wanted, Line* line, Cycle ready) {
  const std::size_t number = Number(*line);
  times_.Set(number, static_cast<SectorMask>(wanted & ~line->valid), ready);
  line->ready = std::max(line->ready, static_cast<std::uint32_t>(ready));
  ready = std::max(ready, times_.Last(number, wanted & line->valid));
  line->valid |= wanted;
  return ready;
}

[[gnu::noinline]] Cycle L2Slice::Write(LineAccess* request, Cycle arrival) {
  const Access access = Decode(*request, arrival);
  Line* line = Find(access);
  if (fetches_writes_ && (line == nullptr || line->ready > arrival)) {
    Count(request, false);
    return WriteMiss(access, line);
  }
  Count(request, line != nullptr);
  Cycle start = arrival;
  if (line == nullptr) line = Replace(access, &start);
  Modify(access, line);
  return array_.Take(start, bytes_per_cycle_.Up(request->bytes)).end + write_latency_;
}

// Accepted when the eviction buffer has a place for it. The data array takes the line that is read.
[[gnu::noinline]] Cycle L2Slice::WriteMiss(Access access, Line* line) {
  Cycle start = access.arrival;
  const bool fetch = line == nullptr;
  if (fetch) line = Replace(access, &start);
  WriteOut(*line, access.line.bytes, access.line.kernel, access.line.sm, latency_, &start);
  if (fetch) Fetch(access, line, start, 0);
  return start + write_latency_;
}

inline void L2Slice::Modify(const Access& access, Line* line) {
  if (sectored_) {
    line->valid |= access.line.sectors;
    line->dirty |= access.line.sectors;
  } else {
    line->valid = static_cast<std::uint8_t>(std::min(line->valid + access.line.bytes, kLineBytes));
    line->dirty = static_cast<std::uint8_t>(std::min(line->dirty + access.line.bytes, kLineBytes));
  }
  line->writer = access.line.kernel;
}

}  // namespace smk
