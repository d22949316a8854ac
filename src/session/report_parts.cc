#include "session/report_parts.h"

#include <algorithm>

namespace culprit {
namespace {

bool has_level(const ReportOptions& options, RowLevel level) {
  const auto is_level = [level](const Filter& filter) { return filter.level == level; };
  return std::find(options.by.begin(), options.by.end(), level) != options.by.end() ||
         std::any_of(options.filters.begin(), options.filters.end(), is_level);
}

}  // namespace

bool asks_for_objects(const ReportOptions& options) {
  return has_level(options, RowLevel::object);
}

FactParts needed_parts(const ReportOptions& options) {
  const bool runs_code =
      options.columns == Columns::executions || options.columns == Columns::frequency;
  const bool lines = has_level(options, RowLevel::line) ||
                     has_level(options, RowLevel::instruction) ||
                     asks_for_objects(options) ||  // blocks are named by who allocates them
                     has_level(options, RowLevel::region);
  const bool names = has_level(options, RowLevel::function) || options.tree != Tree::none;
  FactParts parts;
  if (lines) parts |= FactPart::lines;
  if (lines || names || runs_code) parts |= {FactPart::functions, FactPart::inlines};
  if (has_level(options, RowLevel::loop)) parts |= {FactPart::functions, FactPart::code};
  if (has_level(options, RowLevel::block)) {
    // Code, too: blocks begin where recorded jumps went, if these are indirect ones.
    parts |= {FactPart::functions, FactPart::blocks, FactPart::code};
  }
  if (runs_code) parts |= FactPart::code;
  // Of pragmas, and of statements that allocate.
  const bool sources = has_level(options, RowLevel::region) || asks_for_objects(options);
  if (sources) parts |= FactPart::sources;
  return parts;
}

}  // namespace culprit
