#include "scan/sides.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace culprit::scan {
namespace {

/// Less is rounding.
constexpr double kNoDifference = 1e-9;

}  // namespace

double Sides::error_of_excess(std::string_view event) const {
  return std::hypot(cost(0, event).standard_error, cost(1, event).standard_error);
}

std::string Sides::worst_line(const std::vector<std::string_view>& events) const {
  std::map<std::string, double> differences;
  for (const std::string_view event : events) {
    const size_t index = find_event(profile_, event);
    if (index == SIZE_MAX) continue;
    for (int side = 0; side < 2; ++side) {
      for (const PlaceRow& row : lines_[side]->rows) {
        differences[row.name] += (side == 0 ? 1 : -1) * row.per_iteration[index].value;
      }
    }
  }
  std::string worst;
  double most = kNoDifference;
  for (const auto& [line, difference] : differences) {
    if (std::abs(difference) <= most) continue;
    most = std::abs(difference);
    worst = line;
  }
  return worst;
}

double Sides::loop_rounds(int side) const {
  const size_t loops = find_event(profile_, "loop-branches");
  const size_t taken = find_event(profile_, "branches-taken");
  if (loops == SIZE_MAX) return cost(side, "branches").value;
  double sum = 0;
  for (const PlaceCost& place : costs_[side]->places) {
    if (place.behaviour == Behaviour::once) continue;
    const bool is_taken = taken == SIZE_MAX || place.per_iteration[taken].value > 0;
    if (is_taken) sum += place.per_iteration[loops].value;
  }
  return sum;
}

std::vector<std::string> Sides::only_in(int side) const {
  std::set<std::string> others;
  for (const PlaceRow& row : lines_[1 - side]->rows) others.insert(row.function);
  std::vector<std::string> names;
  for (const PlaceRow& row : lines_[side]->rows) {
    if (others.contains(row.function)) continue;
    if (std::find(names.begin(), names.end(), row.function) == names.end()) {
      names.push_back(row.function);
    }
  }
  return names;
}

double Sides::instructions_of(int side, const std::vector<std::string>& functions) const {
  const size_t instructions = find_event(profile_, "instructions");
  double sum = 0;
  for (const PlaceRow& row : lines_[side]->rows) {
    if (std::find(functions.begin(), functions.end(), row.function) != functions.end()) {
      sum += row.per_iteration[instructions].value;
    }
  }
  return sum;
}

Estimate Sides::cost(int side, std::string_view event) const {
  const size_t index = find_event(profile_, event);
  return index == SIZE_MAX ? Estimate() : costs_[side]->totals[index];
}

}  // namespace culprit::scan
