#include "documents/table_document.h"

#include <algorithm>
#include <numeric>

#include "documents/documents.h"
#include "documents/object_text.h"
#include "print/event_display.h"

namespace culprit {

namespace {

using Rows = std::vector<const std::vector<Value>*>;

/// A field of a column, by row; none where all are 0.
template <class Number>
std::vector<Number> list_of(const Rows& rows, size_t column, Number Value::* field) {
  std::vector<Number> list;
  list.reserve(rows.size());
  for (const std::vector<Value>* row : rows) {
    list.push_back(column < row->size() ? (*row)[column].*field : Number());
  }
  const bool has_any = std::ranges::any_of(list, [](Number one) { return one != 0; });
  return has_any ? list : std::vector<Number>();
}

Json describe_columns(const ReportAnswer& answer, const std::vector<size_t>& columns) {
  const ReportTable& table = answer.table;
  const Json all = json_events(answer.shown(), table.event_names, table.totals);
  Json described = Json::array();
  for (const size_t column : columns) {
    Json one = all.at(column);
    one["total"] = json_value(table.totals[column]);
    described.push_back(std::move(one));
  }
  return described;
}

}  // namespace

size_t TextNumbers::number_of(const std::string& text) {
  const auto [at, is_new] = numbers_.emplace(text, numbers_.size());
  if (is_new) texts_.push_back(&at->first);
  return at->second;
}

std::vector<size_t> TextNumbers::sort() {
  std::vector<size_t> order(texts_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t number) -> const std::string& { return *texts_[number]; });
  std::vector<size_t> new_numbers(order.size());
  std::vector<const std::string*> sorted;
  for (const size_t number : order) {
    new_numbers[number] = sorted.size();
    sorted.push_back(texts_[number]);
  }
  texts_ = std::move(sorted);
  for (auto& [text, number] : numbers_) number = new_numbers[number];
  return new_numbers;
}

std::vector<size_t> columns_with_values(size_t columns, const Rows& rows) {
  std::vector<size_t> kept;
  for (size_t column = 0; column < columns; ++column) {
    const bool has_any = std::ranges::any_of(rows, [&](const std::vector<Value>* row) {
      return column < row->size() && ((*row)[column].value != 0 || (*row)[column].samples != 0);
    });
    if (has_any) kept.push_back(column);
  }
  return kept;
}

ValueColumns::ValueColumns(const std::vector<size_t>& columns, const Rows& rows) {
  for (const size_t column : columns) {
    values.push_back(list_of(rows, column, &Value::value));
    errors.push_back(list_of(rows, column, &Value::error));
    samples.push_back(list_of(rows, column, &Value::samples));
  }
}

std::string table_document(const ReportAnswer& answer) {
  const ReportTable& table = answer.table;
  Rows rows{&table.totals};
  for (const ReportRow& row : table.rows) rows.push_back(&row.values);
  const std::vector<size_t> columns = columns_with_values(table.event_names.size(), rows);
  rows.erase(rows.begin());

  TextNumbers texts;
  std::vector<size_t> process;
  std::vector<size_t> module;
  std::vector<size_t> function;
  std::vector<uint32_t> process_id;
  std::vector<std::string> id;
  std::vector<double> inclusive;
  for (const ReportRow& row : table.rows) {
    const std::string in_module = row.module.value_or("");
    const std::string name = row.function.value_or("");
    process.push_back(texts.number_of(row.process.value_or("")));
    process_id.push_back(row.process_id.value_or(0));
    module.push_back(texts.number_of(in_module));
    function.push_back(texts.number_of(name));
    id.push_back(function_id(in_module, name));
    if (!row.inclusive.empty()) inclusive.push_back(row.inclusive.front().value);
  }
  if (inclusive.size() < table.rows.size()) inclusive.clear();
  const std::vector<size_t> new_numbers = texts.sort();
  for (std::vector<size_t>* column : {&process, &module, &function}) {
    for (size_t& number : *column) number = new_numbers[number];
  }
  const ValueColumns of_rows(columns, rows);
  ObjectText document(Json{{"schema", "culprit-web-table-1"},
                           {"columns", describe_columns(answer, columns)},
                           {"remarks", table.remarks}});
  document.add("texts", texts.texts());
  document.add("process", process);
  document.add("process_id", process_id);
  document.add("module", module);
  document.add("function", function);
  document.add("id", id);
  document.add("values", of_rows.values);
  document.add("errors", of_rows.errors);
  document.add("samples", of_rows.samples);
  document.add("inclusive", inclusive);
  return std::move(document).end();
}

std::string calls_document(const ReportAnswer& answer) {
  const ReportTable& table = answer.table;
  TextNumbers texts;
  std::vector<size_t> depth;
  std::vector<size_t> module;
  std::vector<size_t> function;
  std::vector<double> value;
  std::vector<double> self;
  for (const ReportRow& row : table.rows) {
    depth.push_back(row.depth);
    module.push_back(texts.number_of(row.module.value_or("")));
    function.push_back(texts.number_of(row.function.value_or("")));
    value.push_back(row.values.empty() ? 0 : row.values.front().value);
    self.push_back(row.self.empty() ? 0 : row.self.front().value);
  }
  ObjectText document(Json{{"schema", "culprit-web-calls-1"},
                           {"column", describe_columns(answer, {0}).at(0)},
                           {"rest", table.rest.empty() ? 0 : table.rest.front().value}});
  document.add("texts", texts.texts());
  document.add("depth", depth);
  document.add("module", module);
  document.add("function", function);
  document.add("value", value);
  document.add("self", self);
  return std::move(document).end();
}

}  // namespace culprit
