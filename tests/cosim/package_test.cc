// SPDX-License-Identifier: Apache-2.0
// Every function of smk_pkg, for every bit of its mask, where its numbers are at their limits: 132
// SMs, 8 kernels, 32 TB slots, 64 warps; and where they are no powers of two, or one.
#include <Veight_package.h>
#include <Veight_package_smk_pkg.h>
#include <Vlargest_package.h>
#include <Vlargest_package_smk_pkg.h>
#include <Vone_package.h>
#include <Vone_package_smk_pkg.h>
#include <gtest/gtest.h>

#include <random>

#include "base/sm_mask.h"
#include "cosim/pack.h"

namespace smk {
namespace {

template <typename ModelClass, typename PackageClass>
struct Build {
  using Model = ModelClass;
  using Package = PackageClass;
};

std::uint64_t Below(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

template <typename Of>
class PackageFunctions : public testing::Test {
 protected:
  using P = typename Of::Package;

  // A mask of `bits` bits with `low` as its lowest.
  std::uint64_t Mask(unsigned bits, unsigned low) {
    return ((dice() << low) | (std::uint64_t{1} << low)) & Below(bits);
  }
  std::mt19937_64 dice{1};
  VerilatedContext context;
  typename Of::Model model{&context};
};

using Builds = testing::Types<Build<Vlargest_package, Vlargest_package_smk_pkg>,
                              Build<Veight_package, Veight_package_smk_pkg>,
                              Build<Vone_package, Vone_package_smk_pkg>>;
TYPED_TEST_SUITE(PackageFunctions, Builds);

TYPED_TEST(PackageFunctions, FindTheLowestSmAndItsNumber) {
  using P = typename TestFixture::P;
  auto& m = this->model;
  for (unsigned sm = 0; sm < P::NumSms; ++sm) {
    SmMask mask = SmMask::Of(sm);
    for (unsigned other = sm + 1; other < P::NumSms; ++other) {
      if ((this->dice() & 1) != 0) mask.Set(other);
    }
    Pack<Bits<P::NumSms>>(mask, &m.sms_i);
    m.eval();
    EXPECT_EQ((UnpackMask<SmMask, P::NumSms>(m.lowest_sm_o)), SmMask::Of(sm));
    EXPECT_EQ(m.sm_o, sm);
  }
}

TYPED_TEST(PackageFunctions, FindTheLowestOfKernelsSlotsAndWarps) {
  using P = typename TestFixture::P;
  auto& m = this->model;
  for (unsigned low = 0; low < 64; ++low) {
    const std::uint64_t bit = std::uint64_t{1} << low;
    m.kernels_i = static_cast<decltype(+m.kernels_i)>(this->Mask(P::NumKernels, low));
    m.slots_i = static_cast<decltype(+m.slots_i)>(this->Mask(P::NumSlots, low));
    Pack<Bits<P::NumWarps>>(this->Mask(P::NumWarps, low), &m.warps_i);
    m.grants_i = static_cast<decltype(+m.grants_i)>(this->Mask(P::WarpsPerScheduler, low));
    m.eval();
    EXPECT_EQ(m.lowest_kernel_o, bit & Below(P::NumKernels));
    EXPECT_EQ(m.lowest_slot_o, bit & Below(P::NumSlots));
    EXPECT_EQ(m.lowest_warp_o, bit & Below(P::NumWarps));
    EXPECT_EQ(m.kernel_o, low < P::NumKernels ? low : 0) << "none is 0";
    EXPECT_EQ(m.slot_o, low < P::NumSlots ? low : 0);
    EXPECT_EQ(m.warp_o, low < P::NumWarps ? low : 0);
    EXPECT_EQ(m.grant_o, low < P::WarpsPerScheduler ? low : 0);
  }
}

TYPED_TEST(PackageFunctions, FindTheHighest) {
  using P = typename TestFixture::P;
  auto& m = this->model;
  m.bits_i = 0;
  m.slots_i = 0;
  m.eval();
  EXPECT_EQ(m.highest_one_o, 0u);
  EXPECT_EQ(m.highest_slot_o, 0u);
  for (unsigned high = 0; high < 64; ++high) {
    m.bits_i = (std::uint64_t{1} << high) | (this->dice() & Below(high));
    m.slots_i = static_cast<decltype(+m.slots_i)>(m.bits_i & Below(P::NumSlots));
    m.eval();
    EXPECT_EQ(m.highest_one_o, std::uint64_t{1} << high);
    EXPECT_EQ(m.index_o, high);
    if (high < P::NumSlots) {
      EXPECT_EQ(m.highest_slot_o, std::uint64_t{1} << high);
    }
  }
}

TYPED_TEST(PackageFunctions, SetTheBitsOfARange) {
  auto& m = this->model;
  for (unsigned from = 0; from <= 64; ++from) {
    for (unsigned limit = 0; limit <= 64; ++limit) {
      m.from_i = static_cast<CData>(from);
      m.limit_i = static_cast<CData>(limit);
      m.eval();
      EXPECT_EQ(m.between_o, Below(limit) & ~Below(from)) << from << " " << limit;
    }
  }
}

}  // namespace
}  // namespace smk
