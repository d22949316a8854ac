#include "documents/table_document.h"

#include <algorithm>
#include <numeric>

#include "documents/documents.h"
#include "print/event_display.h"

namespace culprit {

namespace {

using Rows = std::vector<const std::vector<Value>*>;

Json list_of(const Rows& rows, size_t column, double Value::* field) {
  Json list = Json::array();
  bool has_any = false;
  for (const std::vector<Value>* row : rows) {
    const double value = column < row->size() ? (*row)[column].*field : 0;
    has_any = has_any || value != 0;
    list.push_back(value);
  }
  return has_any ? list : Json::array();
}

Json samples_of(const Rows& rows, size_t column) {
  Json list = Json::array();
  bool has_any = false;
  for (const std::vector<Value>* row : rows) {
    const uint64_t samples = column < row->size() ? (*row)[column].samples : 0;
    has_any = has_any || samples != 0;
    list.push_back(samples);
  }
  return has_any ? list : Json::array();
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
  if (is_new) texts_.push_back(text);
  return at->second;
}

std::vector<size_t> TextNumbers::sort() {
  std::vector<const std::string*> texts(numbers_.size());
  for (const auto& [text, number] : numbers_) texts[number] = &text;
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t number) -> const std::string& { return *texts[number]; });
  std::vector<size_t> new_numbers(order.size());
  texts_ = Json::array();
  for (const size_t number : order) {
    new_numbers[number] = texts_.size();
    texts_.push_back(*texts[number]);
  }
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

void add_value_columns(Json& to, const std::vector<size_t>& columns, const Rows& rows) {
  to["values"] = Json::array();
  to["errors"] = Json::array();
  to["samples"] = Json::array();
  for (const size_t column : columns) {
    to["values"].push_back(list_of(rows, column, &Value::value));
    to["errors"].push_back(list_of(rows, column, &Value::error));
    to["samples"].push_back(samples_of(rows, column));
  }
}

std::string dump_compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  Json process_id = Json::array();
  Json id = Json::array();
  Json inclusive = Json::array();
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
  const std::vector<size_t> new_numbers = texts.sort();
  for (std::vector<size_t>* column : {&process, &module, &function}) {
    for (size_t& number : *column) number = new_numbers[number];
  }
  Json document{{"schema", "culprit-web-table-1"},
                {"columns", describe_columns(answer, columns)},
                {"texts", texts.texts()},
                {"process", process},
                {"process_id", std::move(process_id)},
                {"module", module},
                {"function", function},
                {"id", std::move(id)}};
  add_value_columns(document, columns, rows);
  document["inclusive"] =
      inclusive.size() == table.rows.size() ? std::move(inclusive) : Json::array();
  document["remarks"] = table.remarks;
  return dump_compact(document);
}

std::string calls_document(const ReportAnswer& answer) {
  const ReportTable& table = answer.table;
  TextNumbers texts;
  Json depth = Json::array();
  Json module = Json::array();
  Json function = Json::array();
  Json value = Json::array();
  Json self = Json::array();
  for (const ReportRow& row : table.rows) {
    depth.push_back(row.depth);
    module.push_back(texts.number_of(row.module.value_or("")));
    function.push_back(texts.number_of(row.function.value_or("")));
    value.push_back(row.values.empty() ? 0 : row.values.front().value);
    self.push_back(row.self.empty() ? 0 : row.self.front().value);
  }
  const Json document{{"schema", "culprit-web-calls-1"},
                      {"column", describe_columns(answer, {0}).at(0)},
                      {"texts", texts.texts()},
                      {"depth", std::move(depth)},
                      {"module", std::move(module)},
                      {"function", std::move(function)},
                      {"value", std::move(value)},
                      {"self", std::move(self)},
                      {"rest", table.rest.empty() ? 0 : table.rest.front().value}};
  return dump_compact(document);
}

}  // namespace culprit
