#include "report/row_filter.h"

#include <algorithm>
#include <fmt/format.h>

#include "attribute/variant_family.h"
#include "base/names.h"
#include "base/text.h"

namespace culprit {

namespace {

bool matches_name_or_number(const std::optional<std::string>& name,
                            const std::optional<uint32_t>& number, const std::string& pattern) {
  if (name && matches_pattern(*name, pattern)) return true;
  return number && std::to_string(*number) == pattern;
}

bool matches_line(const ReportRow& row, const std::string& pattern) {
  if (!row.file || !row.line) return false;
  for (const std::string& file : {*row.file, base_name(*row.file)}) {
    if (matches_pattern(file, pattern)) return true;
    if (matches_pattern(fmt::format("{}:{}", file, *row.line), pattern)) return true;
  }
  return false;
}

bool matches_address(const ReportRow& row, const std::string& pattern) {
  if (!row.address) return false;
  return matches_pattern(fmt::format("{:x}", *row.address), pattern) ||
         matches_pattern(fmt::format("{:#x}", *row.address), pattern);
}

/// "make_rows quake.c:452" is also called make_rows, or quake.c:452.
bool matches_object(const std::string& name, const std::string& pattern) {
  if (name == pattern || matches_pattern(name, pattern)) return true;
  const size_t blank = name.rfind(' ');
  if (blank == std::string::npos) return false;
  return matches_function(name.substr(0, blank), pattern) ||
         matches_pattern(name.substr(blank + 1), pattern);
}

/// Any of them: "critical mill.c:31" is also called mill.c:31.
bool matches_region(const std::string& path, const std::string& pattern) {
  const std::vector<std::string_view> names = split(path, '\n');
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    const size_t blank = name.rfind(' ');
    return matches_pattern(name, pattern) ||
           (blank != std::string_view::npos && matches_pattern(name.substr(blank + 1), pattern));
  });
}

bool matches(const Filter& filter, const ReportRow& row) {
  switch (filter.level) {
    case RowLevel::process:
      return matches_name_or_number(row.process, row.process_id, filter.pattern);
    case RowLevel::comm:
      return matches_name_or_number(row.process, std::nullopt, filter.pattern);
    case RowLevel::thread:
      return matches_name_or_number(row.thread, row.thread_id, filter.pattern);
    case RowLevel::module:
      return row.module && (matches_pattern(*row.module, filter.pattern) ||
                            matches_pattern(base_name(*row.module), filter.pattern));
    case RowLevel::function:
      return row.function && matches_function(*row.function, filter.pattern);
    case RowLevel::line:
      return matches_line(row, filter.pattern);
    case RowLevel::loop:
    case RowLevel::block:
    case RowLevel::instruction:
      return matches_address(row, filter.pattern);
    case RowLevel::object:
      return row.object && matches_object(*row.object, filter.pattern);
    case RowLevel::region:
      return row.region_path && matches_region(*row.region_path, filter.pattern);
  }
  return false;
}

/// The names that a filter of `level` looks at.
RowNames names_at(RowLevel level, const RowNames& row) {
  RowNames names;
  switch (level) {
    case RowLevel::process:
      names.process = row.process;
      names.process_id = row.process_id;
      break;
    case RowLevel::comm:
      names.process = row.process;
      break;
    case RowLevel::thread:
      names.thread = row.thread;
      names.thread_id = row.thread_id;
      break;
    case RowLevel::module:
      names.module = row.module;
      break;
    case RowLevel::function:
      names.function = row.asked ? row.asked : row.function;
      break;
    case RowLevel::line:
      names.file = row.file;
      names.line = row.line;
      break;
    case RowLevel::loop:
    case RowLevel::block:
    case RowLevel::instruction:
      names.address = row.address;
      break;
    case RowLevel::object:
      names.object = row.object;
      break;
    case RowLevel::region:
      names.region_path = row.region_path;
      break;
  }
  return names;
}

}  // namespace

const char* level_name(RowLevel level) {
  static constexpr const char* kNames[] = {"process",     "comm",   "thread", "module",
                                           "function",    "line",   "loop",   "block",
                                           "instruction", "object", "region"};
  return kNames[static_cast<size_t>(level)];
}

bool matches_function(const std::string& name, const std::string& pattern) {
  return is_called(name, pattern) || matches_pattern(name, pattern) ||
         matches_pattern(without_parameters(name), pattern) || is_variant_of(name, pattern);
}

bool passes(const std::vector<Filter>& filters, const ReportRow& row) {
  return std::all_of(filters.begin(), filters.end(), [&](const Filter& level) {
    return std::any_of(filters.begin(), filters.end(), [&](const Filter& filter) {
      return filter.level == level.level && matches(filter, row);
    });
  });
}

RowFilter::RowFilter(const std::vector<Filter>& filters) {
  for (const Filter& filter : filters) {
    auto gate = std::find_if(gates_.begin(), gates_.end(),
                             [&](const Gate& one) { return one.level == filter.level; });
    if (gate == gates_.end()) gate = gates_.insert(gate, Gate{filter.level, {}, {}});
    gate->filters.push_back(filter);
  }
}

bool RowFilter::passes(const RowNames& row) {
  return std::all_of(gates_.begin(), gates_.end(), [&](Gate& gate) {
    const RowNames names = names_at(gate.level, row);
    const auto [verdict, is_new] = gate.verdicts.try_emplace(names);
    if (is_new) verdict->second = culprit::passes(gate.filters, to_row(names));
    return verdict->second;
  });
}

bool name_lines(const std::vector<Filter>& filters) {
  return std::ranges::any_of(filters,
                             [](const Filter& filter) { return filter.level == RowLevel::line; });
}

std::string describe_filters(const std::vector<Filter>& filters) {
  std::string text;
  for (const Filter& filter : filters) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", level_name(filter.level),
                        printable(filter.pattern));
  }
  return text;
}

}  // namespace culprit
