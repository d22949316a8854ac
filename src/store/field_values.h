#pragma once

// How a field of the model becomes 64 bits in the file, and comes back checked: a value
// that its type cannot hold is refused, so that no enumeration or id ever holds nonsense.
//
// Packed columns have ids plus one, so that 0 is "all"; tables have NULL for "all".

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "base/address.h"
#include "model/fact_fields.h"
#include "model/fields.h"
#include "model/ids.h"
#include "store/column_codec.h"

namespace culprit {

template <class T>
constexpr ColumnType column_type() {
  if constexpr (std::is_same_v<T, std::string>) return ColumnType::text;
  if constexpr (std::is_same_v<T, double>) return ColumnType::f64;
  if constexpr (std::signed_integral<T>) return ColumnType::i64;
  return ColumnType::u64;
}

/// The 64 bits of a number, id, address or enumeration.
template <class T>
uint64_t to_bits(const T& value) {
  if constexpr (kIsId<T>) {
    return value.is_all() ? 0 : uint64_t{value.value} + 1;
  } else if constexpr (kIsAddress<T>) {
    return value.value;
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    return static_cast<uint64_t>(value);
  }
}

/// The way back; false if `bits` are no value of this type.
template <class T>
bool from_bits(uint64_t bits, T& value) {
  if constexpr (kIsId<T>) {
    if (bits > T::kAllValue) return false;
    value = bits == 0 ? T{} : T(static_cast<uint32_t>(bits - 1));
  } else if constexpr (kIsAddress<T>) {
    value = T(bits);
  } else if constexpr (std::is_same_v<T, double>) {
    value = std::bit_cast<double>(bits);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kLastOf<T> != T{}, "name its last value in model/fields.h");
    if (bits > static_cast<uint64_t>(kLastOf<T>)) return false;
    value = static_cast<T>(bits);
  } else if constexpr (std::signed_integral<T>) {
    const int64_t number = static_cast<int64_t>(bits);
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
      return false;
    }
    value = static_cast<T>(number);
  } else {
    if (bits > std::numeric_limits<T>::max()) return false;
    value = static_cast<T>(bits);
  }
  return true;
}

}  // namespace culprit
