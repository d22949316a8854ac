// Profile → LocalityReport: uses by statement, and of a part its edges.

#include <algorithm>
#include <fmt/format.h>
#include <tsl/robin_map.h>

#include "locality/locality.h"
#include "locality/use_order.h"

namespace culprit {
namespace {

/// Adds up the edges of one part by the statements at their other ends.
class PartEdges {
 public:
  PartEdges(CodeIndex& code, CodePart& part, PartLocality& into)
      : others_(code, LocalityBy::line), part_(part), into_(into) {}

  void add(const Edge& edge) {
    const auto level = tenure_level(edge.level);
    if (!level) return;
    const bool from_here = part_.holds(edge.from);
    const bool to_here = part_.holds(edge.to);
    if (from_here) count(*level, outgoing(edge.kind), edge.to, to_here, edge.count);
    if (to_here) count(*level, incoming(edge.kind), edge.from, from_here, edge.count);
  }

  void finish() {
    for (const auto& [key, count] : counts_) {
      EdgeRow row;
      row.is_itself = key.row == kNoRow;
      if (!row.is_itself) row.spot = others_.spot(key.row);
      row.count = count;
      (into_.levels[key.level].*lists(key.list)).push_back(std::move(row));
    }
    for (LevelEdges& level : into_.levels) {
      for (size_t list = 0; list < kLists; ++list) {
        auto& rows = level.*lists(list);
        std::sort(rows.begin(), rows.end(), [](const EdgeRow& a, const EdgeRow& b) {
          if (a.count != b.count) return a.count > b.count;
          return a.spot.label() < b.spot.label();
        });
      }
    }
  }

 private:
  using List = std::vector<EdgeRow> LevelEdges::*;
  static constexpr size_t kLists = 10;
  static List lists(size_t number) {
    static constexpr List kAll[kLists] = {
        &LevelEdges::reused_by,           &LevelEdges::evicted_by_capacity,
        &LevelEdges::evicted_by_conflict, &LevelEdges::refetched_by,
        &LevelEdges::shared_same_bytes,   &LevelEdges::shared_other_bytes,
        &LevelEdges::reuses_of,           &LevelEdges::evicts,
        &LevelEdges::refetches,           &LevelEdges::takes_from};
    return kAll[number];
  }
  static size_t outgoing(EdgeKind kind) {
    switch (kind) {
      case EdgeKind::reuse:
        return 0;
      case EdgeKind::eviction_capacity:
        return 1;
      case EdgeKind::eviction_conflict:
        return 2;
      case EdgeKind::refetch_capacity:
      case EdgeKind::refetch_conflict:
        return 3;
      case EdgeKind::sharing_true:
        return 4;
      case EdgeKind::sharing_false:
        return 5;
    }
    return 0;
  }
  static size_t incoming(EdgeKind kind) {
    switch (kind) {
      case EdgeKind::reuse:
        return 6;
      case EdgeKind::eviction_capacity:
      case EdgeKind::eviction_conflict:
        return 7;
      case EdgeKind::refetch_capacity:
      case EdgeKind::refetch_conflict:
        return 8;
      case EdgeKind::sharing_true:
      case EdgeKind::sharing_false:
        return 9;
    }
    return 6;
  }

  /// Of a function its own lines are told apart; a line itself is "itself".
  void count(size_t level, size_t list, const Location& other, bool is_here, uint64_t amount) {
    const uint32_t row = is_here && part_.is_line() ? kNoRow : others_.row_of(other);
    counts_[{static_cast<uint8_t>(level), static_cast<uint8_t>(list), row}] += amount;
  }

  struct Key {
    uint8_t level;
    uint8_t list;
    uint32_t row;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (uint64_t{key.row} << 16 | uint64_t{key.level} << 8 | key.list) * 0x9e3779b97f4a7c15;
    }
  };

  Statements others_;
  CodePart& part_;
  PartLocality& into_;
  tsl::robin_map<Key, uint64_t, Hash> counts_;
};

Result<PartLocality> make_part(const Profile& profile, CodeIndex& code, CodePart& part,
                               const UseEvents& events) {
  PartLocality found;
  found.name = part.words();
  std::vector<Use> use;
  add_uses(
      profile, events,
      [&](ContextId, const Location& at, ObjectId) { return part.holds(at) ? 0 : kNoRow; }, use);
  if (use.empty()) return part.not_found();
  found.use = use.front();
  found.kinds = split_by_kind(
      profile, events, [&](ContextId, const Location& at, ObjectId) { return part.holds(at); });
  PartEdges edges(code, part, found);
  for (const Edge& edge : profile.edges) edges.add(edge);
  edges.finish();
  return found;
}

void add_remarks(const Profile& profile, LocalityReport& report) {
  if (!report.caches.all_levels) {
    report.remarks.emplace_back(
        "of L1 only: record --locality all tells what becomes of lines in L2 and L3");
  }
  uint64_t unknown = 0;
  for (const Tenure& tenure : profile.tenures) unknown += tenure.lines_cut;
  if (unknown > 0) {
    report.remarks.push_back(
        fmt::format("{} lines moved from one level to another, or other cores had them, when they "
                    "left: of these not all uses are known",
                    unknown));
  }
}

}  // namespace

Result<LocalityReport> make_locality(const Profile& profile, const FactsLookup& facts,
                                     const LocalityOptions& options) {
  LocalityReport report;
  report.options = options;
  ASSIGN_OR_RETURN(report.caches, find_caches(profile));
  if (!report.caches.all_levels && options.level != CacheLevel::l1d &&
      options.level != CacheLevel::l1i) {
    return Error{fmt::format("what becomes of lines in {} was not recorded: record --locality all",
                             level_word(options.level))};
  }
  report.events = find_use_events(profile);
  CodeIndex code(profile, facts);
  Statements statements(code, options.by);
  std::optional<CodePart> part;
  if (!options.part.empty()) {
    part.emplace(code, options.part);
    ASSIGN_OR_RETURN(report.part, make_part(profile, code, *part, report.events));
  }
  std::vector<Use> uses;
  add_uses(
      profile, report.events,
      [&](ContextId, const Location& at, ObjectId) {
        return part && !part->holds(at) ? kNoRow : statements.row_of(at);
      },
      uses);
  uses.resize(statements.size());
  // Shares are of everything, whatever part is asked for.
  std::vector<Use> all;
  add_uses(profile, report.events, [](ContextId, const Location&, ObjectId) { return 0U; }, all);
  if (!all.empty()) report.totals = all.front();
  for (const uint32_t row : order_by_cost(uses)) {
    if (options.limit != 0 && report.rows.size() >= options.limit) {
      report.rest += uses[row];
      ++report.rest_rows;
    } else {
      report.rows.push_back({statements.spot(row), uses[row]});
    }
  }
  add_remarks(profile, report);
  return report;
}

std::string print_locality(const Profile& profile, const LocalityReport& report, Format format,
                           const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_locality_text(profile, report, style);
    case Format::json:
      return print_locality_json(profile, report);
    case Format::csv:
      return print_locality_csv(report);
  }
  return "";
}

}  // namespace culprit
