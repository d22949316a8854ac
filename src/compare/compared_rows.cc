#include "compare/compared_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/text.h"

namespace culprit {

double ComparedRow::mean_samples() const {
  if (runs.empty()) return 0;
  uint64_t sum = 0;
  for (const Value& value : runs) sum += value.samples;
  return static_cast<double>(sum) / static_cast<double>(runs.size());
}

Result<ComparedRows> put_side_by_side(std::span<const RunRows> runs) {
  CHECK(!runs.empty());
  ComparedRows all;
  all.measure = runs.front().measure;
  std::map<ComparedKey, ComparedRow> rows;
  for (size_t run = 0; run < runs.size(); ++run) {
    const RunRows& one = runs[run];
    if (one.measure != all.measure) {
      return Error{fmt::format(
          "{} measures {} in {}, and {} {} in {}: name an event that both have (--event)",
          printable(runs.front().name), printable(all.measure.event), all.measure.unit,
          printable(one.name), printable(one.measure.event), one.measure.unit)};
    }
    all.names.push_back(one.name);
    all.per_sample = std::max(all.per_sample, one.per_sample);
    all.total.runs.push_back(one.total);
    for (const auto& [key, value] : one.rows) {
      ComparedRow& row = rows[key];
      row.runs.resize(runs.size());
      row.runs[run] = value;
      row.functions.resize(runs.size());
      const auto functions = one.functions.find(key);
      if (functions != one.functions.end()) row.functions[run] = functions->second;
    }
  }
  for (auto& [key, row] : rows) {
    row.key = key;
    all.rows.push_back(std::move(row));
  }
  return all;
}

}  // namespace culprit
