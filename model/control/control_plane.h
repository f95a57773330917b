// SPDX-License-Identifier: Apache-2.0
// The seam between the control plane (RTL or its C++ reference) and the machine model.
//
// Purpose     Every signal that crosses between SMK's control logic and the GPU around it, and the
//             one interface, ControlPlane, behind which the two implementations stand.
// Paper       [SMK] Sec. 5, Fig. 3.
// Timing      One call of each kind per simulated cycle: BeginCycle, PrepareSms for those who ask
//             for it, StepSm for each SM that must run, EndCycle. Inputs are registers of the
//             machine; outputs of StepSm are combinational in the same cycle, and state changes at
//             its end. Driver and SMs see each other's outputs one cycle later (registers).
// Idle        An SM is stepped only in cycles in which a warp is ready, an input pulses, or
//             `awake_sms()` names it; skipping it in any other cycle changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/lane_layout.h"
#include "base/resources.h"
#include "base/sm_mask.h"

namespace smk {

// How thread blocks are placed (configuration input of the hardware, not of the machine).
enum class DispatchMode : std::uint8_t {
  kLeftover,     // kernels in order of arrival; the next takes what is left over
  kEven,         // every kernel gets 1/K of each resource of every SM
  kSpatial,      // every kernel gets 1/K of the SMs; one kernel per SM
  kOnDemand,     // SMK Fig. 4
  kPartitioned,  // SMK Fig. 6 and 7
  kTable,        // fixed TB counts per kernel and SM
  kSlicer,       // partitions by water-filling of profiled kernels [Warped-Slicer]
  kToken,        // all SMs are the token's holder's, for a quota of cycles [Gemini]
};

// How an SM changes hands under DispatchMode::kSpatial and kToken, and how TBs that are out of
// place in a new partition leave under kSlicer, which knows no kFlush.
enum class PreemptMode : std::uint8_t {
  kSwitch,   // save every TB of the SM
  kDrain,    // let every TB finish
  kFlush,    // drop idempotent TBs and start them again later; save the others
  kChimera,  // of the three, for each TB, the one that costs least [Chimera]
};

enum class WarpPolicy : std::uint8_t { kGto, kLrr };

// When quotas are loaded anew: when all are spent, or with each tick as well.
enum class EpochEnd : std::uint8_t { kSpent, kTick };

// Parameters of the hardware: fixed when it is built.
struct ControlConfig {
  unsigned num_sms = 16;
  unsigned num_kernels = kNumKernels;  // kernel slots
  unsigned num_schedulers = 4;
  unsigned warps_per_scheduler = 16;
  ResourceVector limits{256, 384, 64, 32};  // per SM, allocation units
  unsigned preempted_depth = 512;           // preempted TBs per kernel that can wait
  // Relay stations between the driver and each SM: link_stages, and 0 to link_spread more that
  // depend on the SM and on link_seed.
  std::uint8_t link_stages = 0;
  std::uint8_t link_spread = 0;
  std::uint32_t link_seed = 1;
  unsigned LinkStages(unsigned sm) const {
    std::uint64_t x = (std::uint64_t{link_seed} << 32 | sm) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
    return link_stages + static_cast<unsigned>((x ^ x >> 29) % (link_spread + 1u));
  }
};

// The whole usage window of tokens, in units.
inline constexpr std::uint16_t kTokenWhole = 1024;

// Configuration inputs of the hardware: constant during a run.
struct PolicyConfig {
  DispatchMode dispatch = DispatchMode::kPartitioned;
  PreemptMode preempt = PreemptMode::kSwitch;
  WarpPolicy warp_policy = WarpPolicy::kGto;
  // TBs one per cycle, in modes in which room is a question of the SM alone.
  bool stream = true;
  bool quota_enable = false;  // SMK Sec. 5.4; dedicates one SM per kernel
  bool quota_gate = true;     // false: quotas are not put in force
  EpochEnd epoch_end = EpochEnd::kSpent;
  // On demand: where TBs left for a kernel, none leave for another before the second tick [D22].
  bool preempt_guard = false;
  // Left-over: a kernel waits until the older ones have dispatched all their TBs [D14].
  bool leftover_strict = false;
  std::uint8_t kernels_per_sm = kNumKernels;      // 2 for SMK-(P+W)2
  std::array<std::uint8_t, kMaxKernels> table{};  // kTable: TBs per SM of each kernel slot
  std::uint16_t epoch_length = 10000;             // instructions per scheduler and epoch
  std::uint16_t linger_ticks = 2;  // ticks before a finished kernel's place is given away
  std::uint8_t latency_scale = 1;  // slows every driver decision by this factor
  // kSlicer: cycles before the first window of a profile, before each further one, of a window, and
  // before a plan is asked for.
  std::uint16_t slicer_warmup = 20'000;
  std::uint16_t slicer_settle = 5'000;
  std::uint16_t slicer_window = 5'000;
  std::uint16_t slicer_delay = 0;
  // A kernel is profiled again when its IPC is by more than 2^-change of it another, in so many
  // windows in a row; 0: never.
  std::uint8_t slicer_change = 2;
  std::uint8_t slicer_sustain = 2;
  // What all kernels together may lose when each loses as much as the worst, in 2^-16 of one [D30].
  std::uint32_t slicer_loss = 6 * 65536 / 5;
  // kToken: log2 of the cycles of the usage window; cycles of a token; what each kernel slot shall
  // and may have of the window, in units of 1/1024 of it.
  std::uint8_t token_window = 20;
  std::uint32_t token_quota = 1u << 17;
  std::array<std::uint16_t, kMaxKernels> token_request{};
  std::array<std::uint16_t, kMaxKernels> token_limit = {kTokenWhole, kTokenWhole, kTokenWhole,
                                                        kTokenWhole, kTokenWhole, kTokenWhole,
                                                        kTokenWhole, kTokenWhole};
  // kChimera: cycles within which an SM shall be free of the TBs that must go: 15 us of 1216 MHz;
  // log2 of the cycles that a context line is said to take.
  std::uint32_t chimera_limit = 18'240;
  std::uint8_t chimera_line = 5;
};

// The SM's time is in units of so many cycles, modulo 2^kTimeWidth of them.
inline constexpr unsigned kTimeUnitLog2 = 4;
inline constexpr unsigned kTimeWidth = 24;
inline constexpr std::uint32_t kTimeMask = (1u << kTimeWidth) - 1;
constexpr std::uint32_t TimeOf(Cycle cycle) {
  return static_cast<std::uint32_t>(cycle >> kTimeUnitLog2) & kTimeMask;
}

// What the host says of a kernel when it launches it.
struct KernelDescriptor {
  ResourceVector need{};       // of one TB
  std::uint32_t first_tb = 0;  // index in the grid of the first TB: 0, or the start of a slice
  std::uint32_t tb_count = 0;  // TBs of the launch, at least 1: the whole grid or a slice of it
  // Byte address of preempted_depth context buffers; a buffer takes the power of two of lines that
  // holds ContextLines(need).
  std::uint64_t context_base = 0;
  bool idempotent = false;  // TBs may be flushed while they say so
};

enum class LaunchError : std::uint8_t { kNone, kTooLarge, kSlotBusy, kNoTbs, kBadSlot };

struct HostInputs {
  bool launch_valid = false;  // stream: holds until launch_ready
  KernelId launch_kernel{0};  // kernel slot, free or finished
  KernelDescriptor launch{};
  bool tick = false;  // pulse of the chip timer, every epoch_length cycles
};

struct HostOutputs {
  bool launch_ready = false;
  LaunchError launch_error = LaunchError::kNone;  // with launch_ready: refused, nothing happened
  std::uint8_t kernel_done = 0;                   // pulse, bit per kernel slot: last TB completed
};

// From one SM of the machine to its control logic.
struct SmInputs {
  // Warp could issue now (all but quota and stop).
  std::array<WarpMask, kMaxSchedulers> ready{};
  std::uint32_t tb_finished = 0;  // pulse, bit per TB slot: last warp has retired
  // Level: nothing of the TB is in flight (looked at only for stopped TBs).
  std::uint32_t tb_quiet = 0;
  std::uint32_t tb_flushable = 0;  // level: the TB can be dropped and started again
  bool context_ready = true;       // takes a context line this cycle
  std::uint8_t context_done = 0;  // context lines completed (stored or loaded), count of this cycle
  // Bit per scheduler, by kernel: a warp waits for memory. Looked at only while SmOutputs::samples.
  std::array<std::uint8_t, kMaxKernels> memory{};
  // TimeOf() this cycle: a counter that runs while the SM's clock is off. For kChimera only.
  std::uint32_t time = 0;

  bool Quiet() const {
    WarpMask r = 0;
    for (auto m : ready) r |= m;
    return r == 0 && tb_finished == 0 && context_done == 0;
  }
};

// Where one kernel's TBs live on an SM (the seven counters of SMK Sec. 6.7, and the first TB slot).
// Ranges are [base, limit) in allocation units; the TB in slot `tb_base + i` owns the i-th aligned
// part.
struct PartitionRange {
  std::uint16_t registers_base = 0, registers_limit = 0;
  std::uint16_t shared_memory_base = 0, shared_memory_limit = 0;
  std::uint16_t threads_base = 0, threads_limit = 0;
  std::uint8_t tb_base = 0, tb_count = 0;
};

// Where the registers and the shared memory of a TB begin, in allocation units.
struct TbBase {
  std::uint16_t registers = 0, shared_memory = 0;
};

// Occupies a warp slot; the TB's warps come one per cycle, in order.
struct WarpStart {
  bool valid = false;
  WarpId warp{0};
  std::uint8_t warp_in_tb = 0;
  TbSlot tb_slot{0};
  KernelId kernel{0};
  TbId tb{0};
  bool restore = false;  // the TB continues from a saved context
  TbBase base{};         // where its registers and shared memory begin
};

// One line of a context on its way to or from memory.
struct ContextRequest {
  bool valid = false;
  bool store = false;
  TbSlot tb_slot{0};
  std::uint16_t line = 0;     // within the context
  std::uint64_t address = 0;  // bytes
};

enum class TbRelease : std::uint8_t { kSaved, kFlushed };

// From an SM's control logic to the machine.
struct SmOutputs {
  std::uint8_t grant_valid = 0;                           // bit per scheduler
  std::array<std::uint8_t, kMaxSchedulers> grant_warp{};  // warp index within the scheduler
  WarpStart warp_start{};
  std::uint32_t tb_activate = 0;  // pulse, bit per TB slot: all warps placed and context loaded
  std::uint32_t tb_stop = 0;      // level: no instruction of the TB is fetched or granted
  ContextRequest context{};       // stream with SmInputs::context_ready
  bool release_valid = false;     // pulse: the TB has left the SM without finishing
  TbSlot release_slot{0};
  TbRelease release_kind = TbRelease::kSaved;
  std::array<std::uint16_t, kMaxKernels> quota_left{};  // of scheduler 0; for timelines
  // For statistics: quotas are in force in this cycle, and if they are, which kernels have some
  // left after it: bit kMaxKernels x scheduler + kernel.
  bool gated = false;
  std::uint32_t with_quota = 0;
  bool samples = false;      // SmInputs::memory is looked at in the next cycle
  bool place_waits = false;  // a TB that has come waits until there is a gap for it
};

// Says nothing. Copied, for g++ 12 makes a loop with a branch for each word of an assignment of
// SmOutputs{}, and every SM has new outputs in every cycle.
inline void Clear(SmOutputs* out) {
  static constexpr SmOutputs kNothing{};
  std::memcpy(out, &kNothing, sizeof(kNothing));
}

// Why a dispatch decision came out as it did; one per line of decisions.csv.
enum class DecisionReason : std::uint8_t {
  kDispatchNew,        // a new TB fits
  kDispatchRestored,   // a preempted TB fits
  kDispatchRestarted,  // a flushed TB fits
  kPreempt,            // victim TBs leave so that one TB fits (range of rK shrinks)
  kNoVictim,           // no other kernel on the SM with the highest rSM
  kRangeNotReduced,    // preemption would not shrink the range of rK
  kPartitionFull,      // the kernel's partition has no room
  kNoRoom,             // left-over: the SM has no room
  kRepartition,        // new partitions are planned for the SM
  kEvictSm,            // the SM changes hands
  kQueueFull,          // no context buffer is free
  kRoomComing,         // room for all its waiting TBs is being made already
};

// One dispatch decision, for the log.
struct Decision {
  Cycle cycle = 0;
  DecisionReason reason = DecisionReason::kDispatchNew;
  KernelId kernel{0};
  SmId sm{0};
  TbId tb{0};                                      // dispatches only
  KernelId victim{0};                              // kPreempt only
  std::uint8_t victim_tbs = 0;                     // kPreempt only
  std::array<std::uint32_t, kMaxKernels> share{};  // rK when decided, in units of 1/(SMs x LCM)
};

// Who has the GPU under kToken, as bits of kernel slots.
struct TokenView {
  std::uint8_t holder = 0;  // of the token: at most one
  std::uint8_t user = 0;    // to whom this cycle counts: at most one
  bool given = false;       // the holder has got a token, the first one or another
  bool over = false;        // the user's token has expired: overuse
};

// The TB counts in force, for reports: partition[sm][kernel], 0 without partitions.
using PartitionTable = std::array<std::array<std::uint8_t, kMaxKernels>, kMaxSms>;

// Which warps of each SM are ready.
using ReadyTable = std::array<LaneMask, kMaxSms>;

// What an SM's schedulers say in a cycle in which nothing happens but that warps are ready.
struct Grants {
  // Granted: where no quotas are in force one of each scheduler with ready warps, else one at most.
  LaneMask lanes = 0;
  // kLeft: what is left of quotas has changed by more than these grants, see ShowQuotas(). kGated:
  // quotas are in force; not told where there is prepared(). A word, so that both are returned as
  // they are.
  std::uint64_t notes = 0;
  static constexpr std::uint64_t kLeft = 1, kGated = 2;
  bool left() const { return (notes & kLeft) != 0; }
};

// What PrepareSms() has found already: for the SMs in `alone` Grant() would say these lanes and
// nothing else, and need not be called.
struct PreparedGrants {
  SmMask alone;
  std::array<LaneMask, kMaxSms> lanes{};  // by SM
};

// The same as outputs.
inline void SetGrants(const LaneLayout& layout, LaneMask granted, SmOutputs* out) {
  for (; granted != 0; granted &= granted - 1) {
    const unsigned lane = LowestLane(granted);
    const unsigned s = layout.SchedulerOf(lane);
    out->grant_valid |= static_cast<std::uint8_t>(1u << s);
    out->grant_warp[s] = static_cast<std::uint8_t>(layout.IndexOf(lane));
  }
}

class ControlPlane {
 public:
  virtual ~ControlPlane() = default;

  // Steps the driver. May be skipped when `in` says nothing and driver_awake() is false.
  virtual void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) = 0;
  // Whether warps are scheduled for all SMs at once: PrepareSms() must then be called in every
  // cycle in which StepSm is.
  virtual bool prepares() const { return false; }
  // Before the first StepSm or Grant of a cycle, for all SMs that may be stepped in it: what is
  // ready is what StepSm and Grant will be told.
  virtual void PrepareSms(Cycle /*now*/, const SmMask& /*sms*/, const ReadyTable& /*ready*/) {}
  // The same object for the whole run, or null.
  virtual const PreparedGrants* prepared() const { return nullptr; }
  // Evaluates the wires of one SM for this cycle into `out`, and clocks it. `out` is overwritten.
  virtual void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) = 0;
  // The short way for an ordinary cycle of an SM, if the control plane has one: awake_sms() does
  // not name the SM, and nothing happens but that warps are ready. StepSm() would grant these, and
  // say nothing else that it has not said before; EndCycle() need not be called.
  virtual bool grants_alone() const { return false; }
  // Cold: the compiler would guess that this is the one which is called.
  [[gnu::cold]] virtual Grants Grant(SmId /*sm*/, LaneMask /*ready*/) { return {}; }
  // Then: SmOutputs::gated and what belongs to it, as StepSm() would say it in this cycle.
  virtual void ShowQuotas(SmId /*sm*/, SmOutputs* /*out*/) {}
  // Makes this cycle's registered outputs visible to the other side. Call in every cycle in which
  // BeginCycle or StepSm was called.
  virtual void EndCycle(Cycle now) = 0;

  // Valid after EndCycle: who must be stepped in the next cycle even if all its inputs are quiet.
  virtual SmMask awake_sms() const = 0;
  virtual bool driver_awake() const = 0;

  // Decisions are recorded only when asked for, before the first cycle.
  virtual void EnableDecisionLog(bool on) = 0;
  // Decisions since the last call, in order; the vector is reused by the next cycle.
  virtual const std::vector<Decision>& TakeDecisions() = 0;
  virtual PartitionTable partitions() const = 0;
  // For checks: the part of an SM in which the driver told it to place the kernel's TBs, empty when
  // its plan has none for the kernel. Nothing when it has no plan, or nobody knows.
  virtual std::optional<PartitionRange> partition(SmId, KernelId) const { return std::nullopt; }
  // For statistics, valid after EndCycle: who has the GPU under kToken.
  virtual TokenView token() const { return {}; }
  // Quotas in force for the next reload, per SM and kernel; 0 = not limited.
  virtual std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const = 0;
};

}  // namespace smk
