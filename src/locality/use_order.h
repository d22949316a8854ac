#pragma once

// The order of rows in answers: those that cost most first; of equal cost, most accesses.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "locality/use.h"

namespace culprit {

/// The numbers of the rows that hold anything.
inline std::vector<uint32_t> order_by_cost(const std::vector<Use>& uses, const UseEvents& events) {
  std::vector<uint32_t> order;
  for (uint32_t row = 0; row < uses.size(); ++row) {
    const Use& use = uses[row];
    bool is_empty = use.accesses == 0 && use.cost.empty();
    for (const LineUse& level : use.levels) is_empty = is_empty && level.lines == 0;
    if (!is_empty) order.push_back(row);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Use& one = uses[a];
    const Use& other = uses[b];
    const double cost = events.value_of(one).value;
    const double other_cost = events.value_of(other).value;
    if (cost != other_cost) return cost > other_cost;
    if (one.cycles != other.cycles) return one.cycles > other.cycles;
    if (one.accesses != other.accesses) return one.accesses > other.accesses;
    return a < b;
  });
  return order;
}

}  // namespace culprit
