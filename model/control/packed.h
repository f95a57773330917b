// SPDX-License-Identifier: Apache-2.0
// How the packed types of SystemVerilog are described in C++: widths, order and names.
//
// Purpose     Three kinds of descriptions: Bits, Vector, and a struct with a list of fields. They
//             hold no values; sim/cosim/pack.h expands them into shifts and comparisons.
// Order       That of SystemVerilog: a struct's first field and a vector's last element have the
//             highest bits.
#pragma once

#include <tuple>
#include <type_traits>

namespace smk {

// Plain bits: an id, an amount, a flag, an enum or a mask.
template <unsigned N>
struct Bits {
  static constexpr unsigned kWidth = N;
};

// logic [Count-1:0][width of Element-1:0]
template <unsigned Count, typename ElementType>
struct Vector {
  using Element = ElementType;
  static constexpr unsigned kCount = Count;
};

// One member of a packed struct: how it is packed (`Type`), and where C++ has it. `counts`: whether
// its value means anything in this message. `from`: the block it comes from, where that is not the
// one of the whole message.
template <typename PackedType, typename Message, typename Value>
struct Field {
  using Type = PackedType;
  const char* name;
  Value Message::*member;
  bool (*counts)(const Message&);
  const char* from;
};

template <typename Message>
constexpr bool Always(const Message&) {
  return true;
}

// A packed struct is a type with `Message`, its C++ type, and `kFields`, a tuple of these.
template <typename Type, typename Message, typename Value>
constexpr Field<Type, Message, Value> Is(
    const char* name, Value Message::*member,
    std::common_type_t<bool (*)(const Message&)> counts = Always<Message>,
    const char* from = nullptr) {
  return {name, member, counts, from};
}

// The bits of a description.
template <typename Type, typename = void>
struct Width;
template <unsigned N>
struct Width<Bits<N>> : std::integral_constant<unsigned, N> {};
template <unsigned Count, typename Element>
struct Width<Vector<Count, Element>>
    : std::integral_constant<unsigned, Count * Width<Element>::value> {};
template <typename... Fields>
struct Width<std::tuple<Fields...>>
    : std::integral_constant<unsigned, (Width<typename Fields::Type>::value + ... + 0u)> {};
template <typename Struct>
struct Width<Struct, std::void_t<typename Struct::Message>>
    : Width<std::remove_const_t<decltype(Struct::kFields)>> {};

template <typename Type>
inline constexpr unsigned kWidthOf = Width<Type>::value;

}  // namespace smk
