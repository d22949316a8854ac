// Locality for programs: schema/locality.schema.json, and a CSV line per statement.

#include "locality/json_use.h"
#include "locality/locality.h"
#include "print/csv.h"

namespace culprit {
namespace {

Json json_part(const LocalityReport& report) {
  if (!report.part) return {};
  const PartLocality& part = *report.part;
  Json object = {{"name", printable(part.name)},
                 {"use", json_use(part.use, report.events, report.caches)}};
  object["kinds"] = json_kinds(part.kinds, report.events, report.caches);
  object["edges"] = json_edges(part.levels, report.caches);
  object["objects"] = json_objects(part.objects, report.data_events, report.caches);
  return object;
}

}  // namespace

std::string print_locality_json(const Profile& profile, const LocalityReport& report) {
  Json remarks = Json::array();
  for (const std::string& remark : report.remarks) remarks.push_back(printable(remark));
  Json json = {{"schema", "culprit-locality-1"},
               {"runs", json_runs(profile)},
               {"machine", json_machine(profile.machine)},
               {"caches", json_caches(report.caches)},
               {"cost", json_cost_kind(report.events)},
               {"by", by_word(report.options.by)},
               {"rows", json_statements(report.rows, report.events, report.caches)}};
  json["rest"] = report.rest_rows == 0
                     ? Json()
                     : Json{{"rows", report.rest_rows},
                            {"use", json_use(report.rest, report.events, report.caches)}};
  json["totals"] = json_use(report.totals, report.events, report.caches);
  json["part"] = json_part(report);
  json["advice"] = json_advice(report.advice);
  json["remarks"] = std::move(remarks);
  json["ledger"] = json_ledger(profile.ledger);
  return dump(json);
}

std::string print_locality_csv(const LocalityReport& report) {
  std::string text;
  CsvLine heading(text);
  for (const char* word :
       {"module", "function", "file", "line", "last line", "column", "address"}) {
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
    line.add(row.spot.last_line == 0 ? "" : std::to_string(row.spot.last_line));
    line.add(row.spot.column == 0 ? "" : std::to_string(row.spot.column));
    line.add(row.spot.address ? json_address(*row.spot.address) : "");
    add_use(line, row.use, report.events, report.caches);
    line.end();
  }
  return text;
}

}  // namespace culprit
