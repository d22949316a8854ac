#pragma once

// CountedTargets: how often the indirect calls and jumps of one thread went where. Direct branches
// need no counts of their own: where they go is in their code. Returns have none, either: how often
// they run is known, as is what they return to, and counting which to which would cost several
// times as much.
//
// The counts are rows in the thread's part of the counts file, appended when a branch goes to a
// place for the first time:
//
//     from site 17, to site 40: 1000       from site 17, to site 52: 3
//     from site 17, to site 0: 12          to others: it had its most places already
//
// Mostly the row is the one that the block used last. If it is not, a hash table finds it.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulate/counting/translation.h"
#include "simulate/counts/counts_writer.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::counting {

class CountedTargets {
 public:
  /// Places that the branches of one site have rows for.
  static constexpr uint32_t kMostOfSite = 1024;

  /// The branch at the end of `before` went to `now`. `core`: always the same, until forget().
  [[gnu::always_inline]] void count(const BlockFacts& before, const BlockFacts& now,
                                    const CoreCounts& core) {
    if (latest_ == nullptr) [[unlikely]]
      latest_ = std::make_unique<Latest>(counts_file::kMaxBlocks);
    uint32_t& latest = (*latest_)[before.number];
    counts_file::Target& row = core.targets[latest];
    if (row.to == now.first_site && row.from == before.last_site) [[likely]] {
      ++row.count;
    } else {
      latest = count_other(before.last_site, now.first_site, core);
    }
  }

  /// The rows are gone: a child begins a file of its own.
  void forget() { *this = {}; }

 private:
  using Latest = simulate::ZeroedArray<uint32_t>;

  static size_t hash_of(uint32_t from, uint32_t to) {
    return ((uint64_t{from} << 32 | to) * 0x9e37'79b9'7f4a'7c15) >> 32;
  }
  uint32_t count_other(uint32_t from, uint32_t to, const CoreCounts& core);
  uint32_t find(uint32_t from, uint32_t to, const CoreCounts& core) const;
  uint32_t append(uint32_t from, uint32_t to, const CoreCounts& core);
  void put(uint32_t number, const counts_file::Target& row);

  std::unique_ptr<Latest> latest_;                 // rows, by number of block
  std::vector<uint32_t> index_;                    // rows; 0: none. At most half are used
  uint32_t rows_ = 1;                              // row 0 is a place holder
  std::unordered_map<uint32_t, uint32_t> places_;  // rows of a site
};

}  // namespace culprit::counting
