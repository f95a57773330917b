// SPDX-License-Identifier: Apache-2.0
// Every list of fields is as wide as the ports that carry it, in every configuration.
//
// Verilator's headers declare a port by a macro with its bits. Here they are read a second time,
// in a namespace, with macros that declare the width instead.
#include <gtest/gtest.h>
#include <svdpi.h>
#include <verilated.h>

#include "common/tb_arrival.h"
#include "control/message_fields.h"

namespace smk {
// The RTL's names stand as they are.
namespace widths {

// Of a port, or of the first element of one that is an array.
template <unsigned N>
struct Width {
  template <typename Port>
  static constexpr Port kOf{N};
  template <typename Port>
  constexpr operator const Port&() const {  // NOLINT(google-explicit-constructor)
    return kOf<Port>;
  }
};

#undef VL_IN8
#undef VL_IN16
#undef VL_IN64
#undef VL_IN
#undef VL_INW
#undef VL_OUT8
#undef VL_OUT16
#undef VL_OUT64
#undef VL_OUT
#undef VL_OUTW
// `name` is a reference: &launch_i, or to an array: (&usages_say_i)[16].
#define SMK_PORT(name, msb) static constexpr const unsigned name = Width<(msb) + 1>()
// Verilator names these.
// NOLINTBEGIN(readability-identifier-naming)
#define VL_IN8(name, msb, lsb) SMK_PORT(name, msb)
#define VL_IN16(name, msb, lsb) SMK_PORT(name, msb)
#define VL_IN64(name, msb, lsb) SMK_PORT(name, msb)
#define VL_IN(name, msb, lsb) SMK_PORT(name, msb)
#define VL_INW(name, msb, lsb, words) SMK_PORT(name, msb)
#define VL_OUT8(name, msb, lsb) SMK_PORT(name, msb)
#define VL_OUT16(name, msb, lsb) SMK_PORT(name, msb)
#define VL_OUT64(name, msb, lsb) SMK_PORT(name, msb)
#define VL_OUT(name, msb, lsb) SMK_PORT(name, msb)
#define VL_OUTW(name, msb, lsb, words) SMK_PORT(name, msb)
// NOLINTEND(readability-identifier-naming)

#include <Vfermi_cosim_driver.h>
#include <Vfermi_cosim_driver_smk_pkg.h>
#include <Vfermi_cosim_tables.h>
#include <Vgtx980_cosim_driver.h>
#include <Vgtx980_cosim_driver_smk_pkg.h>
#include <Vgtx980_cosim_tables.h>
#include <Vsmall_cosim_driver.h>
#include <Vsmall_cosim_driver_smk_pkg.h>
#include <Vsmall_cosim_tables.h>
#include <Vsmk_drf_tracker.h>
#include <Vsmk_preempted_queue.h>
#include <Vsmk_tb_dispatch.h>
#include <Vv100_cosim_driver.h>
#include <Vv100_cosim_driver_smk_pkg.h>

}  // namespace widths

namespace {

template <typename Fields>
constexpr bool IsAsWideAs(unsigned port) {
  return kWidthOf<Fields> == port;
}

template <typename Driver, typename Tables, typename P>
void CheckPorts() {
  EXPECT_TRUE(IsAsWideAs<PolicyFields<P>>(Driver::policy_i));
  EXPECT_TRUE(IsAsWideAs<KernelDescriptorFields<P>>(Driver::launch_i));
  EXPECT_TRUE(IsAsWideAs<SmEvents<P>>(Driver::sm_events_i));
  EXPECT_TRUE(IsAsWideAs<SmFlags<P>>(Driver::sm_command_credit_i));
  EXPECT_TRUE(IsAsWideAs<SmFlags<P>>(Driver::sm_command_waits_i));
  EXPECT_TRUE(IsAsWideAs<SmKernelId<P>>(Driver::sm_buffer_kernel_i));
  EXPECT_TRUE(IsAsWideAs<SmIssued<P>>(Driver::sm_profile_issued_i));
  EXPECT_TRUE(IsAsWideAs<SmSamples<P>>(Driver::sm_sample_issued_i));
  EXPECT_TRUE(IsAsWideAs<SmKernelId<P>>(Driver::sample_kernel_o));
  EXPECT_TRUE(IsAsWideAs<SmCommandFields<P>>(Driver::command_o));
  EXPECT_TRUE(IsAsWideAs<ContextViews<P>>(Driver::views_o));
  EXPECT_TRUE(IsAsWideAs<NeedVec<P>>(Driver::needs_o));
  EXPECT_TRUE(IsAsWideAs<DecisionFields<P>>(Driver::decision_o - 1));  // after valid
  EXPECT_TRUE(IsAsWideAs<TotalShareVec<P>>(Driver::share_o));
  EXPECT_TRUE(IsAsWideAs<SmTbCnts<P>>(Driver::partition_o));
  EXPECT_TRUE(IsAsWideAs<SmCommandFields<P>>(Tables::command_i));
  EXPECT_TRUE(IsAsWideAs<SmEventFields<P>>(Tables::event_o));
  EXPECT_TRUE(IsAsWideAs<WarpStartFields<P>>(Tables::warp_start_o));
  EXPECT_TRUE(IsAsWideAs<ContextRequestFields<P>>(Tables::context_o));
  EXPECT_TRUE(IsAsWideAs<QuotaVec<P>>(Tables::quota_o));
  EXPECT_TRUE(IsAsWideAs<SchedulerWarps<P>>(Tables::stop_warps_o));
}

using Gtx980 = widths::Vgtx980_cosim_driver_smk_pkg;

TEST(PortWidths, EqualThoseOfTheListsInEveryConfiguration) {
  CheckPorts<widths::Vgtx980_cosim_driver, widths::Vgtx980_cosim_tables, Gtx980>();
  CheckPorts<widths::Vfermi_cosim_driver, widths::Vfermi_cosim_tables,
             widths::Vfermi_cosim_driver_smk_pkg>();
  CheckPorts<widths::Vsmall_cosim_driver, widths::Vsmall_cosim_tables,
             widths::Vsmall_cosim_driver_smk_pkg>();
  // An SM of gtx980 behind a driver of 80 SMs.
  CheckPorts<widths::Vv100_cosim_driver, widths::Vgtx980_cosim_tables,
             widths::Vv100_cosim_driver_smk_pkg>();
}

TEST(PortWidths, EqualThoseOfTheListsBetweenTheDriversBlocks) {
  using widths::Vsmk_drf_tracker;
  using widths::Vsmk_preempted_queue;
  using widths::Vsmk_tb_dispatch;
  EXPECT_TRUE(IsAsWideAs<DispatchPulsesFields<Gtx980>>(Vsmk_tb_dispatch::pulses_o));
  EXPECT_TRUE(IsAsWideAs<TbArrivalFields<Gtx980>>(Vsmk_tb_dispatch::arrival_o));
  EXPECT_TRUE(IsAsWideAs<RangeVec<Gtx980>>(Vsmk_tb_dispatch::plan_range_i));
  EXPECT_TRUE(IsAsWideAs<PreemptedEntryFields<Gtx980>>(Vsmk_preempted_queue::front_o));
  EXPECT_TRUE(IsAsWideAs<ResourceVectorFields<Gtx980>>(Vsmk_drf_tracker::look_taken_o));
  EXPECT_TRUE(IsAsWideAs<TbNeedFields<Gtx980>>(Vsmk_drf_tracker::victim_taken_o));
  EXPECT_TRUE(IsAsWideAs<KernelSms<Gtx980>>(Vsmk_drf_tracker::pick_sms_i));
}

// A field that is forgotten.
struct ForgottenField {
  using Message = SmEvent;
  static constexpr auto kFields = std::make_tuple(Is<Bits<1>>("valid", &SmEvent::valid));
};

TEST(PortWidths, AWrongListIsFound) {
  using Tables = widths::Vgtx980_cosim_tables;
  using OtherNumbers = widths::Vfermi_cosim_driver_smk_pkg;
  EXPECT_FALSE(IsAsWideAs<SmEventFields<OtherNumbers>>(Tables::event_o));
  EXPECT_FALSE(IsAsWideAs<SmCommandFields<OtherNumbers>>(Tables::command_i));
  EXPECT_FALSE(IsAsWideAs<ForgottenField>(Tables::event_o));
}

}  // namespace
}  // namespace smk
