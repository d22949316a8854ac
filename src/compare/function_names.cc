#include "compare/function_names.h"

#include <utility>

namespace culprit {

std::map<std::string, std::string> match_renamed(const FunctionShapes& base,
                                                 const FunctionShapes& now) {
  std::map<uint64_t, std::string> by_shape;
  for (const auto& [name, shape] : base) by_shape[shape] = name;
  std::map<std::string, std::string> renamed;
  for (const auto& [name, shape] : now) {
    const auto old = by_shape.find(shape);
    if (old != by_shape.end()) renamed[name] = old->second;
  }
  return renamed;
}

std::set<std::string> names_at(std::span<const RunRows> runs, size_t level) {
  std::set<std::string> names;
  for (const RunRows& run : runs) {
    for (const auto& [key, value] : run.rows) names.insert(key[level]);
  }
  return names;
}

void rename_functions(const std::map<std::string, std::string>& renamed, size_t level, RunRows& run,
                      RunCosts& costs) {
  std::map<ComparedKey, Value> rows;
  std::map<ComparedKey, std::set<std::string>> functions;
  const auto renamed_key = [&](ComparedKey key) {
    const auto old = renamed.find(key[level]);
    if (old != renamed.end()) key[level] = old->second;
    return key;
  };
  for (const auto& [key, value] : run.rows) add_value(rows[renamed_key(key)], value);
  for (auto& [key, names] : run.functions) functions[renamed_key(key)].merge(names);
  run.rows.assign(rows.begin(), rows.end());
  run.functions = std::move(functions);
  std::map<ComparedKey, RunCosts::Events> events;
  for (auto& [key, of_row] : costs.rows) {
    const auto [place, is_new] = events.try_emplace(renamed_key(key), of_row);
    if (!is_new) place->second = add_events(place->second, of_row);
  }
  costs.rows = std::move(events);
}

}  // namespace culprit
