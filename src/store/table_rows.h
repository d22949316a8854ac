#pragma once

// Rows of the model ⇄ rows of an SQL table, by the fields that the lists of their fields name
// (model/field_list.h). The id of a row is its number in the model's table, so ids are 0, 1, 2, ...
// without a gap.

#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "store/database.h"
#include "store/field_values.h"
#include "store/file_rows.h"

namespace culprit {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
constexpr std::string_view sql_type() {
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  if constexpr (std::is_same_v<T, double>) return "REAL";
  return "INTEGER";
}

/// The statement that makes the table of a noun.
template <class Row>
std::string create_statement(std::string_view table) {
  std::string sql = fmt::format("CREATE TABLE {}(id INTEGER PRIMARY KEY", table);
  Row row;
  visit_fields([&]<class T>(std::string_view name,
                            T&) { sql += fmt::format(", {} {}", name, sql_type<T>()); },
               row);
  return sql + ")";
}

template <class T>
void bind_field(Statement& statement, int at, const T& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    statement.bind(at, std::string_view(field));
  } else if constexpr (std::is_same_v<T, double>) {
    statement.bind(at, field);
  } else if constexpr (kIsOptional<T>) {
    if (field) {
      bind_field(statement, at, *field);
    } else {
      statement.bind_null(at);
    }
  } else if constexpr (kIsId<T>) {
    if (field.is_all()) {
      statement.bind_null(at);
    } else {
      statement.bind(at, uint64_t{field.value});
    }
  } else {
    statement.bind(at, to_bits(field));
  }
}

/// False if the column holds no value of this type.
template <class T>
bool take_field(const Statement& statement, int at, T& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    const std::optional<std::string_view> text = statement.text(at);
    if (text) field = *text;
    return text.has_value();
  } else if constexpr (std::is_same_v<T, double>) {
    const std::optional<double> number = statement.real(at);
    field = number.value_or(0);
    return number.has_value();
  } else if constexpr (kIsOptional<T>) {
    if (statement.is_null(at)) return true;
    return take_field(statement, at, field.emplace());
  } else if constexpr (kIsId<T>) {
    if (statement.is_null(at)) return true;
    const std::optional<int64_t> number = statement.integer(at);
    if (!number || *number < 0 || *number >= T::kAllValue) return false;
    field = T(static_cast<uint32_t>(*number));
    return true;
  } else {
    const std::optional<int64_t> number = statement.integer(at);
    return number && from_bits(static_cast<uint64_t>(*number), field);
  }
}

/// Appends rows first, first + 1, ... of `rows` to the table.
template <class Row>
Result<void> insert_rows(const Database& database, std::string_view table,
                         std::span<const Row> rows, size_t first) {
  if (first >= rows.size()) return {};
  std::string sql = fmt::format("INSERT INTO {} VALUES(?", table);
  visit_fields([&](std::string_view, const auto&) { sql += ",?"; }, rows[first]);
  ASSIGN_OR_RETURN(Statement insert, database.prepare(sql + ")"));
  for (size_t i = first; i < rows.size(); ++i) {
    insert.bind(0, uint64_t{i});
    int at = 1;
    visit_fields([&](std::string_view, const auto& field) { bind_field(insert, at++, field); },
                 rows[i]);
    RETURN_IF_ERROR(insert.run());
  }
  return {};
}

/// Where the file has the fields of `Row`; -1: nowhere, it is of another version.
template <class Row>
std::vector<int> field_positions(const Statement& query) {
  std::vector<int> positions;
  Row row;
  visit_fields(
      [&](std::string_view name, const auto&) {
        int at = query.columns() - 1;
        while (at >= 0 && query.column_name(at) != name) --at;
        positions.push_back(at);
      },
      row);
  return positions;
}

inline Error bad_row(const Database& database, std::string_view table, size_t row) {
  return Error{fmt::format("{} is damaged: row {} of its table '{}' makes no sense",
                           in_quotes(database.path()), row, table)};
}

/// All rows of the table. Columns that the file does not have keep their defaults.
template <class Row>
Result<std::vector<Row>> select_rows(const Database& database, std::string_view table) {
  ASSIGN_OR_RETURN(Statement query, database.prepare(fmt::format("SELECT * FROM {}", table)));
  const std::vector<int> positions = field_positions<Row>(query);
  std::vector<Row> rows;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) return rows;
    // Consecutive ids also bound what a file with a circle in its tree can make of itself.
    bool good = query.integer(0) == static_cast<int64_t>(rows.size());
    rows.emplace_back();
    size_t at = 0;
    visit_fields(
        [&](std::string_view, auto& field) {
          const int position = positions[at++];
          if (position >= 0) good = take_field(query, position, field) && good;
        },
        rows.back());
    if (!good) return bad_row(database, table, rows.size() - 1);
  }
}

}  // namespace culprit
