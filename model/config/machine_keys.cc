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

  MachineKey& Integer(const char* name, unsigned* value, double min, double max) {
    keys_.push_back({prefix_ + name, value, min, max});
    return keys_.back();
  }
  void Multiple(const char* name, unsigned* value, unsigned of, double min, double max) {
    Integer(name, value, min, max).multiple = of;
  }
  void PowerOfTwo(const char* name, unsigned* value, double min, double max) {
    Integer(name, value, min, max).power_of_two = true;
  }
  void Number(const char* name, double* value, double min, double max) {
    keys_.push_back({prefix_ + name, value, min, max});
  }
  MachineKey& Text(const char* name, std::string* value) {
    keys_.push_back({prefix_ + name, value});
    return keys_.back();
  }

  void Pipe(const char* path, PipeConfig* pipe) {
    Table(path);
    Integer("latency", &pipe->latency, 0, kMaxLatency);
    Integer("initiation", &pipe->initiation, 1, kMaxInitiation);
  }
  void Cache(const char* path, CacheConfig* cache, double min_bytes) {
    Table(path);
    Multiple("bytes", &cache->bytes, kLineBytes, min_bytes, 64 << 20);
    Integer("ways", &cache->ways, 1, 64);
    Integer("mshrs", &cache->mshrs, 1, kMaxEntries);
    Integer("mshr_merges", &cache->mshr_merges, 0, 255);
    Integer("latency", &cache->latency, 1, kMaxLatency);
  }
  std::vector<MachineKey> Take() { return std::move(keys_); }

 private:
  std::string prefix_;
  std::vector<MachineKey> keys_;
};

void AddSm(SmConfig* sm, NaturalLimits* limits, KeyList* keys) {
  keys->Table("sm");
  keys->Integer("schedulers", &sm->schedulers, 1, kMaxSchedulers);
  keys->Integer("warps_per_scheduler", &sm->warps_per_scheduler, 1, kMaxWarpsPerScheduler);
  keys->PowerOfTwo("fetch_warps", &sm->fetch_warps, 1, 8);
  keys->Integer("fetch_width", &sm->fetch_width, 1, 16);
  keys->Integer("fetch_line", &sm->fetch_line, 1, 4096);
  keys->Integer("fetch_latency", &sm->fetch_latency, 1, kMaxLatency);
  keys->Integer("branch_latency", &sm->branch_latency, 1, kMaxLatency);
  keys->Integer("lsu_queue", &sm->lsu_queue, 1, kMaxLsuQueue);
  keys->PowerOfTwo("lsu_bytes", &sm->lsu_bytes, kSectorBytes, kLineBytes);
  keys->Integer("operand_latency", &sm->operand_latency, 0, kMaxLatency);
  keys->Integer("barrier_latency", &sm->barrier_latency, 1, kMaxLatency);
  keys->Integer("warp_start_latency", &sm->warp_start_latency, 0, kMaxLatency);
  keys->Table("sm.limits");
  keys->Multiple("registers", &limits->registers, kRegisterUnit, kRegisterUnit, 1 << 20);
  keys->Multiple("shared_memory", &limits->shared_memory, kSharedMemoryUnit, kSharedMemoryUnit,
                 1 << 20);
  keys->Multiple("threads", &limits->threads, kThreadUnit, kThreadUnit, kMaxWarps * kWarpThreads);
  keys->Integer("tbs", &limits->tbs, 1, kMaxTbSlots);
  keys->Table("sm.units");
  keys->Integer("sp", &sm->units.sp, 1, kMaxSchedulers);
  keys->Integer("sfu", &sm->units.sfu, 1, kMaxSchedulers);
  keys->Integer("dp", &sm->units.dp, 1, kMaxSchedulers);
  keys->Integer("constant", &sm->units.constant, 0, kMaxSchedulers);
  keys->Integer("memory", &sm->units.memory, 1, kMaxSchedulers);
  keys->Pipe("sm.alu", &sm->alu);
  keys->Pipe("sm.imul", &sm->imul);
  keys->Pipe("sm.sfu", &sm->sfu);
  keys->Pipe("sm.dp", &sm->dp);
  keys->Pipe("sm.shared", &sm->shared);
  keys->Pipe("sm.constant", &sm->constant);
  keys->Pipe("sm.lsu", &sm->lsu);
  keys->Cache("sm.l1", &sm->l1, 0);
  keys->Table("sm.texture");
  keys->Multiple("bytes", &sm->texture.bytes, kLineBytes, 0, 64 << 20);
  keys->Integer("ways", &sm->texture.ways, 1, 64);
  keys->Integer("fifo", &sm->texture.fifo, 1, kMaxEntries);
  keys->Integer("latency", &sm->texture.latency, 1, kMaxLatency);
}

void AddMemory(MemoryConfig* memory, KeyList* keys) {
  keys->Table("memory");
  MachineKey& model = keys->Text("model", &memory->model);
  for (const char* known : kMemoryModels) model.choices.emplace_back(known);
  keys->Integer("fixed_latency", &memory->fixed_latency, 1, kMaxLatency);
  keys->PowerOfTwo("sector_bytes", &memory->sector_bytes, kSectorBytes, kLineBytes);
  keys->Integer("xbar_latency", &memory->xbar_latency, 1, kMaxLatency);
  keys->Integer("xbar_bytes_per_cycle", &memory->xbar_bytes_per_cycle, 8, 1024);
  MachineKey& order = keys->Text("xbar_order", &memory->xbar_order);
  for (const char* known : kXbarOrders) order.choices.emplace_back(known);
  keys->PowerOfTwo("l2_slices_per_controller", &memory->l2_slices_per_controller, 1, 8);
  keys->Integer("l2_bytes_per_cycle", &memory->l2_bytes_per_cycle, 8, 1024);
  keys->Integer("l2_eviction_buffer", &memory->l2_eviction_buffer, 1, kMaxEntries);
  keys->Integer("controllers", &memory->controllers, 1, 128);
  keys->PowerOfTwo("banks", &memory->banks, 1, 64);
  keys->PowerOfTwo("row_bytes", &memory->row_bytes, kLineBytes, 1 << 16);
  keys->Number("dram_clock_mhz", &memory->dram_clock_mhz, 10, kMaxClock);
  keys->Integer("dram_bytes_per_clock", &memory->dram_bytes_per_clock, 4, 1024);
  struct Timing {
    const char* name;
    unsigned* value;
    double min, max;
  };
  const std::array<Timing, 12> timings{{{"t_cl", &memory->t_cl, 1, 200},
                                        {"t_rcd", &memory->t_rcd, 1, 200},
                                        {"t_rp", &memory->t_rp, 1, 200},
                                        {"t_ras", &memory->t_ras, 1, 500},
                                        {"t_rc", &memory->t_rc, 1, 500},
                                        {"t_rrd", &memory->t_rrd, 1, 64},
                                        {"t_ccd", &memory->t_ccd, 1, 16},
                                        {"t_wr", &memory->t_wr, 0, 200},
                                        {"t_wl", &memory->t_wl, 0, 200},
                                        {"t_wtr", &memory->t_wtr, 0, 200},
                                        {"t_refi", &memory->t_refi, 1024, 1e6},
                                        {"t_rfc", &memory->t_rfc, 0, 512}}};
  for (const Timing& t : timings) keys->Integer(t.name, t.value, t.min, t.max);
  keys->Integer("dram_queue", &memory->dram_queue, 1, kMaxEntries);
  keys->Integer("write_batch", &memory->write_batch, 1, kMaxEntries);
  keys->Integer("dram_latency", &memory->dram_latency, 0, kMaxLatency);
  keys->PowerOfTwo("interleave_bytes", &memory->interleave_bytes, kLineBytes, 1 << 16);
  keys->Cache("memory.l2", &memory->l2, kLineBytes);
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
  **integer = whole;
  return true;
}

bool MachineKey::Store(const std::string& text) const {
  auto* const* target = std::get_if<std::string*>(&value);
  if (target == nullptr || text.empty()) return false;
  const bool known = std::find(choices.begin(), choices.end(), text) != choices.end();
  if (!choices.empty() && !known) return false;
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
  keys.Text("name", &machine->name);
  keys.Number("core_clock_mhz", &machine->core_clock_mhz, 10, kMaxClock);
  keys.Integer("sms", &machine->sms, 1, kMaxSms);
  keys.Integer("launch_latency", &machine->launch_latency, 0, 1e6);
  AddSm(&machine->sm, limits, &keys);
  AddMemory(&machine->memory, &keys);
  return keys.Take();
}

}  // namespace smk
