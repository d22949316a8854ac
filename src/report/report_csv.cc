// A report for spreadsheets: one header line, fields quoted as in RFC 4180.

#include <fmt/format.h>
#include <string>
#include <vector>

#include "print/csv.h"
#include "report/report_formats.h"
#include "report/row_key.h"

namespace culprit {

namespace {

template <class T>
std::string number(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "";
}

std::string address(const std::optional<uint64_t>& value) {
  return value ? fmt::format("{:#x}", *value) : "";
}

struct CsvColumn {
  const char* heading;
  bool wanted;
  std::string (*cell)(const ReportRow&);
};

std::vector<CsvColumn> label_columns(const ReportTable& table) {
  const Levels by = Levels::of(table.options.by);
  const bool tree = table.options.tree != Tree::none;
  return {
      {"depth", tree, [](const ReportRow& r) { return std::to_string(r.depth); }},
      {"process", by.names_process(), [](const ReportRow& r) { return r.process.value_or(""); }},
      {"process_id", by.process, [](const ReportRow& r) { return number(r.process_id); }},
      {"thread", by.thread, [](const ReportRow& r) { return r.thread.value_or(""); }},
      {"thread_id", by.thread, [](const ReportRow& r) { return number(r.thread_id); }},
      {"region", by.region, [](const ReportRow& r) { return r.region.value_or(""); }},
      {"object", by.object, [](const ReportRow& r) { return r.object.value_or(""); }},
      {"module", by.module || by.address(),
       [](const ReportRow& r) { return r.module.value_or(""); }},
      {"function", by.code() || tree, [](const ReportRow& r) { return r.function.value_or(""); }},
      {"inlined", by.code() || tree,
       [](const ReportRow& r) { return std::string(r.inlined ? "1" : "0"); }},
      {"file", by.line || by.instruction, [](const ReportRow& r) { return r.file.value_or(""); }},
      {"line", by.line || by.instruction, [](const ReportRow& r) { return number(r.line); }},
      {"address", by.address(), [](const ReportRow& r) { return address(r.address); }},
      {"end_address", (by.loop || by.block) && !by.instruction,
       [](const ReportRow& r) { return address(r.end_address); }},
  };
}

}  // namespace

std::string print_report_csv(const ReportTable& table) {
  const std::vector<CsvColumn> columns = label_columns(table);
  const bool tree = table.options.tree != Tree::none;
  std::string text;
  CsvLine heading(text);
  for (const CsvColumn& column : columns) {
    if (column.wanted) heading.add(column.heading);
  }
  add_value_headings(heading, table.event_names);
  if (tree) {
    for (const std::string& event : table.event_names) heading.add(event + " self");
  }
  for (const DerivedColumn& column : table.derived) {
    heading.add(column.name);
    heading.add(column.name + " error");
  }
  heading.end();
  for (const ReportRow& row : table.rows) {
    CsvLine line(text);
    for (const CsvColumn& column : columns) {
      if (column.wanted) line.add(column.cell(row));
    }
    add_values(line, row.values);
    if (tree) {
      for (const Value& value : row.self) line.add(fmt::format("{}", value.value));
    }
    for (const DerivedColumn& column : table.derived) {
      const std::optional<Estimate> known = column.compute(row.values);
      line.add(known ? fmt::format("{}", known->value) : "");
      line.add(known ? fmt::format("{:.6g}", known->standard_error) : "");
    }
    line.end();
  }
  return text;
}

}  // namespace culprit
