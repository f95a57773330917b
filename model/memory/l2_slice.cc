// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_slice.h"

#include <algorithm>

#include "memory/address_map.h"

namespace smk {
namespace {

constexpr unsigned kArrayWindow = 8192;  // cycles that the data array's calendar looks ahead
constexpr std::uint32_t kNoTag = ~std::uint32_t{0};

}  // namespace

L2Slice::L2Slice(sc_core::sc_module_name name, const MemoryConfig& config)
    : sc_core::sc_module(name),
      socket_("socket"),
      memory_socket_("memory_socket"),
      ways_(config.l2.ways),
      set_bits_(Log2(config.l2.bytes / kLineBytes / config.l2.ways)),
      chunk_bits_(Log2(config.interleave_bytes / kLineBytes)),
      slice_bits_(Log2(config.l2_slices_per_controller)),
      merges_(config.l2.mshr_merges),
      bytes_per_cycle_(config.l2_bytes_per_cycle),
      sectored_(config.sector_bytes != kLineBytes),
      latency_(config.l2.latency),
      write_latency_(config.writes == "acknowledged" ? config.l2.latency : 0),
      tags_(config.l2.bytes / kLineBytes, kNoTag),
      used_(config.l2.bytes / kLineBytes),
      lines_(config.l2.bytes / kLineBytes),
      array_(kArrayWindow),
      mshrs_{std::vector<Cycle>(config.l2.mshrs), 0},
      evictions_{std::vector<Cycle>(config.l2_eviction_buffer), 0} {
  socket_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

void L2Slice::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto& extension = *payload.get_extension<MemoryExtension>();
  const TransportClock clock;
  const Access access = Decode(payload, extension, clock.RequestCycle(delay));
  Line* const line = Find(access);
  bool hit = line != nullptr;
  const bool read = payload.is_read() || access.atomic;
  clock.DelayUntil(read ? Read(access, line, &hit) : Write(access, line), delay);
  ++stats_.l2_accesses[Index(access.kernel)];
  stats_.l2_hits[Index(access.kernel)] += hit;
  extension.l2_hit = hit;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// The slice's lines are numbered densely: the bits that chose the slice are left out. The set is a
// hash of the number that keeps every aligned run of as many lines as there are sets free of
// conflicts.
L2Slice::Access L2Slice::Decode(const tlm::tlm_generic_payload& payload,
                                const MemoryExtension& extension, Cycle arrival) const {
  const std::uint64_t line = payload.get_address() / kLineBytes;
  const std::uint64_t in_chunk = line & ((1u << chunk_bits_) - 1);
  const std::uint64_t number = line >> chunk_bits_ >> slice_bits_ << chunk_bits_ | in_chunk;
  const std::uint64_t tag = number >> set_bits_;
  const std::uint64_t set = (number ^ Scatter(tag)) & ((1u << set_bits_) - 1);
  return {payload.get_address(),
          payload.get_data_length(),
          extension.sectors,
          extension.atomic,
          extension.kernel,
          extension.sm,
          arrival,
          static_cast<unsigned>(set) * ways_,
          static_cast<std::uint32_t>(tag)};
}

L2Slice::Line* L2Slice::Find(const Access& access) {
  const std::uint32_t* tags = &tags_[access.set];
  for (unsigned way = 0; way < ways_; ++way) {
    if (tags[way] == access.tag) {
      used_[access.set + way] = ++accesses_;
      return &lines_[access.set + way];
    }
  }
  return nullptr;
}

// The way of the least recently used line that is not in flight; when all are, of the first that
// will be there.
unsigned L2Slice::Victim(unsigned set, Cycle arrival) const {
  const std::uint64_t* const used = &used_[set];
  unsigned victim = 0;
  std::uint64_t least = used[0];
  for (unsigned way = 1; way < ways_; ++way) {
    victim = used[way] < least ? way : victim;
    least = used[way] < least ? used[way] : least;
  }
  if (lines_[set + victim].ready <= arrival) return victim;
  return VictimInFlight(set, arrival);
}

// The same when the least recently used line is in flight.
[[gnu::noinline]] unsigned L2Slice::VictimInFlight(unsigned set, Cycle arrival) const {
  constexpr std::uint64_t kInFlight = std::uint64_t{1} << 63;
  unsigned victim = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned way = 0; way < ways_; ++way) {
    const Cycle ready = lines_[set + way].ready;
    const std::uint64_t rank = ready > arrival ? ready | kInFlight : used_[set + way];
    victim = rank < least ? way : victim;
    least = rank < least ? rank : least;
  }
  return victim;
}

// Gives the access a line. When all are in flight, it starts when the victim is there.
L2Slice::Line* L2Slice::Replace(const Access& access, Cycle* start) {
  const unsigned victim = access.set + Victim(access.set, access.arrival);
  Line& line = lines_[victim];
  *start = std::max(*start, line.ready);
  if (line.dirty != 0) Evict(line, access.sm, start);
  tags_[victim] = access.tag;
  line = Line{};
  line.address = access.address;
  used_[victim] = ++accesses_;
  return &line;
}

// Sends one of our own requests to the controller; its completion.
Cycle L2Slice::Forward(MemoryTransaction& request, Cycle start) {
  const TransportClock clock;
  sc_core::sc_time delay;
  clock.DelayUntil(start, delay);
  memory_socket_->b_transport(request.payload(), delay);
  return clock.RequestCycle(delay);
}

// The replacement waits until the eviction buffer has a place.
void L2Slice::Evict(const Line& line, SmId sm, Cycle* start) {
  *start = std::max(*start, evictions_.Next());
  eviction_.SetWrite(line.address, Bytes(line.dirty));
  eviction_.extension().kernel = line.writer;
  eviction_.extension().sm = sm;
  evictions_.Fill(Forward(eviction_, *start));
}

Cycle L2Slice::Read(const Access& access, Line* line, bool* hit) {
  const unsigned passes = bytes_per_cycle_.Up(access.bytes) * (access.atomic ? 2 : 1);
  Cycle done = 0;
  if (line == nullptr) {
    Cycle start = access.arrival;
    line = Replace(access, &start);
    done = Fetch(access, line, start, passes);
  } else if (Missing(access, *line) != 0) {
    *hit = false;
    done = Fetch(access, line, access.arrival, passes);
  } else {
    done = ReadPresent(access, line, passes, hit);
  }
  if (access.atomic) Modify(access, line);
  return done;
}

// Without sectors a line that is not whole is fetched whole.
unsigned L2Slice::Missing(const Access& access, const Line& line) const {
  if (!sectored_) return line.valid < kLineBytes ? kLineBytes : 0;
  return Bytes(static_cast<std::uint8_t>(access.sectors & ~line.valid));
}

Cycle L2Slice::ReadPresent(const Access& access, Line* line, unsigned passes, bool* hit) {
  if (line->ready <= access.arrival) {
    return array_.Take(access.arrival, passes).end - passes + latency_;
  }
  *hit = false;
  ++stats_.l2_merges[Index(access.kernel)];
  const Cycle out = array_.Take(line->ready, passes).end - passes;
  if (line->merges == merges_) return out + latency_;
  ++line->merges;
  return out;
}

// The data go on to the SM while the array is filled.
Cycle L2Slice::Fetch(const Access& access, Line* line, Cycle start, unsigned passes) {
  start = std::max(start + latency_, mshrs_.Next());
  const unsigned bytes = Missing(access, *line);
  fetch_.SetRead(line->address, bytes);
  fetch_.extension().kernel = access.kernel;
  fetch_.extension().sm = access.sm;
  line->ready = Forward(fetch_, start);
  line->valid = sectored_ ? line->valid | access.sectors : kLineBytes;
  line->merges = 0;
  mshrs_.Fill(line->ready);
  passes = std::max(passes, bytes_per_cycle_.Up(bytes));
  return array_.Take(line->ready, passes).end - passes;
}

Cycle L2Slice::Write(const Access& access, Line* line) {
  Cycle start = access.arrival;
  if (line == nullptr) line = Replace(access, &start);
  Modify(access, line);
  return array_.Take(start, bytes_per_cycle_.Up(access.bytes)).end + write_latency_;
}

void L2Slice::Modify(const Access& access, Line* line) {
  if (sectored_) {
    line->valid |= access.sectors;
    line->dirty |= access.sectors;
  } else {
    line->valid = static_cast<std::uint8_t>(std::min(line->valid + access.bytes, kLineBytes));
    line->dirty = static_cast<std::uint8_t>(std::min(line->dirty + access.bytes, kLineBytes));
  }
  line->writer = access.kernel;
}

}  // namespace smk
