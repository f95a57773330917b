// SPDX-License-Identifier: Apache-2.0
#include "config/machine_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace smk {
namespace {

// Round numbers well beyond anything that was built, so that a slip of the keyboard is refused.
constexpr double kMaxLatency = 10000;   // cycles or clocks
constexpr double kMaxInitiation = 256;  // cycles
constexpr double kMaxEntries = 4096;    // of a queue or MSHR file
constexpr double kMaxClock = 10000;     // MHz

// Builds the list, table by table.
class KeyList {
 public:
  void Table(const std::string& path) { prefix_ = path.empty() ? "" : path + "."; }

  MachineKey& Integer(const char* name, unsigned* value, double min, double max, const char* unit,
                      const std::string& meaning) {
    keys_.push_back({prefix_ + name, unit, meaning, value, min, max});
    return keys_.back();
  }
  void Multiple(const char* name, unsigned* value, unsigned of, double min, double max,
                const char* unit, const std::string& meaning) {
    Integer(name, value, min, max, unit, meaning).multiple = of;
  }
  void PowerOfTwo(const char* name, unsigned* value, double min, double max, const char* unit,
                  const std::string& meaning) {
    Integer(name, value, min, max, unit, meaning).power_of_two = true;
  }
  void Number(const char* name, double* value, double min, double max, const char* unit,
              const std::string& meaning) {
    keys_.push_back({prefix_ + name, unit, meaning, value, min, max});
  }
  MachineKey& Text(const char* name, std::string* value, const char* unit,
                   const std::string& meaning) {
    keys_.push_back({prefix_ + name, unit, meaning, value});
    return keys_.back();
  }

  void Pipe(const char* path, PipeConfig* pipe, const std::string& what) {
    Table(path);
    Integer("latency", &pipe->latency, 0, kMaxLatency, "cycles",
            what + ": from issue to the use of the result");
    Integer("initiation", &pipe->initiation, 1, kMaxInitiation, "cycles",
            what + ": until its pipe takes the next");
  }
  void Cache(const char* path, CacheConfig* cache, double min_bytes, const std::string& what) {
    Table(path);
    Multiple("bytes", &cache->bytes, kLineBytes, min_bytes, 64 << 20, "bytes", what);
    Integer("ways", &cache->ways, 1, 64, "", "lines of a set");
    Integer("mshrs", &cache->mshrs, 1, kMaxEntries, "lines", "lines in flight");
    Integer("mshr_merges", &cache->mshr_merges, 0, 255, "",
            "accesses that one line in flight can serve");
    Integer("latency", &cache->latency, 1, kMaxLatency, "cycles", "of a hit");
  }
  std::vector<MachineKey> Take() { return std::move(keys_); }

 private:
  std::string prefix_;
  std::vector<MachineKey> keys_;
};

void AddSm(SmConfig* sm, NaturalLimits* limits, KeyList* keys) {
  keys->Table("sm");
  keys->Integer("schedulers", &sm->schedulers, 1, kMaxSchedulers, "", "warp schedulers of an SM");
  keys->Integer("warps_per_scheduler", &sm->warps_per_scheduler, 1, kMaxWarpsPerScheduler, "",
                "warps that one scheduler holds");
  keys->PowerOfTwo("fetch_warps", &sm->fetch_warps, 1, 8, "",
                   "warps per cycle for which the SM fetches");
  keys->Integer("fetch_width", &sm->fetch_width, 1, 16, "instructions",
                "one fetch, and the buffer of a warp");
  keys->Integer("fetch_line", &sm->fetch_line, 1, 4096, "instructions",
                "line of code, which a fetch does not cross");
  keys->Integer("fetch_latency", &sm->fetch_latency, 1, kMaxLatency, "cycles",
                "from a fetch until its first instruction can issue");
  keys->Integer("branch_latency", &sm->branch_latency, 1, kMaxLatency, "cycles",
                "from the fetch after a taken branch until its first instruction can issue");
  keys->Integer("lsu_queue", &sm->lsu_queue, 1, kMaxLsuQueue, "instructions",
                "memory instructions that wait at the SM's LSU");
  keys->PowerOfTwo("lsu_bytes", &sm->lsu_bytes, kSectorBytes, kLineBytes, "bytes",
                   "what passes the LSU per cycle where lines have sectors");
  MachineKey& full_set = keys->Text("l1_full_set", &sm->l1_full_set, "",
                                    "a miss of whose L1 set all lines are in flight: goes on "
                                    "without a place, or waits");
  for (const char* known : kL1FullSets) full_set.choices.emplace_back(known);
  MachineKey& flush =
      keys->Text("l1_flush", &sm->l1_flush, "",
                 "what invalidates the L1 of an SM: nothing, or the end of a kernel");
  for (const char* known : kL1Flushes) flush.choices.emplace_back(known);
  keys->Integer("stores", &sm->stores, 1, kMaxEntries, "lines",
                "stores of an SM on their way; without effect where xbar_order is turns");
  keys->Integer(
      "collectors", &sm->collectors, 0, kMaxCollectors, "",
      "operand collectors of a scheduler; 0: instructions wait for pipes before they issue");
  keys->Integer("operand_latency", &sm->operand_latency, 0, kMaxLatency, "cycles",
                "operand collection and write-back, in every result");
  keys->Integer("barrier_latency", &sm->barrier_latency, 1, kMaxLatency, "cycles",
                "from the last warp at a barrier until the warps continue");
  keys->Integer("warp_start_latency", &sm->warp_start_latency, 0, kMaxLatency, "cycles",
                "from the activation of a TB to its first issue");
  MachineKey& allocation =
      keys->Text("register_allocation", &sm->register_allocation, "",
                 "warps: whole warps, multiples of four per thread; threads: what they have");
  for (const char* known : kRegisterAllocations) allocation.choices.emplace_back(known);
  keys->Table("sm.limits");
  keys->Multiple("registers", &limits->registers, kRegisterUnit, kRegisterUnit, 1 << 20, "",
                 "32-bit registers of an SM");
  keys->Multiple("shared_memory", &limits->shared_memory, kSharedMemoryUnit, kSharedMemoryUnit,
                 1 << 20, "bytes", "shared memory of an SM");
  keys->Multiple("threads", &limits->threads, kThreadUnit, kThreadUnit, kMaxWarps * kWarpThreads,
                 "", "threads that an SM holds");
  keys->Integer("tbs", &limits->tbs, 1, kMaxTbSlots, "", "TBs that an SM holds");
  keys->Table("sm.units");
  keys->Integer("sp", &sm->units.sp, 1, kMaxSchedulers, "",
                "pipes of ordinary arithmetic; fewer than schedulers are shared");
  keys->Integer("sfu", &sm->units.sfu, 1, kMaxSchedulers, "",
                "pipes of special functions and integer multiplication");
  keys->Integer("dp", &sm->units.dp, 1, kMaxSchedulers, "", "pipes of double precision");
  keys->Integer("constant", &sm->units.constant, 0, kMaxSchedulers, "",
                "pipes of constant loads; 0: they go through the memory pipe");
  keys->Integer("memory", &sm->units.memory, 1, kMaxSchedulers, "",
                "memory instructions that enter the LSU per cycle");
  keys->Pipe("sm.alu", &sm->alu, "arithmetic");
  keys->Pipe("sm.imul", &sm->imul, "integer multiplication");
  keys->Pipe("sm.sfu", &sm->sfu, "special function");
  keys->Pipe("sm.dp", &sm->dp, "double precision");
  keys->Pipe("sm.shared", &sm->shared, "shared memory");
  keys->Pipe("sm.constant", &sm->constant, "constant load");
  keys->Table("sm.lsu");
  keys->Integer("latency", &sm->lsu.latency, 0, kMaxLatency, "cycles",
                "without effect: the latencies of the caches have it");
  keys->Integer("initiation", &sm->lsu.initiation, 1, kMaxInitiation, "cycles",
                "a line of global memory at the LSU");
  keys->Cache("sm.l1", &sm->l1, 0, "L1 of an SM; 0: none");
  keys->Table("sm.texture");
  keys->Multiple("bytes", &sm->texture.bytes, kLineBytes, 0, 64 << 20, "bytes",
                 "cache of textures; 0: they go through the L1");
  keys->Integer("ways", &sm->texture.ways, 1, 64, "", "lines of a set");
  keys->Integer("fifo", &sm->texture.fifo, 1, kMaxEntries, "",
                "accesses between tags and data, whose results come back in order");
  keys->Integer("latency", &sm->texture.latency, 1, kMaxLatency, "cycles", "of a hit");
}

void AddMemory(MemoryConfig* memory, KeyList* keys) {
  keys->Table("memory");
  MachineKey& model =
      keys->Text("model", &memory->model, "",
                 "what is behind the SMs; keys of memory but fixed_latency are of gddr");
  for (const char* known : kMemoryModels) model.choices.emplace_back(known);
  keys->Integer("fixed_latency", &memory->fixed_latency, 1, kMaxLatency, "cycles",
                "of every line in the model fixed");
  MachineKey& sector =
      keys->Integer("sector_bytes", &memory->sector_bytes, kSectorBytes, kLineBytes, "bytes",
                    "what loads ask for at least; 128: whole lines");
  for (const unsigned known : kSectorSizes) sector.choices.push_back(std::to_string(known));
  keys->Integer("xbar_latency", &memory->xbar_latency, 1, kMaxLatency, "cycles",
                "through the crossbar, one way");
  keys->Integer("xbar_bytes_per_cycle", &memory->xbar_bytes_per_cycle, 8, 1024, "bytes",
                "per port and direction of the crossbar; also the size of a flit");
  MachineKey& order = keys->Text(
      "xbar_order", &memory->xbar_order, "",
      "free: whose slice is free; fifo: in an SM's order; turns: ports serve SMs in turn");
  for (const char* known : kXbarOrders) order.choices.emplace_back(known);
  MachineKey& writes = keys->Text("writes", &memory->writes, "",
                                  "complete when the L2 takes them, or when their reply is back");
  for (const char* known : kWrites) writes.choices.emplace_back(known);
  keys->PowerOfTwo("l2_slices_per_controller", &memory->l2_slices_per_controller, 1, 8, "",
                   "L2 slices of a memory controller");
  keys->Integer("l2_bytes_per_cycle", &memory->l2_bytes_per_cycle, 8, 1024, "bytes",
                "data array of one L2 slice");
  keys->Integer("l2_eviction_buffer", &memory->l2_eviction_buffer, 1, kMaxEntries, "lines",
                "of one L2 slice, on their way to DRAM");
  MachineKey& write_miss =
      keys->Text("l2_write_miss", &memory->l2_write_miss, "",
                 "validate: what is written is known; fetch: to DRAM, and the line is read");
  for (const char* known : kL2WriteMisses) write_miss.choices.emplace_back(known);
  keys->Integer("controllers", &memory->controllers, 1, 128, "", "memory controllers");
  keys->PowerOfTwo("banks", &memory->banks, 1, 64, "", "DRAM banks of a controller");
  keys->PowerOfTwo("row_bytes", &memory->row_bytes, kLineBytes, 1 << 16, "bytes",
                   "row of a DRAM bank");
  keys->Number("dram_clock_mhz", &memory->dram_clock_mhz, 10, kMaxClock, "MHz",
               "command clock of the DRAM");
  keys->Integer("dram_bytes_per_clock", &memory->dram_bytes_per_clock, 4, 1024, "bytes",
                "data bus of a controller");
  struct Timing {
    const char* name;
    unsigned* value;
    double min, max;
    const char* meaning;
  };
  const std::array<Timing, 12> timings{
      {{"t_cl", &memory->t_cl, 1, 200, "tCL: from a read command to its data"},
       {"t_rcd", &memory->t_rcd, 1, 200, "tRCD: from the opening of a row to its first command"},
       {"t_rp", &memory->t_rp, 1, 200, "tRP: closing a row"},
       {"t_ras", &memory->t_ras, 1, 500, "tRAS: a row is open at least so long"},
       {"t_rc", &memory->t_rc, 1, 500, "tRC: between two openings in a bank"},
       {"t_rrd", &memory->t_rrd, 1, 64, "tRRD: between two openings in a channel"},
       {"t_ccd", &memory->t_ccd, 1, 16, "tCCD: between two column commands"},
       {"t_wr", &memory->t_wr, 0, 200,
        "tWR: from the last data of a write to the closing of its row"},
       {"t_wl", &memory->t_wl, 0, 200, "tWL: from a write command to its data"},
       {"t_wtr", &memory->t_wtr, 0, 200, "tWTR: from the last data of a write to a read command"},
       {"t_refi", &memory->t_refi, 1024, 1e6, "tREFI: between two refreshes"},
       {"t_rfc", &memory->t_rfc, 0, 512, "tRFC: length of a refresh"}}};
  for (const Timing& t : timings) keys->Integer(t.name, t.value, t.min, t.max, "clocks", t.meaning);
  keys->Integer("dram_queue", &memory->dram_queue, 1, kMaxEntries, "",
                "reads that a controller can reorder");
  keys->Integer("write_batch", &memory->write_batch, 1, kMaxEntries, "",
                "writes that a controller drains together");
  keys->Integer("dram_latency", &memory->dram_latency, 0, kMaxLatency, "cycles",
                "controller and pins, besides the timings");
  MachineKey& partition =
      keys->Text("partition", &memory->partition, "",
                 "how lines come to slices: chunks in turn, or each line by chance");
  for (const char* known : kPartitions) partition.choices.emplace_back(known);
  keys->PowerOfTwo("interleave_bytes", &memory->interleave_bytes, kLineBytes, 1 << 16, "bytes",
                   "consecutive bytes on one controller");
  keys->Cache("memory.l2", &memory->l2, kLineBytes, "one L2 slice");
}

void AddHost(HostLink* host, KeyList* keys) {
  keys->Table("host");
  keys->Number("copy_bandwidth", &host->copy_bandwidth, 0.001, 10000, "GB/s",
               "copies between host and GPU, each direction");
  keys->Integer("copy_latency", &host->copy_latency, 0, 1e7, "cycles",
                "of a copy, besides its bytes");
  keys->Integer("memory", &host->memory, 1, 1 << 20, "MB", "memory of the GPU");
  keys->Integer("merge_spoof", &host->merge_spoof, 0, 4096, "instructions",
                "of each warp of a merged launch before each TB: the ids it is to see");
  keys->Integer("merge_registers", &host->merge_registers, 0, 255, "registers",
                "of a thread of a merged launch, at least");
  MachineKey& barrier = keys->Text("merge_barrier", &host->merge_barrier, "",
                                   "whom a barrier of a merged launch waits for: all warps of the "
                                   "group, or those of its TB");
  for (const char* known : kMergeBarriers) barrier.choices.emplace_back(known);
  MachineKey& queue = keys->Text("merge_queue", &host->merge_queue, "",
                                 "of a merged launch: a counter in memory, or hardware that "
                                 "answers a group per cycle");
  for (const char* known : kMergeQueues) queue.choices.emplace_back(known);
  keys->Integer("merge_queue_latency", &host->merge_queue_latency, 1, kMaxLatency, "cycles",
                "from a group's request to the answer of a queue in hardware, when no other asks");
}

// Shortest text that reads back as the same number.
std::string Shortest(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) {
    return std::to_string(static_cast<long long>(number));
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace

NaturalLimits NaturalLimits::Of(const ResourceVector& limits) {
  return {limits.registers * kRegisterUnit, limits.shared_memory * kSharedMemoryUnit,
          limits.threads * kThreadUnit, limits.tbs};
}

ResourceVector NaturalLimits::ToUnits() const {
  ResourceVector units;
  units.registers = static_cast<std::uint16_t>(registers / kRegisterUnit);
  units.shared_memory = static_cast<std::uint16_t>(shared_memory / kSharedMemoryUnit);
  units.threads = static_cast<std::uint16_t>(threads / kThreadUnit);
  units.tbs = static_cast<std::uint16_t>(tbs);
  return units;
}

std::string MachineKey::Expected() const {
  if (!choices.empty()) {
    std::string names;
    for (const std::string& name : choices) names += (names.empty() ? "one of " : ", ") + name;
    return names;
  }
  if (std::holds_alternative<std::string*>(value)) return "a text that is not empty";
  std::string kind = "an integer";
  if (std::holds_alternative<double*>(value)) kind = "a number";
  if (multiple > 1) kind = "a multiple of " + std::to_string(multiple);
  if (power_of_two) kind = "a power of two";
  return kind + " from " + Shortest(min) + " to " + Shortest(max);
}

bool MachineKey::IsChoice(const std::string& text) const {
  return choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end();
}

bool MachineKey::Store(double number) const {
  if (!(number >= min && number <= max)) return false;
  if (auto* const* real = std::get_if<double*>(&value)) {
    **real = number;
    return true;
  }
  auto* const* integer = std::get_if<unsigned*>(&value);
  if (integer == nullptr || number != std::floor(number)) return false;
  const auto whole = static_cast<unsigned>(number);
  if (whole % multiple != 0 || (power_of_two && (whole & (whole - 1)) != 0)) return false;
  if (!IsChoice(std::to_string(whole))) return false;
  **integer = whole;
  return true;
}

bool MachineKey::Store(const std::string& text) const {
  auto* const* target = std::get_if<std::string*>(&value);
  if (target == nullptr || text.empty()) return false;
  if (!IsChoice(text)) return false;
  **target = text;
  return true;
}

bool MachineKey::Holds() const {
  if (auto* const* real = std::get_if<double*>(&value)) return Store(**real);
  if (auto* const* integer = std::get_if<unsigned*>(&value)) {
    return Store(static_cast<double>(**integer));
  }
  return Store(**std::get_if<std::string*>(&value));
}

std::string MachineKey::Print() const {
  if (auto* const* real = std::get_if<double*>(&value)) return Shortest(**real);
  if (auto* const* integer = std::get_if<unsigned*>(&value)) return std::to_string(**integer);
  std::string quoted = "\"";
  for (const char c : **std::get_if<std::string*>(&value)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<MachineKey> MachineKeys(MachineConfig* machine, NaturalLimits* limits) {
  KeyList keys;
  keys.Text("name", &machine->name, "", "name of the machine");
  keys.Number("core_clock_mhz", &machine->core_clock_mhz, 10, kMaxClock, "MHz",
              "clock of SMs, crossbar and L2");
  keys.Integer("sms", &machine->sms, 1, kMaxSms, "", "SMs of the GPU");
  keys.Integer("launch_latency", &machine->launch_latency, 0, 1e6, "cycles",
               "from a kernel's end to the program's next launch");
  MachineKey& starts =
      keys.Text("tb_starts", &machine->tb_starts, "",
                "alone: a TB begins when it is on its SM; waves: when one per SM is there");
  for (const char* known : kTbStarts) starts.choices.emplace_back(known);
  AddSm(&machine->sm, limits, &keys);
  AddMemory(&machine->memory, &keys);
  AddHost(&machine->host, &keys);
  return keys.Take();
}

}  // namespace smk
