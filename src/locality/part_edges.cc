#include "locality/part_edges.h"

#include <algorithm>

namespace culprit {
namespace {

using List = std::vector<EdgeRow> LevelEdges::*;
constexpr List kLists[] = {&LevelEdges::reused_by,           &LevelEdges::evicted_by_capacity,
                           &LevelEdges::evicted_by_conflict, &LevelEdges::refetched_by,
                           &LevelEdges::shared_same_bytes,   &LevelEdges::shared_other_bytes,
                           &LevelEdges::reuses_of,           &LevelEdges::evicts,
                           &LevelEdges::refetches,           &LevelEdges::takes_from};

/// The list of edges that go from the part, and of those that go to it, by EdgeKind.
constexpr uint8_t kFrom[] = {0, 2, 1, 4, 5, 3, 3};
constexpr uint8_t kTo[] = {6, 7, 7, 9, 9, 8, 8};
static_assert(std::size(kFrom) == static_cast<size_t>(EdgeKind::refetch_conflict) + 1);

}  // namespace

void PartEdges::add(const Edge& edge, bool from_here, bool to_here) {
  const auto level = tenure_level(edge.level);
  const auto kind = static_cast<size_t>(edge.kind);
  if (!level || kind >= std::size(kFrom)) return;
  if (from_here) count(*level, kFrom[kind], edge.to, to_here, edge.count);
  if (to_here) count(*level, kTo[kind], edge.from, from_here, edge.count);
}

void PartEdges::count(size_t level, size_t list, const Location& other, bool is_own,
                      uint64_t amount) {
  const uint32_t row = is_own && !tells_own_ ? kNoRow : others_.row_of(other);
  counts_[{static_cast<uint8_t>(level), static_cast<uint8_t>(list), row}] += amount;
}

void PartEdges::finish(std::array<LevelEdges, kTenureLevels.size()>& levels) {
  for (const auto& [key, count] : counts_) {
    EdgeRow row;
    row.is_itself = key.row == kNoRow;
    if (!row.is_itself) row.spot = others_.spot(key.row);
    row.count = count;
    (levels[key.level].*kLists[key.list]).push_back(std::move(row));
  }
  for (LevelEdges& level : levels) {
    for (const List list : kLists) {
      auto& rows = level.*list;
      std::sort(rows.begin(), rows.end(), [](const EdgeRow& a, const EdgeRow& b) {
        if (a.count != b.count) return a.count > b.count;
        return a.spot.label() < b.spot.label();
      });
    }
  }
}

}  // namespace culprit
