#pragma once

// PairSums: values added up by two rows, those of edges: from where, to where. They are visited in
// the order in which the pairs were first seen.

#include <cstdint>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace culprit {

using RowPair = std::pair<uint32_t, uint32_t>;  // from, to

template <class Value>
class PairSums {
 public:
  /// The sum of the pair, which adding another pair may move.
  Value& operator[](RowPair pair) {
    const auto [at, is_new] = index_.try_emplace(key_of(pair), static_cast<uint32_t>(sums_.size()));
    if (is_new) sums_.push_back({pair, Value()});
    return sums_[at->second].second;
  }
  /// nullptr: nothing was added to it.
  [[nodiscard]] const Value* find(RowPair pair) const {
    const auto at = index_.find(key_of(pair));
    return at == index_.end() ? nullptr : &sums_[at->second].second;
  }
  [[nodiscard]] auto begin() const { return sums_.begin(); }
  [[nodiscard]] auto end() const { return sums_.end(); }

 private:
  static uint64_t key_of(RowPair pair) { return uint64_t{pair.first} << 32 | pair.second; }

  tsl::robin_map<uint64_t, uint32_t, SpreadHash> index_;
  std::vector<std::pair<RowPair, Value>> sums_;
};

}  // namespace culprit
