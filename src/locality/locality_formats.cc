// Locality for programs: schema/locality.schema.json, and a CSV line per statement.

#include "locality/json_use.h"
#include "locality/locality.h"
#include "print/csv.h"

namespace culprit {
namespace {

Json json_edges(const std::vector<EdgeRow>& rows) {
  Json list = Json::array();
  for (const EdgeRow& row : rows) {
    Json object = row.is_itself ? Json::object() : json_spot(row.spot);
    object["itself"] = row.is_itself;
    object["count"] = row.count;
    list.push_back(std::move(object));
  }
  return list;
}

Json json_part(const LocalityReport& report) {
  if (!report.part) return {};
  const PartLocality& part = *report.part;
  static constexpr const char* kKinds[kDataKinds] = {"integer_load", "integer_store", "float_load",
                                                     "float_store"};
  Json kinds = Json::object();
  for (size_t kind = 0; kind < kDataKinds; ++kind) {
    kinds[kKinds[kind]] = {{"accesses", part.kinds[kind].accesses},
                           {"misses", json_misses(part.kinds[kind].misses)},
                           {"levels", json_levels(part.kinds[kind].levels, report.caches)}};
  }
  Json edges = Json::object();
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const LevelEdges& level = part.levels[i];
    edges[level_word(kTenureLevels[i])] = {
        {"reused_by", json_edges(level.reused_by)},
        {"evicted_by_capacity", json_edges(level.evicted_by_capacity)},
        {"evicted_by_conflict", json_edges(level.evicted_by_conflict)},
        {"refetched_by", json_edges(level.refetched_by)},
        {"shared_same_bytes", json_edges(level.shared_same_bytes)},
        {"shared_other_bytes", json_edges(level.shared_other_bytes)},
        {"reuses_of", json_edges(level.reuses_of)},
        {"evicts", json_edges(level.evicts)},
        {"refetches", json_edges(level.refetches)},
        {"takes_from", json_edges(level.takes_from)}};
  }
  Json object = {{"name", printable(part.name)},
                 {"use", json_use(part.use, report.events, report.caches)}};
  object["kinds"] = std::move(kinds);
  object["edges"] = std::move(edges);
  return object;
}

}  // namespace

std::string print_locality_json(const Profile& profile, const LocalityReport& report) {
  Json rows = Json::array();
  for (const StatementRow& row : report.rows) {
    Json object = json_spot(row.spot);
    object["use"] = json_use(row.use, report.events, report.caches);
    rows.push_back(std::move(object));
  }
  Json remarks = Json::array();
  for (const std::string& remark : report.remarks) remarks.push_back(printable(remark));
  Json json = {{"schema", "culprit-locality-1"},
               {"runs", json_runs(profile)},
               {"machine", json_machine(profile.machine)},
               {"caches", json_caches(report.caches)},
               {"cost", json_cost_kind(report.events)},
               {"by", by_word(report.options.by)},
               {"rows", std::move(rows)}};
  json["rest"] = report.rest_rows == 0
                     ? Json()
                     : Json{{"rows", report.rest_rows},
                            {"use", json_use(report.rest, report.events, report.caches)}};
  json["totals"] = json_use(report.totals, report.events, report.caches);
  json["part"] = json_part(report);
  json["remarks"] = std::move(remarks);
  json["ledger"] = json_ledger(profile.ledger);
  return dump(json);
}

std::string print_locality_csv(const LocalityReport& report) {
  std::string text;
  CsvLine heading(text);
  for (const char* word : {"module", "function", "file", "line", "column", "address"}) {
    heading.add(word);
  }
  add_use_headings(heading);
  heading.end();
  for (const StatementRow& row : report.rows) {
    CsvLine line(text);
    line.add(row.spot.module);
    line.add(row.spot.function);
    line.add(row.spot.file);
    line.add(row.spot.line == 0 ? "" : std::to_string(row.spot.line));
    line.add(row.spot.column == 0 ? "" : std::to_string(row.spot.column));
    line.add(row.spot.address ? json_address(*row.spot.address) : "");
    add_use(line, row.use, report.events, report.caches);
    line.end();
  }
  return text;
}

}  // namespace culprit
