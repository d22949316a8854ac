#pragma once

// EdgeTable: counts of edges between the origins of a level's tenures.
//
// A program of many instructions has some hundred thousand edges, and most accesses add to one.
// What is added goes to the edges seen last; what these give up waits in one of some parts of the
// table, and is added there when enough has come together that the part is worth having in this
// processor's caches.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "simulate/machine/origin.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

enum class LineEdgeKind : uint8_t {
  reuse,                   // `from` brought a line in, `to` touched it again
  evict_by_capacity,       // `to` pushed out a line of `from`; a fully associative cache would, too
  evict_by_conflict,       // the same, because too many lines share its set
  share_same_bytes,        // another core's `to` took a line that `from` brought in: true sharing
  share_other_bytes,       // the same, but it used other bytes of it: false sharing
  refetch_after_capacity,  // `to` brought in again what `from` had and evict_by_capacity took
  refetch_after_conflict,  // the same of evict_by_conflict
};
inline constexpr int kEdgeKinds = 7;

struct EdgeKey {
  Origin from;  // that brought the line in
  Origin to;    // of any use
  LineEdgeKind kind = LineEdgeKind::reuse;
  friend bool operator==(const EdgeKey&, const EdgeKey&) = default;
};

struct LineEdge {
  EdgeKey key;
  uint64_t count = 0;
};

/// The origins of a reuse edge: from << 32 | to.
using ReuseKey = uint64_t;

inline uint64_t hash_of(ReuseKey key) {
  const uint64_t mixed = key * 0x9e37'79b9'7f4a'7c15;
  return mixed ^ mixed >> 32;
}
inline uint64_t hash_of(const EdgeKey& key) {
  const uint64_t origins = uint64_t{key.from.bits()} << 32 | key.to.bits();
  return hash_of(origins ^ uint64_t{static_cast<uint8_t>(key.kind)} << 20);
}

/// Counts by key, as EdgeTable needs them.
template <class Key>
class EdgeCounts {
 public:
  struct Hash {
    size_t operator()(const Key& key) const { return hash_of(key); }
  };
  using Map = tsl::robin_map<Key, uint64_t, Hash>;

  /// `room`: how many more different keys may be kept; others go to rest().
  void add(const Key& key, uint64_t count, size_t& room) {
    Entry* recent = &recent_[hash_of(key) & recent_mask_];
    if (recent->key != key) [[unlikely]]
      recent = &replace_recent(key, room);
    recent->count += count;
  }

  /// All that was added is in the parts, or the rest.
  void settle(size_t& room) {
    if (recent_mask_ == 0 && recent_[0].count != 0) make_room();
    for (size_t i = 0; i <= recent_mask_; ++i) give_up(recent_[i], room);
    for (size_t part = 0; part < kParts; ++part) settle(part, room);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Part& part : parts_) {
      for (const auto& [key, count] : part.counts) visit(key, count);
    }
  }
  /// The other edges, by the key's group.
  Map& rest() { return rest_; }

 private:
  static constexpr size_t kRecent = 1024;
  static constexpr size_t kParts = 16;
  static constexpr size_t kMostWaiting = 512;

  struct Entry {
    Key key{};
    uint64_t count = 0;
  };
  struct Part {
    Map counts;
    size_t waiting = 0;  // entries
  };

  [[gnu::noinline]] Entry& replace_recent(const Key& key, size_t& room) {
    if (recent_mask_ == 0) make_room();
    Entry& recent = recent_[hash_of(key) & recent_mask_];
    if (recent.key == key) return recent;
    give_up(recent, room);
    recent.key = key;
    return recent;
  }
  /// Call it before the second key is added: a table of one key needs no room.
  void make_room() {
    const Entry first = recent_[0];
    recent_ = ZeroedArray<Entry>(kRecent);
    waiting_ = ZeroedArray<Entry>(kParts * kMostWaiting);
    recent_mask_ = kRecent - 1;
    recent_[hash_of(first.key) & recent_mask_] = first;
  }

  void give_up(Entry& recent, size_t& room) {
    if (recent.count == 0) return;
    const size_t number = hash_of(recent.key) >> (64 - std::countr_zero(kParts));
    size_t& waiting = parts_[number].waiting;
    waiting_[number * kMostWaiting + waiting] = recent;
    if (++waiting == kMostWaiting) settle(number, room);
    recent.count = 0;
  }
  [[gnu::noinline]] void settle(size_t number, size_t& room);

  // A core that records nothing has one entry: a heap has to clear what it was given back, also
  // where nobody will look.
  size_t recent_mask_ = 0;
  ZeroedArray<Entry> recent_{1};
  ZeroedArray<Entry> waiting_;      // part by part
  std::array<Part, kParts> parts_;  // by the highest bits of the hash
  Map rest_;
};

class EdgeTable {
 public:
  /// A table of `limit` different edges keeps no new ones.
  explicit EdgeTable(size_t limit) : room_(limit) {}

  /// `count` more reuses.
  void add_reuse(Origin from, Origin to, uint64_t count = 1) {
    reuses_.add(ReuseKey{from.bits()} << 32 | to.bits(), count, room_);
  }
  /// Adds an edge of any other kind.
  void add(const EdgeKey& key, uint64_t count) { others_.add(key, count, room_); }

  /// Those that are kept, each once, in any order.
  [[nodiscard]] std::vector<LineEdge> collect();
  /// Takes the counts of edges that were not kept, by `from` and `kind`; `to` is unknown.
  [[nodiscard]] std::vector<LineEdge> take_rest();

 private:
  size_t room_;
  EdgeCounts<ReuseKey> reuses_;
  EdgeCounts<EdgeKey> others_;
};

}  // namespace culprit::simulate
