#pragma once

// What can be done with the rows of any noun, from the lists of their fields alone.

#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "model/fields.h"

namespace culprit {

/// Compares by the fields of the key, in the order of the list.
template <class Row>
std::strong_ordering compare_keys(const Row& a, const Row& b) {
  std::strong_ordering order = std::strong_ordering::equal;
  visit_fields(
      [&]<class R>(const R&, const auto& ours, const auto& theirs) {
        if constexpr (KeyRole<R>) {
          if (order == 0) order = ours <=> theirs;
        }
      },
      a, b);
  return order;
}

template <class Row>
bool has_same_key(const Row& a, const Row& b) {
  bool is_same = true;
  visit_fields(
      [&]<class R>(const R&, const auto& ours, const auto& theirs) {
        if constexpr (KeyRole<R>) is_same = is_same && ours == theirs;
      },
      a, b);
  return is_same;
}

/// A field's 64 bits, for hashes.
template <class T>
uint64_t hash_bits(const T& field) {
  if constexpr (kIsId<T> || kIsAddress<T>) return field.value;
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<uint64_t>(field);
  if constexpr (std::is_same_v<T, std::string>) return std::hash<std::string>()(field);
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return static_cast<uint64_t>(field);
}

/// The hash of the key. Its low bits are good, too (the multiplier is that of splitmix64).
template <class Row>
size_t hash_key(const Row& row) {
  uint64_t hash = 0;
  visit_fields(
      [&]<class R>(const R&, const auto& field) {
        if constexpr (KeyRole<R>) {
          hash = (hash ^ hash_bits(field)) * 0xbf58476d1ce4e5b9u;
          hash ^= hash >> 29;
        }
      },
      row);
  return hash;
}

/// What hash tables of rows by key take.
struct KeyHash {
  template <class Row>
  size_t operator()(const Row& row) const noexcept {
    return hash_key(row);
  }
};
struct KeyEqual {
  template <class Row>
  bool operator()(const Row& a, const Row& b) const noexcept {
    return has_same_key(a, b);
  }
};

/// Adds; stays at the largest uint64_t instead of wrapping.
inline void add_saturating(uint64_t& sum, uint64_t amount) {
  sum = amount > std::numeric_limits<uint64_t>::max() - sum ? std::numeric_limits<uint64_t>::max()
                                                            : sum + amount;
}

/// Adds cells of one event. `events` tell what a variance of 0 means where only one of the two has
/// one: for sampled events it is Poisson's, value^2 / samples; otherwise the value is exact.
void add_cell(Cell& sum, const Cell& cell, const std::vector<Event>& events);

/// Adds the totals of a row with the same key.
template <class Row>
void add_row(Row& sum, const Row& row, const std::vector<Event>& events) {
  if constexpr (requires { sum.cell; }) {
    add_cell(sum.cell, row.cell, events);
  } else {
    visit_fields(
        []<class R>(const R&, auto& total, const auto& amount) {
          if constexpr (std::is_same_v<R, Total>) add_saturating(total, amount);
        },
        sum, row);
  }
}

/// A cell without any number is no count. (Counts of 0 of the other kinds say that nothing was
/// counted where something could have been.)
template <class Row>
bool is_empty_cell(const Row& row) {
  if constexpr (requires { row.cell; }) {
    return row.cell.samples == 0 && row.cell.value == 0 && row.cell.variance == 0;
  }
  return false;
}

/// Replaces each id in the row, strings' too, by translate(id).
template <class Row>
void translate_ids(Row& row, auto&& translate) {
  visit_fields(
      [&]<class T>(const auto&, T& field) {
        if constexpr (kIsId<T>) field = translate(field);
      },
      row);
}

}  // namespace culprit
