#include "compare/print_parts.h"

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "report/row_filter.h"

namespace culprit {
namespace {

std::string fit_name(const std::string& cell, size_t width) {
  return shorten_name(cell, width);
}

}  // namespace

std::string describe_measure(const Measure& measure) {
  return provenance_mark(measure.provenance) +
         (measure.unit == "cycles" ? "cycles" : printable(measure.event));
}

std::string format_amount(const Measure& measure, double value) {
  if (value == 0) return "-";
  return measure.unit == "ns" ? format_duration_ns(value) : format_si(value);
}

std::vector<TextColumn> name_columns(const std::vector<RowLevel>& by) {
  std::vector<TextColumn> columns;
  for (const RowLevel level : by)
    columns.push_back({std::string(level_name(level)), false, fit_name, 2, {}});
  return columns;
}

void add_names(std::vector<TextColumn>& columns, size_t first, const ComparedKey& key) {
  for (size_t i = first; i < columns.size(); ++i) {
    const size_t level = i - first;
    columns[i].cells.push_back(level < key.size() ? pretty_name(printable(key[level])) : "");
  }
}

}  // namespace culprit
