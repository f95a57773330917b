// SPDX-License-Identifier: Apache-2.0
// smk_sm_link of two stages against SmLink: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_sm_link.h>
#include <Vfermi_sm_link_smk_pkg.h>
#include <Vsmk_sm_link.h>
#include <Vsmk_sm_link_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "control/sm/sm_link.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_sm_link_smk_pkg>(), "rtl and model disagree");

using Inputs = SmLink::Inputs;
using Outputs = SmLink::Outputs;
constexpr unsigned kStages = 2;  // what the module has by default

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  explicit Bench(std::uint64_t seed) : lockstep_("sm_link", seed) {
    Drive({});
    lockstep_.Reset();
  }
  // What arrives in this cycle.
  Outputs Cycle(Inputs in) {
    Drive(in);
    lockstep_.Eval();
    Compare(model_.Eval(in), model_.busy());
    const Outputs out = model_.Eval(in);
    lockstep_.ClockEdge();
    if (distort) distort(&in);
    model_.Tick(in);
    return out;
  }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  std::function<void(Inputs*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.driver_command_valid_i = in.down.command_valid;
    Pack<SmCommandFields<Package>>(in.down.command, &dut.driver_command_i);
    dut.driver_buffer_valid_i = in.down.buffer_valid;
    dut.driver_buffer_i = in.down.buffer;
    dut.driver_buffer_none_i = in.down.buffer_none;
    dut.driver_event_ack_i = in.down.event_ack;
    dut.driver_tick_i = in.down.tick;
    dut.driver_sample_begin_i = in.down.sample_begin;
    dut.driver_sample_end_i = in.down.sample_end;
    Pack<Bits<Package::KernelWidth>>(in.down.sample_kernel, &dut.driver_sample_kernel_i);
    dut.driver_sample_stalls_i = in.down.sample_stalls;
    dut.sm_command_credit_i = in.up.command_credit;
    dut.sm_command_waits_i = in.up.command_waits;
    Pack<SmEventFields<Package>>(in.up.event, &dut.sm_event_i);
    dut.sm_buffer_request_i = in.up.buffer_request;
    Pack<Bits<Package::KernelWidth>>(in.up.buffer_kernel, &dut.sm_buffer_kernel_i);
    dut.sm_buffer_withdraw_i = in.up.buffer_withdraw;
    dut.sm_profile_valid_i = in.up.profile_valid;
    Pack<IssuedVec<Package>>(in.up.profile_issued, &dut.sm_profile_issued_i);
    dut.sm_sample_valid_i = in.up.sample_valid;
    dut.sm_sample_issued_i = in.up.sample_issued;
    dut.sm_sample_stalled_i = in.up.sample_stalled;
  }
  void Compare(const Outputs& want, bool busy) {
    Lockstep<Dut>* const check = &lockstep_;
    Dut& dut = lockstep_.dut();
    check->Expect("sm_command_valid", dut.sm_command_valid_o, want.down.command_valid);
    if (want.down.command_valid) {
      ExpectMessage<SmCommandFields<Package>>(check, "sm_command", dut.sm_command_o,
                                              want.down.command);
    }
    check->Expect("sm_buffer_valid", dut.sm_buffer_valid_o, want.down.buffer_valid);
    if (want.down.buffer_valid) check->Expect("sm_buffer", dut.sm_buffer_o, want.down.buffer);
    check->Expect("sm_buffer_none", dut.sm_buffer_none_o, want.down.buffer_none);
    check->Expect("sm_event_ack", dut.sm_event_ack_o, want.down.event_ack);
    check->Expect("sm_tick", dut.sm_tick_o, want.down.tick);
    check->Expect("sm_sample_begin", dut.sm_sample_begin_o, want.down.sample_begin);
    check->Expect("sm_sample_end", dut.sm_sample_end_o, want.down.sample_end);
    if (want.down.sample_begin) {
      ExpectMessage<Bits<Package::KernelWidth>>(check, "sm_sample_kernel", dut.sm_sample_kernel_o,
                                                want.down.sample_kernel);
      check->Expect("sm_sample_stalls", dut.sm_sample_stalls_o, want.down.sample_stalls);
    }
    check->Expect("driver_command_credit", dut.driver_command_credit_o, want.up.command_credit);
    check->Expect("driver_command_waits", dut.driver_command_waits_o, want.up.command_waits);
    ExpectMessage<SmEventFields<Package>>(check, "driver_event", dut.driver_event_o, want.up.event);
    check->Expect("driver_buffer_request", dut.driver_buffer_request_o, want.up.buffer_request);
    if (want.up.buffer_request) {
      ExpectMessage<Bits<Package::KernelWidth>>(check, "driver_buffer_kernel",
                                                dut.driver_buffer_kernel_o, want.up.buffer_kernel);
    }
    check->Expect("driver_buffer_withdraw", dut.driver_buffer_withdraw_o, want.up.buffer_withdraw);
    check->Expect("driver_profile_valid", dut.driver_profile_valid_o, want.up.profile_valid);
    if (want.up.profile_valid) {
      ExpectMessage<IssuedVec<Package>>(check, "driver_profile_issued", dut.driver_profile_issued_o,
                                        want.up.profile_issued);
    }
    check->Expect("driver_sample_valid", dut.driver_sample_valid_o, want.up.sample_valid);
    if (want.up.sample_valid) {
      check->Expect("driver_sample_issued", dut.driver_sample_issued_o, want.up.sample_issued);
      check->Expect("driver_sample_stalled", dut.driver_sample_stalled_o, want.up.sample_stalled);
    }
    check->Expect("busy", dut.busy_o, busy);
  }

  Lockstep<Dut> lockstep_;
  SmLink model_{SmLink::Config{kStages}};
};

using Gtx980 = Bench<Vsmk_sm_link, Vsmk_sm_link_smk_pkg>;
using Fermi = Bench<Vfermi_sm_link, Vfermi_sm_link_smk_pkg>;

// Bits of a field that is `width` wide.
std::uint16_t Field(Dice* dice, unsigned width) {
  return static_cast<std::uint16_t>(dice->Below(1u << std::min(width, 16u)));
}

template <typename P>
KernelId Kernel(Dice* dice) {
  return KernelId{static_cast<std::uint8_t>(Field(dice, P::KernelWidth))};
}

template <typename P>
PartitionRange RandomRange(Dice* dice) {
  PartitionRange r;
  r.registers_base = Field(dice, P::RegisterCntWidth);
  r.registers_limit = Field(dice, P::RegisterCntWidth);
  r.shared_memory_base = Field(dice, P::SharedCntWidth);
  r.shared_memory_limit = Field(dice, P::SharedCntWidth);
  r.threads_base = Field(dice, P::ThreadCntWidth);
  r.threads_limit = Field(dice, P::ThreadCntWidth);
  r.tb_base = static_cast<std::uint8_t>(Field(dice, P::TbCntWidth));
  r.tb_count = static_cast<std::uint8_t>(Field(dice, P::TbCntWidth));
  return r;
}

template <typename P>
Inputs RandomInputs(Dice* dice, unsigned busy) {
  Inputs in;
  DriverToSm& d = in.down;
  d.command_valid = dice->Percent(busy);
  d.command.op = static_cast<CommandOp>(dice->Below(5));
  d.command.kernel = Kernel<P>(dice);
  d.command.tb = TbId{static_cast<std::uint32_t>(dice->Bits())};
  d.command.restore = dice->Percent(50);
  d.command.buffer = Field(dice, P::BufferWidth);
  d.command.count = static_cast<std::uint8_t>(Field(dice, P::TbCntWidth));
  d.command.mode = static_cast<PreemptMode>(dice->Below(4));
  d.command.range = RandomRange<P>(dice);
  d.command.first = dice->Percent(50);
  d.command.last = dice->Percent(50);
  d.command.quota = Field(dice, P::QuotaWidth);
  d.buffer_valid = dice->Percent(busy);
  d.buffer = Field(dice, P::BufferWidth);
  d.buffer_none = dice->Percent(busy);
  d.event_ack = dice->Percent(busy);
  d.tick = dice->Percent(busy);
  d.sample_begin = dice->Percent(busy);
  d.sample_end = dice->Percent(busy);
  d.sample_kernel = Kernel<P>(dice);
  d.sample_stalls = dice->Percent(50);
  SmToDriver& s = in.up;
  s.command_credit = dice->Percent(busy);
  s.command_waits = dice->Percent(busy);
  s.event.valid = dice->Percent(busy);
  s.event.kind = static_cast<EventKind>(dice->Below(5));
  s.event.kernel = Kernel<P>(dice);
  s.event.tb = TbId{static_cast<std::uint32_t>(dice->Bits())};
  s.event.buffer = Field(dice, P::BufferWidth);
  s.event.counted = dice->Percent(50);
  s.event.shortfall = static_cast<std::uint8_t>(Field(dice, P::TbCntWidth));
  s.buffer_request = dice->Percent(busy);
  s.buffer_kernel = Kernel<P>(dice);
  s.buffer_withdraw = dice->Percent(busy);
  s.profile_valid = dice->Percent(busy);
  for (auto& issued : s.profile_issued) issued = Field(dice, P::IssuedWidth);
  s.sample_valid = dice->Percent(busy);
  s.sample_issued = Field(dice, P::SampleWidth);
  s.sample_stalled = Field(dice, P::SampleWidth);
  return in;
}

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  Dice dice(seed);
  unsigned busy = 0;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    if (dice.Percent(2)) busy = dice.Percent(30) ? 0 : dice.Below(101);
    bench->Cycle(RandomInputs<typename AnyBench::Package>(&dice, busy));
  }
}

TEST(SmLinkLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 50'000, RunRandom<Gtx980>);
}

TEST(SmLinkLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 50'000, RunRandom<Fermi>);
}

TEST(SmLinkLockstep, AMessageArrivesAfterTwoCyclesInBothDirections) {
  Gtx980 bench(1);
  Inputs in;
  in.down.command_valid = true;
  in.down.command.tb = TbId{77};
  in.up.event.valid = true;
  in.up.event.tb = TbId{55};
  EXPECT_FALSE(Speaks(bench.Cycle(in).down));
  EXPECT_FALSE(Speaks(bench.Cycle({}).up));
  const Outputs out = bench.Cycle({});
  EXPECT_EQ(out.down.command.tb, TbId{77});
  EXPECT_EQ(out.up.event.tb, TbId{55});
  EXPECT_EQ(bench.lockstep().dut().busy_o, 0) << "seen in the cycle in which it arrives";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(SmLinkLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->down.command_valid = false; },
      [](Inputs* in) { in->down.command.range.tb_base ^= 1; },
      [](Inputs* in) { in->down.buffer ^= 1; },
      [](Inputs* in) { in->down.buffer_none = false; },
      [](Inputs* in) { in->down.event_ack = in->down.tick; },
      [](Inputs* in) { in->down.tick = in->down.event_ack; },
      [](Inputs* in) { in->up.command_credit = false; },
      [](Inputs* in) { in->up.command_waits = false; },
      [](Inputs* in) { in->up.event.counted = !in->up.event.counted; },
      [](Inputs* in) { in->up.buffer_kernel = KernelId{0}; },
      [](Inputs* in) { in->up.buffer_withdraw = false; },
      [](Inputs* in) { in->up.profile_issued[0] ^= 1; },
      [](Inputs* in) { in->down.sample_begin = in->down.sample_end; },
      [](Inputs* in) { in->down.sample_end = in->down.sample_begin; },
      [](Inputs* in) { in->down.sample_kernel = KernelId{1}; },
      [](Inputs* in) { in->down.sample_stalls = true; },
      [](Inputs* in) { in->up.sample_valid = false; },
      [](Inputs* in) { in->up.sample_issued ^= 1; },
      [](Inputs* in) { in->up.sample_stalled ^= 0x8000; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 10'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
