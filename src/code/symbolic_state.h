#pragma once

// What registers, slots of the stack, bounds and flags are known to hold at one place of a
// function, as expressions over what they held before.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "code/expressions.h"
#include "code/operands.h"

namespace culprit {

/// A map of few keys in one piece, ascending: states are copied along every edge of a function.
template <class Key, class Value>
class FlatMap {
 public:
  /// nullptr: there is no such key.
  [[nodiscard]] const Value* find(const Key& key) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    return at != entries_.end() && at->first == key ? &at->second : nullptr;
  }
  /// The value of the key, which is `value` if there was none.
  Value& find_or_add(const Key& key, const Value& value) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    if (at != entries_.end() && at->first == key) return at->second;
    return entries_.insert(at, {key, value})->second;
  }
  /// Drops the keys of which it is true.
  template <class Condition>
  void drop_if(Condition condition) {
    std::erase_if(entries_, [&](const Entry& one) { return condition(one.first); });
  }
  /// Drops the keys that `other` does not have, and those for which join(ours, theirs) is false,
  /// which may change ours.
  template <class Join>
  void meet(const FlatMap& other, Join join) {
    size_t kept = 0;
    auto theirs = other.entries_.begin();
    for (Entry& ours : entries_) {
      while (theirs != other.entries_.end() && theirs->first < ours.first) ++theirs;
      const bool is_common = theirs != other.entries_.end() && theirs->first == ours.first;
      if (is_common && join(ours.second, theirs->second)) entries_[kept++] = ours;
    }
    entries_.resize(kept);
  }
  friend bool operator==(const FlatMap&, const FlatMap&) = default;

 private:
  using Entry = std::pair<Key, Value>;
  static bool is_before(const Entry& entry, const Key& key) { return entry.first < key; }
  std::vector<Entry> entries_;
};

/// The flags are those of comparing one with the other.
struct ComparedFlags {
  ExpressionId of = kNoExpression;
  uint64_t with = 0;
  friend bool operator==(const ComparedFlags&, const ComparedFlags&) = default;
};

struct SymbolicState {
  std::array<ExpressionId, kGeneralRegisters> registers{};
  FlatMap<std::pair<ExpressionId, uint8_t>, ExpressionId> memory;  // by address and bytes
  FlatMap<ExpressionId, uint64_t> bounds;  // the largest value, where a test says so
  ComparedFlags flags;
  friend bool operator==(const SymbolicState&, const SymbolicState&) = default;
};

}  // namespace culprit
