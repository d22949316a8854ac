#include "simulate/counting/counted_targets.h"

#include <algorithm>

namespace culprit::counting {

namespace {

constexpr size_t kFirstIndex = 1024;
constexpr uint32_t kOthers = 0;

}  // namespace

/// 0: none.
uint32_t CountedTargets::find(uint32_t from, uint32_t to, const CoreCounts& core) const {
  if (index_.empty()) return 0;
  for (size_t at = hash_of(from, to);; ++at) {
    const uint32_t number = index_[at & (index_.size() - 1)];
    const counts_file::Target& row = core.targets[number];
    if (number == 0 || (row.from == from && row.to == to)) return number;
  }
}

void CountedTargets::put(uint32_t number, const counts_file::Target& row) {
  size_t at = hash_of(row.from, row.to);
  while (index_[at & (index_.size() - 1)] != 0) ++at;
  index_[at & (index_.size() - 1)] = number;
}

uint32_t CountedTargets::append(uint32_t from, uint32_t to, const CoreCounts& core) {
  const uint32_t number = rows_++;
  core.targets[number] = {from, to, 0};
  core.header->targets.store(rows_, std::memory_order_release);
  if (size_t{rows_} * 2 <= index_.size()) {
    put(number, core.targets[number]);
  } else {
    index_.assign(std::max(kFirstIndex, index_.size() * 2), 0);
    for (uint32_t row = 1; row < rows_; ++row) put(row, core.targets[row]);
  }
  return number;
}

/// Another row than the latest. The row; 0: the table is full.
[[gnu::noinline]] uint32_t CountedTargets::count_other(uint32_t from, uint32_t to,
                                                       const CoreCounts& core) {
  uint32_t number = find(from, to, core);
  if (number == 0 && rows_ < counts_file::kMaxTargets) {
    uint32_t& places = places_[from];
    if (places < kMostOfSite) {
      ++places;
      number = append(from, to, core);
    } else {
      number = find(from, kOthers, core);
      if (number == 0) number = append(from, kOthers, core);
    }
  }
  if (number == 0) {
    ++core.header->other_targets;
  } else {
    ++core.targets[number].count;
  }
  return number;
}

}  // namespace culprit::counting
