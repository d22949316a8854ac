#pragma once

// EdgeTable: counts of edges between the sites of a level's tenures.
//
// A program of many instructions has some hundred thousand edges, and most accesses add to one.
// What is added goes to the edges seen last; what these give up waits in one of some parts of the
// table, and is added there when enough has come together that the part is worth having in this
// processor's caches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "simulate/machine/outcome.h"

namespace culprit::simulate {

enum class EdgeKind : uint8_t {
  reuse,              // `from` brought a line in, `to` touched it again
  evict_by_capacity,  // `to` pushed out a line of `from`; a fully associative cache would, too
  evict_by_conflict,  // the same, because too many lines share its set
  share_same_bytes,   // another core's `to` took a line that `from` brought in: true sharing
  share_other_bytes,  // the same, but it used other bytes of it: false sharing
};
inline constexpr int kEdgeKinds = 5;

struct EdgeKey {
  Site from = 0;
  Site to = 0;
  EdgeKind kind = EdgeKind::reuse;
  uint16_t other_core = 0;  // of sharing: whose instruction `to` is
  friend bool operator==(const EdgeKey&, const EdgeKey&) = default;
};

struct Edge {
  EdgeKey key;
  uint64_t count = 0;
};

class EdgeTable {
 public:
  /// Beyond `limit` different edges, new ones are not kept.
  explicit EdgeTable(size_t limit) : limit_(limit) {}

  void add(const EdgeKey& key, uint64_t count) {
    Edge& recent = recent_[hash_of(key) % kRecent];
    if (recent.count != 0 && recent.key == key) {
      recent.count += count;
      return;
    }
    give_up(recent);
    recent = {key, count};
  }

  /// One more of this kind, which every hit adds.
  void add_reuse(Site from, Site to) {
    const uint64_t sites = uint64_t{from} << 32 | to;
    Reuse& recent = reuses_[mix(sites) % kRecent];
    if (recent.sites != sites) [[unlikely]] {
      give_up(recent);
      recent.sites = sites;
    }
    ++recent.count;
  }

  /// Those that are kept, each once, in any order.
  [[nodiscard]] std::vector<Edge> collect();
  /// Of the others: their counts by `from` and `kind`, once; `to` is 0.
  [[nodiscard]] std::vector<Edge> take_rest();

 private:
  struct Reuse {
    uint64_t sites = 0;  // from << 32 | to
    uint64_t count = 0;
  };
  struct Hash {
    size_t operator()(const EdgeKey& key) const { return hash_of(key); }
  };
  using Counts = tsl::robin_map<EdgeKey, uint64_t, Hash>;
  struct Part {
    Counts counts;
    std::vector<Edge> waiting;
  };
  static constexpr size_t kRecent = 1024;
  static constexpr size_t kParts = 16;
  static constexpr size_t kMostWaiting = 512;

  static uint64_t mix(uint64_t value) {
    const uint64_t mixed = value * 0x9e37'79b9'7f4a'7c15;
    return mixed ^ mixed >> 32;
  }
  static uint64_t hash_of(const EdgeKey& key) {
    const uint64_t sites = uint64_t{key.from} << 32 | key.to;
    const uint64_t rest = uint64_t{key.other_core} << 8 | static_cast<uint8_t>(key.kind);
    return mix(sites ^ rest << 20);
  }

  void give_up(Edge& recent);
  void give_up(Reuse& recent);
  void put(const EdgeKey& key, uint64_t count);
  void settle(Part& part);
  void settle_all();

  size_t limit_;
  size_t kept_ = 0;
  std::vector<Edge> recent_ = std::vector<Edge>(kRecent);
  std::vector<Reuse> reuses_ = std::vector<Reuse>(kRecent);
  std::array<Part, kParts> parts_;  // by the highest bits of the hash
  Counts rest_;
};

}  // namespace culprit::simulate
