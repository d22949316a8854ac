// Data objects for programs: schema/data.schema.json, and a CSV line per object.

#include "locality/data.h"
#include "locality/json_use.h"

namespace culprit {
namespace {

Json json_object_part(const DataReport& report) {
  if (!report.part) return {};
  const ObjectPart& part = *report.part;
  Json object = json_object(part.name);
  object["use"] = json_use(part.use, report.events, report.caches);
  object["kinds"] = json_kinds(part.kinds, report.events, report.caches);
  object["edges"] = json_edges(part.levels, report.caches);
  object["statements"] = json_statements(part.statements, report.events, report.caches);
  object["fields"] = json_objects(part.fields, report.events, report.caches);
  Json others = Json::array();
  for (const std::string& other : part.others) others.push_back(printable(other));
  object["others"] = std::move(others);
  return object;
}

}  // namespace

std::string print_data_json(const Profile& profile, const DataReport& report) {
  Json remarks = Json::array();
  for (const std::string& remark : report.remarks) remarks.push_back(printable(remark));
  Json json = {
      {"schema", "culprit-data-1"},
      {"runs", json_runs(profile)},
      {"machine", json_machine(profile.machine)},
      {"caches", report.has_locality ? json_caches(report.caches) : Json()},
      {"cost", json_cost_kind(report.events)},
      {"measured_cycles", report.measured_cycles > 0 ? Json(report.measured_cycles) : Json()},
      {"rows", json_objects(report.rows, report.events, report.caches)}};
  json["rest"] = report.rest_rows == 0
                     ? Json()
                     : Json{{"rows", report.rest_rows},
                            {"use", json_use(report.rest, report.events, report.caches)}};
  json["totals"] = json_use(report.totals, report.events, report.caches);
  json["named"] = json_use(report.named, report.events, report.caches);
  json["part"] = json_object_part(report);
  json["advice"] = json_advice(report.advice);
  json["remarks"] = std::move(remarks);
  json["ledger"] = json_ledger(profile.ledger);
  return dump(json);
}

std::string print_data_csv(const DataReport& report) {
  std::string text;
  CsvLine heading(text);
  for (const char* word : {"name", "kind", "place", "type", "size", "blocks", "total bytes"}) {
    heading.add(word);
  }
  add_use_headings(heading);
  heading.end();
  std::vector<ObjectRow> rows = report.rows;
  if (report.part) rows = {{report.part->name, report.part->use}};
  for (const ObjectRow& row : rows) {
    CsvLine line(text);
    for (const std::string* word :
         {&row.name.name, &row.name.kind, &row.name.place, &row.name.type}) {
      line.add(*word);
    }
    for (const uint64_t value : {row.name.size_bytes, row.name.blocks, row.name.total_bytes}) {
      line.add(value == 0 ? "" : std::to_string(value));
    }
    add_use(line, row.use, report.events, report.caches);
    line.end();
  }
  return text;
}

}  // namespace culprit
