// SPDX-License-Identifier: Apache-2.0
// Messages in ports: what goes in comes out, each field in its place, and a wrong list is found.
#include "cosim/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <verilated.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/tb_arrival.h"
#include "control/message_fields.h"
#include "cosim/configs/fermi.h"
#include "cosim/configs/gtx980.h"
#include "cosim/configs/small.h"

namespace smk {
namespace {

constexpr unsigned kPortWords = 40;
using WidePort = VlWide<kPortWords>;

// A mask of some low bits of a wide port, from bit `lsb` on.
std::set<unsigned> OnesOf(const WidePort& port) {
  std::set<unsigned> ones;
  for (unsigned i = 0; i < 32 * kPortWords; ++i) {
    if (GetBits(port, i, 1) != 0) ones.insert(i);
  }
  return ones;
}

// Each message with random bits survives the way into a port and back, wherever it lies in it, and
// leaves the bits around it alone.
template <typename Type, typename Value>
void RoundTrip(const char* name) {
  std::mt19937_64 random(1);
  constexpr unsigned kWidth = kWidthOf<Type>;
  static_assert(kWidth + 100 < 32 * kPortWords);
  for (const unsigned lsb : {0u, 1u, 31u, 32u, 77u}) {
    for (int n = 0; n < 50; ++n) {
      WidePort bits, port;
      for (unsigned i = 0; i < kPortWords; ++i) {
        bits[i] = static_cast<std::uint32_t>(random());
        port[i] = static_cast<std::uint32_t>(random());
      }
      const WidePort before = port;
      Value value{}, back{};
      Unpack<Type>(bits, &value, lsb);
      Pack<Type>(value, &port, lsb);
      for (unsigned i = 0; i < 32 * kPortWords; ++i) {
        const bool inside = i >= lsb && i < lsb + kWidth;
        ASSERT_EQ(GetBits(port, i, 1), GetBits(inside ? bits : before, i, 1))
            << name << " at " << lsb << ", bit " << i;
      }
      Unpack<Type>(port, &back, lsb);
      unsigned fields = 0;
      CompareFields<Type>({name, nullptr, true}, value, back,
                          [&](const FieldPath& field, const auto& want, const auto& got) {
                            ++fields;
                            EXPECT_TRUE(want == got) << field.Text();
                          });
      ASSERT_GT(fields, 0u) << name;
    }
  }
}

template <typename P>
void RoundTrips() {
  RoundTrip<ResourceVectorFields<P>, ResourceVector>("resource_vector");
  RoundTrip<TbNeedFields<P>, ResourceVector>("tb_need");
  RoundTrip<PolicyFields<P>, PolicyConfig>("policy");
  RoundTrip<KernelDescriptorFields<P>, KernelDescriptor>("kernel_descriptor");
  RoundTrip<PartitionRangeFields<P>, PartitionRange>("partition_range");
  RoundTrip<SmCommandFields<P>, SmCommand>("sm_command");
  RoundTrip<SmEventFields<P>, SmEvent>("sm_event");
  RoundTrip<PreemptedEntryFields<P>, PreemptedQueue::Entry>("preempted_entry");
  RoundTrip<DispatchPulsesFields<P>, TbDispatch::Pulses>("dispatch_pulses");
  RoundTrip<DecisionFields<P>, Decision>("decision");
  RoundTrip<ContextViewFields<P>, KernelView>("context_view");
  RoundTrip<TbBaseFields<P>, TbBase>("tb_base");
  RoundTrip<WarpStartFields<P>, WarpStart>("warp_start");
  RoundTrip<ContextRequestFields<P>, ContextRequest>("context_request");
  RoundTrip<TbArrivalFields<P>, TbArrival>("tb_arrival");
  RoundTrip<ContextViews<P>, KernelViews>("context_views");
  RoundTrip<QuotaVec<P>, std::array<std::uint16_t, kMaxKernels>>("quota_vec");
  RoundTrip<SmTbCnts<P>, PartitionTable>("sm_tb_cnts");
}

TEST(Pack, EveryMessageComesBackInEveryConfiguration) {
  RoundTrips<RtlGtx980::Package>();
  RoundTrips<RtlFermi::Package>();
  RoundTrips<RtlSmall::Package>();
}

TEST(Pack, FirstFieldIsHighestAndElementZeroLowest) {
  using P = RtlGtx980::Package;
  WidePort port{};
  SmEvent event;
  event.valid = true;
  Pack<SmEventFields<P>>(event, &port);
  EXPECT_THAT(OnesOf(port), testing::ElementsAre(P::EventWidth - 1));
  event = {};
  event.shortfall = 1;
  Pack<SmEventFields<P>>(event, &port);
  EXPECT_THAT(OnesOf(port), testing::ElementsAre(0u));
  port = {};
  PackAt<SmEvents<P>>(3, event, &port);
  EXPECT_THAT(OnesOf(port), testing::ElementsAre(3 * P::EventWidth));
  port = {};
  // The last field of the struct inside is above what follows the struct.
  SmCommand command;
  command.range.tb_count = 1;
  Pack<SmCommandFields<P>>(command, &port);
  EXPECT_THAT(OnesOf(port), testing::ElementsAre(P::QuotaWidth + 2));
  port = {};
  Pack<QuotaVec<P>>(std::array<std::uint16_t, kMaxKernels>{0, 0, 1, 0}, &port);
  EXPECT_THAT(OnesOf(port), testing::ElementsAre(2 * P::QuotaWidth));
}

TEST(Pack, ValuesThatAreTooLargeLoseTheirUpperBitsOnly) {
  using P = RtlSmall::Package;
  std::uint64_t port = 0;
  SmEvent event;
  event.buffer = 0xffff;
  Pack<SmEventFields<P>>(event, &port);
  const auto back = Unpack<SmEventFields<P>>(port);
  EXPECT_EQ(back.buffer, (1u << P::BufferWidth) - 1);
  EXPECT_EQ(back.tb, TbId{0});
  EXPECT_FALSE(back.counted);
}

std::vector<std::string> Differences(const SmCommand& want, const SmCommand& got) {
  std::vector<std::string> names;
  CompareFields<SmCommandFields<RtlGtx980::Package>>(
      {"command", "tb_dispatch"}, want, got, [&](const FieldPath& field, auto a, auto b) {
        if (a != b) names.push_back(std::string(field.from) + " " + field.Text());
      });
  return names;
}

TEST(CompareFields, LooksAtWhatCountsAndNamesWhereItIs) {
  SmCommand want, got;
  want.op = got.op = CommandOp::kPartition;
  got.tb = TbId{1};  // no partition has one
  EXPECT_THAT(Differences(want, got), testing::IsEmpty());
  got.range.threads_base = 1;
  got.last = true;
  EXPECT_THAT(Differences(want, got),
              testing::ElementsAre("partition_planner command.range.threads_base",
                                   "tb_dispatch command.last"));
  got.op = CommandOp::kEvict;
  EXPECT_THAT(Differences(want, got), testing::Contains("tb_dispatch command.op"));
}

}  // namespace
}  // namespace smk
