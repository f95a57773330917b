// SPDX-License-Identifier: Apache-2.0
// A policy as words of 32 bits, as registers hold it: word 0 has the lowest bits of policy_t.
//
// Interface   `Package` has the numbers of a configuration under the names of smk_pkg, as in
//             message_fields.h, which lists the fields.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "control/control_plane.h"
#include "control/message_fields.h"

namespace smk {

template <typename Package>
class PolicyWords {
 public:
  static constexpr unsigned kBits = kWidthOf<PolicyFields<Package>>;
  static constexpr unsigned kWords = (kBits + 31) / 32;
  using Words = std::array<std::uint32_t, kWords>;

  static PolicyConfig Policy(const Words& words) {
    PolicyConfig policy;
    Visit(policy, [&](const char*, unsigned lsb, unsigned width, auto& value) {
      std::uint64_t bits = words[lsb / 32];
      if (lsb / 32 + 1 < kWords) bits |= std::uint64_t{words[lsb / 32 + 1]} << 32;
      using Value = std::decay_t<decltype(value)>;
      value = static_cast<Value>(bits >> lsb % 32 & ((std::uint64_t{1} << width) - 1));
    });
    return policy;
  }
  static Words Of(const PolicyConfig& policy) {
    Words words{};
    Visit(policy, [&](const char*, unsigned lsb, unsigned width, const auto& value) {
      const std::uint64_t bits =
          (static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1)) << lsb % 32;
      words[lsb / 32] |= static_cast<std::uint32_t>(bits);
      if (bits >> 32 != 0) words[lsb / 32 + 1] |= static_cast<std::uint32_t>(bits >> 32);
    });
    return words;
  }
  // Calls visit(name, lowest bit, width, value) for each number of a policy, the highest field
  // first; of a vector over kernels for each kernel.
  template <typename Policy, typename Visitor>
  static void Visit(Policy&& policy, Visitor&& visit) {
    unsigned at = kBits;
    std::apply([&](const auto&... field) { (VisitField(field, policy, &at, visit), ...); },
               PolicyFields<Package>::kFields);
  }

 private:
  template <typename Field, typename Policy, typename Visitor>
  static void VisitField(const Field& field, Policy&& policy, unsigned* at, Visitor& visit) {
    using Type = typename Field::Type;
    *at -= kWidthOf<Type>;
    VisitType(Type{}, field.name, *at, policy.*field.member, visit);
  }
  template <unsigned N, typename Value, typename Visitor>
  static void VisitType(Bits<N>, const char* name, unsigned lsb, Value& value, Visitor& visit) {
    static_assert(N <= 32, "a field lies in two words at most");
    visit(name, lsb, N, value);
  }
  template <unsigned Count, typename Element, typename Values, typename Visitor>
  static void VisitType(Vector<Count, Element>, const char* name, unsigned lsb, Values& values,
                        Visitor& visit) {
    for (unsigned i = 0; i < Count; ++i) {
      VisitType(Element{}, name, lsb + i * kWidthOf<Element>, values[i], visit);
    }
  }
};

}  // namespace smk
