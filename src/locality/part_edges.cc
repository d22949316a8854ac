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
  if (from_here) count(edge, *level, kFrom[kind], edge.to, to_here);
  if (to_here) count(edge, *level, kTo[kind], edge.from, from_here);
}

void PartEdges::count(const Edge& edge, size_t level, size_t list, const Location& other,
                      bool is_own) {
  const uint32_t row = is_own && !tells_own_ ? kNoRow : others_.row_of(other);
  Count& count = counts_[{static_cast<uint8_t>(level), static_cast<uint8_t>(list), row}];
  count.all += edge.count;
  if (edge.stratum == 0 || edge.stratum > kMostStrata) return;
  if (count.groups.size() < edge.stratum) count.groups.resize(edge.stratum);
  count.groups[edge.stratum - 1] += edge.count;
}

void PartEdges::finish(std::array<LevelEdges, kTenureLevels.size()>& levels) {
  for (const auto& [key, count] : counts_) {
    EdgeRow row;
    row.is_itself = key.row == kNoRow;
    if (!row.is_itself) row.spot = others_.spot(key.row);
    row.count = count.all;
    row.groups = count.groups;
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
