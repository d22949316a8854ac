#pragma once

// Rows that only the file has, and their fields.

#include "model/fact_fields.h"
#include "model/fields.h"

namespace culprit {

/// A consecutive piece of a source file; its lines follow in a packed part of their own.
struct SourcePiece {
  StringId file;
  uint32_t first_line = 1;
  uint64_t line_count = 0;
};

struct TextRow {
  std::string text;
};

/// A label of a run: tables cannot hold maps.
struct RunLabel {
  RunId run;
  StringId name;
  StringId value;
};

template <>
struct FieldList<RunLabel> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"run"}, rows.run...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"value"}, rows.value...);
  }
};

template <>
struct FieldList<SourcePiece> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"file"}, rows.file...);
    visit(Field{"first_line"}, rows.first_line...);
    visit(Field{"line_count"}, rows.line_count...);
  }
};

template <>
struct FieldList<TextRow> {
  static constexpr void visit(auto&& visit, auto&... rows) { visit(Field{"text"}, rows.text...); }
};

}  // namespace culprit
