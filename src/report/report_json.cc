// A report for programs: schema/report.schema.json.

#include "print/json_parts.h"
#include "report/report_formats.h"
#include "report/row_filter.h"

namespace culprit {

namespace {

void add_names(const ReportRow& row, Json& object) {
  const auto text = [&object](const char* name, const std::optional<std::string>& value) {
    if (value) object[name] = printable(*value);
  };
  const auto number = [&object](const char* name, const std::optional<uint32_t>& value) {
    if (value) object[name] = *value;
  };
  text("process", row.process);
  number("process_id", row.process_id);
  text("thread", row.thread);
  number("thread_id", row.thread_id);
  text("module", row.module);
  text("function", row.function);
  if (row.function) object["inlined"] = row.inlined;
  text("file", row.file);
  text("object", row.object);
  text("region", row.region);
  number("line", row.line);
  if (row.address) object["address"] = json_address(*row.address);
  if (row.end_address) object["end_address"] = json_address(*row.end_address);
  if (row.skid) object["skid"] = true;
}

/// null where nothing is known: never 0.
Json json_derived(const ReportTable& table, const std::vector<Value>& values) {
  Json object = Json::object();
  for (const DerivedColumn& column : table.derived) {
    const std::optional<Estimate> known = column.compute(values);
    object[column.name] =
        known ? Json{{"value", known->value}, {"error", known->standard_error}} : Json();
  }
  return object;
}

Json json_working_set(const ReportTable& table) {
  Json parts = Json::array();
  for (const WorkingSetPart& part : table.working_set) {
    parts.push_back(
        {{"percent", part.percent}, {"lines", part.lines}, {"size_bytes", part.size_bytes()}});
  }
  return parts;
}

Json json_rows(const ReportTable& table, const std::vector<std::string>& event_names) {
  const bool tree = table.options.tree != Tree::none;
  Json rows = Json::array();
  for (const ReportRow& row : table.rows) {
    Json object = Json::object();
    if (tree) object["depth"] = row.depth;
    add_names(row, object);
    object["values"] = json_values(event_names, row.values);
    if (tree) object["self"] = json_values(event_names, row.self);
    if (!row.inclusive.empty()) object["inclusive"] = json_values(event_names, row.inclusive);
    if (!table.derived.empty()) object["derived"] = json_derived(table, row.values);
    rows.push_back(std::move(object));
  }
  return rows;
}

const char* tree_name(Tree tree) {
  switch (tree) {
    case Tree::none:
      return "none";
    case Tree::callers:
      return "callers";
    case Tree::callees:
      return "callees";
  }
  return "none";
}

const char* columns_name(Columns columns) {
  switch (columns) {
    case Columns::events:
    case Columns::waits:  // events of a profile of its own
    case Columns::latency:
      return "events";
    case Columns::executions:
      return "executions";
    case Columns::frequency:
      return "frequency";
    case Columns::hca:
      return "hca";
  }
  return "events";
}

}  // namespace

std::string print_report_json(const Profile& profile, const ReportTable& table) {
  std::vector<std::string> names;
  for (const std::string& name : table.event_names) names.push_back(printable(name));
  Json by = Json::array();
  for (const RowLevel level : table.options.by) by.push_back(level_name(level));
  Json filters = Json::array();
  for (const Filter& filter : table.options.filters) {
    filters.push_back(
        {{"level", level_name(filter.level)}, {"pattern", printable(filter.pattern)}});
  }
  Json remarks = Json::array();
  for (const std::string& remark : table.remarks) remarks.push_back(printable(remark));

  Json report = {{"schema", "culprit-report-1"},
                 {"runs", json_runs(profile)},
                 {"machine", json_machine(profile.machine)},
                 {"clock", json_clock(profile.machine)},
                 {"events", json_events(profile, names, table.totals)},
                 {"by", std::move(by)},
                 {"tree", tree_name(table.options.tree)},
                 {"columns", columns_name(table.options.columns)},
                 {"filters", std::move(filters)},
                 {"rows", json_rows(table, names)}};
  report["derived"] = json_derived(table, table.totals);
  report["working_set"] = json_working_set(table);
  report["rest"] = table.rest_rows == 0 ? Json()
                                        : Json{{"rows", table.rest_rows},
                                               {"values", json_values(names, table.rest)}};
  report["shown"] = json_values(names, table.shown);
  report["remarks"] = std::move(remarks);
  report["ledger"] = json_ledger(table.ledger);
  return dump(report);
}

}  // namespace culprit
