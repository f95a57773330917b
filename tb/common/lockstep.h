// SPDX-License-Identifier: Apache-2.0
// One verilated block held to its reference class: every output in every cycle.
//
// A cycle of a test:
//   drive ports of dut()  ->  Eval()  ->  Expect(...) per output  ->  ClockEdge()  ->  Tick
//   reference
// The first mismatch is kept with cycle, port, both values and seed; the test stops at !ok().
// All registers start random, so a forgotten reset shows. A waveform is written on demand:
// WaveFile. With SMK_LOCKSTEP_ONLY=compare in the environment no assertion is looked at, with
// SMK_LOCKSTEP_ONLY=assert nothing is compared: so scripts/fault_matrix tells the two apart.
#pragma once

#include <verilated.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/lockstep_log.h"
#include "common/wave_file.h"
#include "control/control_plane.h"
#include "control/message_fields.h"
#include "cosim/pack.h"
#include "cosim/rtl_coverage.h"
#include "test_options.h"

namespace smk {

// Repeatable random numbers of one run.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Bits() { return engine_(); }
  unsigned Below(unsigned n) { return static_cast<unsigned>(engine_() % n); }
  bool Percent(unsigned p) { return Below(100) < p; }
  // A mask in which each bit is set with probability 1 / 2^n.
  std::uint64_t Sparse(unsigned n) {
    std::uint64_t mask = engine_();
    for (unsigned i = 1; i < n; ++i) mask &= engine_();
    return mask;
  }
  // A set of the first `sms` SMs, each there with probability 1 / 2^n.
  SmMask Sms(unsigned sms, unsigned n) {
    SmMask mask;
    for (unsigned w = 0; w * SmMask::kWordBits < sms; ++w) mask.set_word(w, Sparse(n));
    return mask & SmMask::First(sms);
  }
  // The number of a bit of the mask, which is not 0.
  unsigned BitOf(std::uint64_t mask) {
    const auto bits = static_cast<unsigned>(__builtin_popcountll(mask));
    for (unsigned skip = Below(bits); skip != 0; --skip) mask &= mask - 1;
    return static_cast<unsigned>(__builtin_ctzll(mask));
  }

 private:
  std::mt19937_64 engine_;
};

// Whether the environment asks for this part of the check alone.
inline bool LockstepOnly(std::string_view part) {
  const char* const only = std::getenv("SMK_LOCKSTEP_ONLY");
  return only != nullptr && part == only;
}

// Of a model with many mutants (tests/mutation), the one that the environment asks for.
template <typename Dut, typename = void>
struct ChooseMutant {
  static void Of(Dut*) {}
};
template <typename Dut>
struct ChooseMutant<Dut, std::void_t<decltype(std::declval<Dut>().mutsel)>> {
  static void Of(Dut* dut) {
    const char* mutant = std::getenv("SMK_MUTANT");
    if (mutant != nullptr) dut->mutsel = static_cast<std::uint16_t>(std::atoi(mutant));
  }
};

template <typename Dut>
class Lockstep {
 public:
  Lockstep(const std::string& name, std::uint64_t seed)
      : name_(name), seed_(seed), wave_(name, &context_) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
    context_.fatalOnError(false);  // a failed assertion is a mismatch like others
    context_.assertOn(!LockstepOnly("compare"));
    dut_ = std::make_unique<Dut>(&context_, "dut");
    ChooseMutant<Dut>::Of(dut_.get());
    wave_.Attach(dut_.get());
  }
  ~Lockstep() {
    // Verilator takes a model out of the thread's context when it goes: it must be its own.
    Verilated::threadContextp(&context_);
    wave_.Close();
    dut_->final();
    if (!ok()) coverage_.Discard();
    LockstepLog& log = GetLockstepLog();
    ++log.runs;
    log.cycles += cycle_;
    log.compared += compared_;
  }
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  Dut& dut() { return *dut_; }

  // Verilator sees no falling edge in a reset that starts low: 1, 0, 1. Drive the inputs first.
  void Reset() {
    dut_->rst_ni = 1;
    Eval();
    dut_->rst_ni = 0;
    for (int edge = 0; edge < 2; ++edge) {
      Eval();
      ClockEdge();
    }
    dut_->rst_ni = 1;
    Eval();
    coverage_.AfterReset(name_);
  }
  // The wires of this cycle, inputs as driven.
  void Eval() {
    dut_->clk_i = 0;
    dut_->eval();
    wave_.DumpWires(cycle_);
  }
  void ClockEdge() {
    dut_->clk_i = 1;
    dut_->eval();
    wave_.DumpEdge(cycle_);
    if (context_.gotError()) Fail("an assertion failed, see above");
    ++cycle_;
  }

  template <typename Got, typename Want>
  void Expect(const FieldPath& port, const Got& got, const Want& want) {
    ++compared_;
    if (static_cast<std::uint64_t>(got) == static_cast<std::uint64_t>(want) || !compares_) return;
    std::ostringstream text;
    text << port.Text() << ": expected 0x" << std::hex << static_cast<std::uint64_t>(want)
         << ", got 0x" << static_cast<std::uint64_t>(got);
    Fail(text.str());
  }
  template <typename Got, typename Want>
  void Expect(const char* port, const Got& got, const Want& want) {
    Expect(FieldPath{port}, got, want);
  }

  bool ok() const { return mismatch_.empty(); }
  const std::string& mismatch() const { return mismatch_; }
  std::uint64_t cycle() const { return cycle_; }
  std::uint64_t compared() const { return compared_; }

 private:
  void Fail(const std::string& what) {
    if (!ok()) return;
    LockstepLog& log = GetLockstepLog();
    ++log.mismatches;
    log.seed = seed_;
    log.cycle = cycle_;
    mismatch_ = name_ + ": cycle " + std::to_string(cycle_) + ": " + what +
                " (--seed=" + std::to_string(seed_) + ")";
  }

  std::string name_;
  std::uint64_t seed_;
  const bool compares_ = !LockstepOnly("assert");
  VerilatedContext context_;
  WaveFile wave_;
  std::unique_ptr<Dut> dut_;
  RtlCoverage coverage_{&context_};
  std::uint64_t cycle_ = 0;
  std::uint64_t compared_ = 0;
  std::string mismatch_;
};

// A port with a message or vector of `Type`: what counts in it.
template <typename Type, typename Dut, typename Port, typename Message>
void ExpectMessage(Lockstep<Dut>* lockstep, const FieldPath& port, const Port& got,
                   const Message& want, unsigned lsb = 0) {
  Message seen = want;
  Unpack<Type>(got, &seen, lsb);
  CompareFields<Type>(port, want, seen,
                      [&](const FieldPath& field, const auto& expected, const auto& has) {
                        lockstep->Expect(field, has, expected);
                      });
}
template <typename Type, typename Dut, typename Port, typename Message>
void ExpectMessage(Lockstep<Dut>* lockstep, const char* port, const Port& got,
                   const Message& want) {
  ExpectMessage<Type>(lockstep, FieldPath{port}, got, want);
}
// All of it.
template <typename Type, typename Dut, typename Port, typename Message>
void ExpectWhole(Lockstep<Dut>* lockstep, const char* port, const Port& got, const Message& want) {
  ExpectMessage<Type>(lockstep, FieldPath{port, nullptr, true}, got, want);
}
// Element `index` of a port that is a vector.
template <typename VectorType, typename Dut, typename Port, typename Message>
void ExpectAt(Lockstep<Dut>* lockstep, const char* port, unsigned index, const Port& got,
              const Message& want) {
  using Element = typename VectorType::Element;
  ExpectMessage<Element>(lockstep, FieldPath{port}, got, want, index * kWidthOf<Element>);
}

// The RTL's own numbers against the model's, for every configuration.
template <typename Package>
constexpr bool PackageFitsModel() {
  return Package::NumSms <= kMaxSms && Package::NumKernels <= kMaxKernels &&
         Package::NumSchedulers <= kMaxSchedulers &&
         Package::WarpsPerScheduler <= kMaxWarpsPerScheduler && Package::NumSlots <= kMaxTbSlots &&
         Package::LineBytes == kLineBytes && Package::NumWarps == Package::LimitThreads;
}

// True when the package is what ControlConfig says by default: configuration gtx980.
template <typename Package>
constexpr bool PackageIsDefault() {
  constexpr ControlConfig kConfig;
  return Package::NumSms == kConfig.num_sms && Package::NumKernels == kNumKernels &&
         Package::NumSchedulers == kConfig.num_schedulers &&
         Package::WarpsPerScheduler == kConfig.warps_per_scheduler &&
         Package::LimitRegisters == kConfig.limits.registers &&
         Package::LimitSharedMemory == kConfig.limits.shared_memory &&
         Package::LimitThreads == kConfig.limits.threads &&
         Package::LimitTbs == kConfig.limits.tbs &&
         Package::PreemptedDepth == kConfig.preempted_depth;
}

}  // namespace smk
