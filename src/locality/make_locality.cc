// Profile → LocalityReport: uses by statement, and of a part its edges.

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/names.h"
#include "base/text.h"
#include "locality/locality.h"
#include "locality/part_edges.h"
#include "locality/use_order.h"

namespace culprit {
namespace {

/// What a part of the code accesses, by data object.
std::vector<ObjectRow> find_objects_of(const Profile& profile, CodeIndex& code, CodePart& part,
                                       const UseEvents& events) {
  if (!has_objects(profile)) return {};
  const auto last = static_cast<uint32_t>(profile.objects.size());
  std::vector<Use> uses;
  add_uses(
      profile, events,
      [&](ContextId, const Location& at, ObjectId object) {
        if (object.value == kNoAccess.value || !part.holds(at)) return kNoRow;
        return std::min(object.value, last);
      },
      uses);
  ObjectDescriber names(code);
  std::vector<ObjectRow> rows;
  constexpr size_t kMostObjects = 20;
  for (const uint32_t row : order_by_cost(uses, events)) {
    if (rows.size() == kMostObjects) break;
    rows.push_back({names.describe(row < last ? ObjectId(row) : ObjectId()), uses[row]});
  }
  return rows;
}

/// Advice that has something to do with a part: one of its lines is to be touched.
void keep_advice_of(const std::vector<StatementRow>& rows, std::vector<LocalityAdvice>& advice) {
  std::set<std::string> lines;
  for (const StatementRow& row : rows) {
    if (row.spot.line == 0) continue;
    for (uint32_t more = 0; more <= row.spot.last_line - row.spot.line; ++more) {
      lines.insert(fmt::format("{}:{}", printable(base_name(row.spot.file)), row.spot.line + more));
    }
  }
  std::erase_if(advice, [&](const LocalityAdvice& one) {
    return std::none_of(one.lines.begin(), one.lines.end(),
                        [&](const std::string& line) { return lines.contains(line); });
  });
  // Numbers of pieces that are not shown mean nothing.
  for (LocalityAdvice& one : advice) one.overlaps.reset();
}

Result<PartLocality> make_part(const Profile& profile, CodeIndex& code, CodePart& part,
                               const UseEvents& events, const UseEvents& data_events) {
  PartLocality found;
  std::vector<Use> use;
  add_uses(
      profile, events,
      [&](ContextId, const Location& at, ObjectId) { return part.holds(at) ? 0 : kNoRow; }, use);
  if (use.empty()) return part.not_found();
  forget_access_errors(use);
  found.name = part.name();
  found.use = use.front();
  found.kinds = split_by_kind(
      profile, events, [&](ContextId, const Location& at, ObjectId) { return part.holds(at); });
  forget_access_errors(found.kinds);
  PartEdges edges(code, !part.is_line());
  for (const Edge& edge : profile.edges) {
    edges.add(edge, part.holds(edge.from), part.holds(edge.to));
  }
  edges.finish(found.levels);
  found.objects = find_objects_of(profile, code, part, data_events);
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
  LoopScales scales(profile, code);
  report.data_events = find_use_events(profile, false);
  scales.share_out(report.data_events);
  Statements statements(code, options.by);
  std::optional<CodePart> part;
  if (!options.part.empty()) {
    part.emplace(code, options.part, options.by);
    ASSIGN_OR_RETURN(report.part,
                     make_part(profile, code, *part, report.events, report.data_events));
  }
  std::vector<Use> uses;
  add_uses(
      profile, report.events,
      [&](ContextId, const Location& at, ObjectId) {
        return part && !part->holds(at) ? kNoRow : statements.row_of(at);
      },
      uses);
  uses.resize(statements.size());
  forget_access_errors(uses);
  // Shares are of everything, whatever part is asked for.
  std::vector<Use> all;
  add_uses(profile, report.events, [](ContextId, const Location&, ObjectId) { return 0U; }, all);
  forget_access_errors(all);
  if (!all.empty()) report.totals = all.front();
  for (const uint32_t row : order_by_cost(uses, report.events)) {
    if (options.limit != 0 && report.rows.size() >= options.limit) {
      report.rest += uses[row];
      ++report.rest_rows;
    } else {
      report.rows.push_back({statements.spot(row), uses[row]});
    }
  }
  report.advice = make_locality_advice(profile, code, report.caches, scales);
  report.data_events.scale = nullptr;  // `scales` ends here
  if (report.part) keep_advice_of(report.rows, report.advice);
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
