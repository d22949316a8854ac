#include "simulate/machine/edge_table.h"

namespace culprit::simulate {
namespace {

EdgeKey edge_of(ReuseKey origins) {
  return {Origin::of_bits(static_cast<uint32_t>(origins >> 32)),
          Origin::of_bits(static_cast<uint32_t>(origins)), LineEdgeKind::reuse};
}

/// What tells the rest of edges apart.
ReuseKey group_of(ReuseKey origins) {
  return origins >> 32 << 32;
}
EdgeKey group_of(const EdgeKey& key) {
  return {key.from, {}, key.kind};
}

}  // namespace

template <class Key>
void EdgeCounts<Key>::settle(size_t number, size_t& room) {
  Part& part = parts_[number];
  for (size_t i = 0; i < part.waiting; ++i) {
    const Entry& entry = waiting_[number * kMostWaiting + i];
    const auto found = part.counts.find(entry.key);
    if (found != part.counts.end()) {
      found.value() += entry.count;
    } else if (room > 0) {
      part.counts.emplace(entry.key, entry.count);
      --room;
    } else {
      rest_[group_of(entry.key)] += entry.count;
    }
  }
  part.waiting = 0;
}

template class EdgeCounts<ReuseKey>;
template class EdgeCounts<EdgeKey>;

std::vector<LineEdge> EdgeTable::collect() {
  reuses_.settle(room_);
  others_.settle(room_);
  std::vector<LineEdge> edges;
  reuses_.for_each([&](ReuseKey key, uint64_t count) { edges.push_back({edge_of(key), count}); });
  others_.for_each([&](const EdgeKey& key, uint64_t count) { edges.push_back({key, count}); });
  return edges;
}

std::vector<LineEdge> EdgeTable::take_rest() {
  reuses_.settle(room_);
  others_.settle(room_);
  std::vector<LineEdge> edges;
  for (const auto& [key, count] : reuses_.rest()) edges.push_back({edge_of(key), count});
  for (const auto& [key, count] : others_.rest()) edges.push_back({key, count});
  reuses_.rest().clear();
  others_.rest().clear();
  return edges;
}

}  // namespace culprit::simulate
