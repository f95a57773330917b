// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_controller.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "memory/address_map.h"

namespace smk {
namespace {

// Clocks that the calendars of a channel look ahead. Reads are bounded by the queue, but all of
// them may wait for one bank: 64 x tRC is 2,560 clocks.
constexpr unsigned kChannelWindow = 16384;
// Ratios of clocks are rounded to 32 bits behind the point. They are kept with 48, and times with
// 16, so that the whole part of a product is a word.
constexpr unsigned kTimeBits = 16;
constexpr double kOne = 4294967296.0;

std::uint64_t Ratio(double over, double under) {
  return static_cast<std::uint64_t>(std::llround(over / under * kOne)) << kTimeBits;
}

unsigned DivideUp(unsigned a, unsigned b) { return (a + b - 1) / b; }

// Column commands are reserved at multiples of tCCD.
unsigned Slots(unsigned clocks, const MemoryConfig& config) {
  return DivideUp(clocks, config.t_ccd);
}

}  // namespace

MemoryController::MemoryController(sc_core::sc_module_name name, const MachineConfig& machine,
                                   unsigned ports)
    : sc_core::sc_module(name),
      config_(machine.memory),
      clocks_per_cycle_(Ratio(machine.memory.dram_clock_mhz, machine.core_clock_mhz)),
      cycles_per_clock_(Ratio(machine.core_clock_mhz, machine.memory.dram_clock_mhz)),
      bytes_per_slot_(config_.dram_bytes_per_clock * config_.t_ccd),
      clocks_per_slot_(config_.t_ccd),
      column_bits_(Log2(config_.row_bytes / kLineBytes)),
      bank_bits_(Log2(config_.banks)),
      // From the last read to the first write the bus idles for one burst; back again, a read may
      // be commanded tWTR after the last data, and its data come tCL later.
      turnaround_slots_(Slots(config_.t_ccd + config_.t_wtr + config_.t_cl, config_)),
      banks_(config_.banks),
      bus_(kChannelWindow, config_.t_refi / config_.t_ccd, Slots(config_.t_rfc, config_)),
      activations_(kChannelWindow),
      queue_(config_.dram_queue) {
  batch_.reserve(config_.write_batch);
  for (unsigned port = 0; port < ports; ++port) {
    sockets_.push_back(
        std::make_unique<tlm::tlm_target_socket<>>(("port_" + std::to_string(port)).c_str()));
    sockets_.back()->bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
}

// Rounded up. A time has at most 48 bits.
inline std::uint64_t MemoryController::Scale(std::uint64_t value, std::uint64_t ratio) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(value << kTimeBits) * ratio;
  return static_cast<std::uint64_t>(product >> 64) + (static_cast<std::uint64_t>(product) != 0);
}

// Line number from the low bits: column, bank, row. The bank is exclusive-or'ed with the row's
// bits, so that strides of whole rows walk through the banks.
inline MemoryController::Location MemoryController::Locate(std::uint64_t local_address,
                                                           unsigned bytes) const {
  const std::uint64_t row_and_bank = local_address / kLineBytes >> column_bits_;
  const std::uint64_t row = row_and_bank >> bank_bits_;
  const std::uint64_t bank = row_and_bank ^ Scatter(row);
  return {static_cast<unsigned>(bank) & (config_.banks - 1), bytes_per_slot_.Up(bytes), row};
}

Cycle MemoryController::Serve(LineAccess* access, Cycle arrival) {
  return access->store() ? Write(access, arrival) : Read(access, arrival);
}

// What a Move says of the access, but for its end. 0 if it is of a context.
[[gnu::always_inline]] inline std::uint64_t MemoryController::Count(const LineAccess& access,
                                                                    bool store) {
  const unsigned kernel = Index(access.kernel);
  const unsigned bytes = DivideUp(access.bytes, kSectorBytes) * kSectorBytes;
  if (access.context()) {
    stats_.context_bytes[kernel] += bytes;
    return 0;
  }
  (store ? stats_.dram_write_bytes : stats_.dram_read_bytes)[kernel] += bytes;
  return kernel << Move::kKernelBit | bytes | (store ? 1u : 0u);
}

// `end`: when the data have passed the bus, or are in the write buffer.
inline void MemoryController::Note(std::uint64_t move, DramClock end) {
  if (move == 0) return;
  moves_[moved_++ % moves_.size()].word = end << Move::kEndBit | move;
}

MemoryStats MemoryController::stats(Cycle now) const {
  MemoryStats stats = stats_;
  constexpr Cycle kFar = Cycle{1} << 44;  // what a Move can say
  const DramClock clock = ToClocks(std::min(now, kFar));
  for (const Move& move : moves_) {
    if (move.end() <= clock) continue;
    (move.store() ? stats.dram_write_bytes : stats.dram_read_bytes)[move.kernel()] -= move.bytes();
  }
  return stats;
}

Cycle MemoryController::Read(LineAccess* access, Cycle arrival) {
  const Location where = Locate(access->address, access->bytes);
  const DramClock enters = std::max(ToClocks(arrival), queue_.next_free());
  const std::uint64_t move = Count(*access, false);
  const DramClock leaves = Plan(where, enters, 0);
  queue_.Take(leaves);
  const DramClock done = leaves + config_.t_cl;
  Note(move, done);
  return ToCoreCycles(done) + config_.dram_latency;
}

Cycle MemoryController::Write(LineAccess* access, Cycle arrival) {
  const DramClock now = std::max(ToClocks(arrival), drained_[half_]);
  Note(Count(*access, true), now);
  batch_.push_back(Locate(access->address, access->bytes));
  if (batch_.size() == config_.write_batch) {
    drained_[half_] = DrainWrites(now);
    half_ ^= 1;
  }
  return std::max(arrival, ToCoreCycles(now));
}

// Returns when the last write of the batch has left the buffer.
[[gnu::noinline]] DramClock MemoryController::DrainWrites(DramClock now) {
  DramClock slot = clocks_per_slot_.Down(now);
  for (unsigned gap = turnaround_slots_; gap != 0; --gap) slot = bus_.Take(slot, 1).end;
  DramClock last = now;
  for (const Location& where : batch_) {
    last = std::max(last, Plan(where, now, config_.t_wl + config_.t_wr));
  }
  batch_.clear();
  return last;
}

// Inlined where reads are served. A batch of writes is planned out of line.
[[gnu::always_inline]] inline DramClock MemoryController::Plan(const Location& where, DramClock now,
                                                               unsigned recovery) {
  DramBank& bank = banks_[where.bank];
  DramClock column = 0;
  if (bank.Join(where.row, now, &column)) {
    ++stats_.row_hits;
  } else {
    ++stats_.row_misses;
    const DramClock activate =
        activations_.TakeRun(bank.EarliestActivate(now, config_), config_.t_rrd).begin;
    bank.Open(where.row, activate, config_);
    column = activate + config_.t_rcd;
  }
  const DramClock end = bus_.Take(clocks_per_slot_.Up(column), where.slots).end * config_.t_ccd;
  bank.Use(where.row, end + recovery, where.slots * config_.t_ccd);
  return end;
}

}  // namespace smk
