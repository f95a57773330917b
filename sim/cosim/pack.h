// SPDX-License-Identifier: Apache-2.0
// Messages in the ports of verilated models: packed, unpacked, compared, by the descriptions in
// control/packed.h and control/message_fields.h.
//
// Interface   Pack, Unpack: a whole port, or the part of it from bit `lsb` on. PackAt, UnpackAt:
//             one element of a port that is a vector. CompareFields: what counts in two messages.
// A value of more bits than its field has loses the upper ones, as in SystemVerilog.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "control/packed.h"

namespace smk {

// Bits of a port, wide or not; at most 64.
template <typename Port>
std::uint64_t GetBits(const Port& port, unsigned lsb, unsigned width) {
  std::uint64_t value = 0;
  if constexpr (std::is_integral_v<Port>) {
    value = static_cast<std::uint64_t>(port) >> lsb;
  } else {
    for (unsigned i = lsb / 32, shift = 0; shift < lsb % 32 + width; ++i, shift += 32) {
      const auto word = static_cast<unsigned __int128>(port[i]) << shift;
      value |= static_cast<std::uint64_t>(word >> lsb % 32);
    }
  }
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

template <typename Port>
void SetBits(Port* port, unsigned lsb, unsigned width, std::uint64_t value) {
  for (unsigned done = 0; done < width;) {
    if constexpr (std::is_integral_v<Port>) {
      const std::uint64_t mask = (width == 64 ? 0 : std::uint64_t{1} << width) - 1;
      const std::uint64_t old = *port;
      *port = static_cast<Port>((old & ~(mask << lsb)) | (value & mask) << lsb);
      done = width;
    } else {
      const unsigned at = (lsb + done) % 32;
      const unsigned n = std::min(32 - at, width - done);
      const std::uint32_t mask = (n == 32 ? 0u : 1u << n) - 1u;
      std::uint32_t& word = (*port)[(lsb + done) / 32];
      word = (word & ~(mask << at)) | ((static_cast<std::uint32_t>(value >> done) & mask) << at);
      done += n;
    }
  }
}

// How each kind of description is packed.
template <typename Type>
struct Packing;

// A set of more members than a word has bits.
template <typename Value, typename = void>
struct IsMask : std::false_type {};
template <typename Value>
struct IsMask<Value, std::void_t<decltype(Value::kWordBits)>> : std::true_type {};

template <unsigned N>
struct Packing<Bits<N>> {
  // Whether a member of this type holds every value of the field.
  template <typename Value>
  static constexpr bool Fits() {
    if constexpr (IsMask<Value>::value) {
      return N <= Value::kWords * Value::kWordBits;
    } else if constexpr (std::is_enum_v<Value>) {
      return Fits<std::underlying_type_t<Value>>();
    } else {
      return N <= static_cast<unsigned>(std::numeric_limits<Value>::digits);
    }
  }
  template <typename Value, typename Port>
  static void Put(const Value& value, Port* port, unsigned lsb) {
    if constexpr (IsMask<Value>::value) {
      ForEachWord<Value>([&](unsigned word, unsigned at, unsigned width) {
        SetBits(port, lsb + at, width, value.word(word));
      });
    } else {
      SetBits(port, lsb, N, static_cast<std::uint64_t>(value));
    }
  }
  template <typename Value, typename Port>
  static void Take(const Port& port, unsigned lsb, Value* value) {
    static_assert(Fits<Value>(), "the C++ member is too small for the field");
    if constexpr (IsMask<Value>::value) {
      *value = Value();
      ForEachWord<Value>([&](unsigned word, unsigned at, unsigned width) {
        value->set_word(word, GetBits(port, lsb + at, width));
      });
    } else {
      *value = static_cast<Value>(GetBits(port, lsb, N));
    }
  }
  template <typename Value, typename Path, typename Report>
  static void Compare(const Value& want, const Value& got, const Path& path, Report&& report) {
    if constexpr (IsMask<Value>::value) {
      ForEachWord<Value>([&](unsigned word, unsigned, unsigned) {
        report(path, want.word(word), got.word(word));
      });
    } else {
      report(path, want, got);
    }
  }

 private:
  template <typename Mask, typename Visit>
  static void ForEachWord(Visit&& visit) {
    for (unsigned at = 0; at < N; at += Mask::kWordBits) {
      visit(at / Mask::kWordBits, at, std::min<unsigned>(N - at, Mask::kWordBits));
    }
  }
};

template <unsigned Count, typename Element>
struct Packing<Vector<Count, Element>> {
  template <typename Values, typename Port>
  static void Put(const Values& values, Port* port, unsigned lsb) {
    for (unsigned i = 0; i < Count; ++i) {
      Packing<Element>::Put(values[i], port, lsb + i * kWidthOf<Element>);
    }
  }
  template <typename Values, typename Port>
  static void Take(const Port& port, unsigned lsb, Values* values) {
    for (unsigned i = 0; i < Count; ++i) {
      Packing<Element>::Take(port, lsb + i * kWidthOf<Element>, &(*values)[i]);
    }
  }
  template <typename Values, typename Path, typename Report>
  static void Compare(const Values& want, const Values& got, const Path& path, Report&& report) {
    for (unsigned i = 0; i < Count; ++i) {
      Packing<Element>::Compare(want[i], got[i], path, report);
    }
  }
};

// A struct: from the first field, which is the highest, down.
template <typename Struct>
struct Packing {
  using Message = typename Struct::Message;

  template <typename Port>
  static void Put(const Message& message, Port* port, unsigned lsb) {
    unsigned at = lsb + kWidthOf<Struct>;
    ForEach([&](const auto& field) {
      using Type = typename std::decay_t<decltype(field)>::Type;
      Packing<Type>::Put(message.*field.member, port, at -= kWidthOf<Type>);
    });
  }
  template <typename Port>
  static void Take(const Port& port, unsigned lsb, Message* message) {
    unsigned at = lsb + kWidthOf<Struct>;
    ForEach([&](const auto& field) {
      using Type = typename std::decay_t<decltype(field)>::Type;
      Packing<Type>::Take(port, at -= kWidthOf<Type>, &(message->*field.member));
    });
  }
  template <typename Path, typename Report>
  static void Compare(const Message& want, const Message& got, const Path& path, Report&& report) {
    ForEach([&](const auto& field) {
      using Type = typename std::decay_t<decltype(field)>::Type;
      if (!path.every && !field.counts(want)) return;
      Packing<Type>::Compare(want.*field.member, got.*field.member, path.Of(field), report);
    });
  }

 private:
  template <typename Visit>
  static void ForEach(Visit&& visit) {
    std::apply([&](const auto&... field) { (visit(field), ...); }, Struct::kFields);
  }
};

template <typename Type, typename Value, typename Port>
void Pack(const Value& value, Port* port, unsigned lsb = 0) {
  if constexpr (std::is_integral_v<Port>) {
    static_assert(kWidthOf<Type> <= 8 * sizeof(Port), "wider than the port");
  }
  Packing<Type>::Put(value, port, lsb);
}
template <typename Type, typename Value, typename Port>
void Unpack(const Port& port, Value* value, unsigned lsb = 0) {
  Packing<Type>::Take(port, lsb, value);
}
template <typename Struct, typename Port>
typename Struct::Message Unpack(const Port& port, unsigned lsb = 0) {
  typename Struct::Message message{};
  Unpack<Struct>(port, &message, lsb);
  return message;
}

// Element `index` of a port that is a vector.
template <typename VectorType, typename Value, typename Port>
void PackAt(unsigned index, const Value& value, Port* port) {
  using Element = typename VectorType::Element;
  Pack<Element>(value, port, index * kWidthOf<Element>);
}
template <typename VectorType, typename Port, typename Value>
void UnpackAt(unsigned index, const Port& port, Value* value) {
  using Element = typename VectorType::Element;
  Unpack<Element>(port, value, index * kWidthOf<Element>);
}
// A port with a bit per member of a set, as a mask of SMs.
template <typename Mask, unsigned Members, typename Port>
Mask UnpackMask(const Port& port) {
  Mask mask;
  Unpack<Bits<Members>>(port, &mask);
  return mask;
}
// The same between ports: what C++ does not look at.
template <typename VectorType, typename From, typename Port>
void CopyAt(unsigned index, const From& bits, Port* port) {
  constexpr unsigned kWidth = kWidthOf<typename VectorType::Element>;
  for (unsigned at = 0; at < kWidth; at += 64) {
    const unsigned width = std::min(kWidth - at, 64u);
    SetBits(port, index * kWidth + at, width, GetBits(bits, at, width));
  }
}
template <typename VectorType, typename Port>
std::uint64_t BitsAt(unsigned index, const Port& port) {
  constexpr unsigned kWidth = kWidthOf<typename VectorType::Element>;
  return GetBits(port, index * kWidth, kWidth);
}

// Where a field is: its name within the names of the messages around it, and who sends it. With
// `every`, all fields are compared, not only those that count.
struct FieldPath {
  const char* name;
  const char* from = nullptr;
  bool every = false;
  const FieldPath* around = nullptr;

  template <typename AnyField>
  FieldPath Of(const AnyField& field) const {
    return {field.name, field.from != nullptr ? field.from : from, every, this};
  }
  std::string Text() const {
    const std::string before = around != nullptr ? around->Text() : std::string();
    return before.empty() ? name : before + "." + name;
  }
};

// Calls report(path, want, got) for every field of the two messages that counts in `want`.
template <typename Type, typename Value, typename Report>
void CompareFields(const FieldPath& path, const Value& want, const Value& got, Report&& report) {
  Packing<Type>::Compare(want, got, path, report);
}

}  // namespace smk
