#include "why/places.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

#include "attribute/variant_family.h"
#include "base/names.h"
#include "why/own_code.h"

namespace culprit {

namespace {

void add_values(std::vector<Value>& sums, std::span<const Value> values) {
  if (sums.empty()) sums.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    sums[i].value += values[i].value;
    sums[i].error = std::hypot(sums[i].error, values[i].error);
    sums[i].samples += values[i].samples;
  }
}

double most_of(const std::vector<Place>& places, CostBranch branch) {
  double most = 0;
  for (const Place& place : places) most = std::max(most, cycles_of(place.tree, branch));
  return most;
}

}  // namespace

double cycles_of(const CostTree& tree, CostBranch branch) {
  const CostNode* const node = tree.find(branch);
  return node != nullptr && node->cycles ? node->cycles->value : 0;
}

/// Rows with equal keys are one place, which is called after the largest of them.
class Places::Groups {
 public:
  struct Group {
    std::vector<Value> values;
    LargestRowNames largest;
    double most = -1;
  };

  void add(std::string key, const LargestRowNames& row, std::span<const Value> values) {
    Group& group = groups_[std::move(key)];
    add_values(group.values, values);
    const double size = values.empty() ? 0 : values.front().value;
    if (size <= group.most) return;
    group.most = size;
    group.largest = row;
  }

  /// Those for which `is_wanted` holds, in order of their keys.
  template <class IsWanted>
  [[nodiscard]] std::vector<const Group*> find(IsWanted is_wanted) const {
    std::vector<const std::pair<const std::string, Group>*> wanted;
    for (const auto& one : groups_) {
      if (is_wanted(one.second)) wanted.push_back(&one);
    }
    std::ranges::sort(wanted, {}, [](const auto* one) -> const std::string& { return one->first; });
    std::vector<const Group*> found;
    for (const auto* one : wanted) found.push_back(&one->second);
    return found;
  }

 private:
  std::unordered_map<std::string, Group> groups_;
};

Places::Places(const RepairInput& input, const WhyReport& why)
    : input_(input), rows_(input.profile, input.facts, why.options.filters) {
  // Time of one variant and costs of another are of one place, where each run chose its own.
  const auto by_name = [&](const LargestRowNames& row) {
    std::string name(row.function);
    if (why.measured && !why.measured->other.families.empty()) {
      const std::string family = find_variant_family(name);
      if (std::ranges::binary_search(why.measured->other.families, family))
        return "variants of " + family;
    }
    if (row.inlined) name += " (inlined)";
    return name;
  };
  Groups functions;
  Groups families;
  rows_.sum_functions([&](const LargestRowNames& row, std::span<const Value> values) {
    add_values(totals_, values);
    functions.add(by_name(row), row, values);
    families.add(without_template_arguments(without_parameters(row.function)), row, values);
  });
  functions_ = make_places(functions);
  families_ = make_places(families);
  Groups lines;
  rows_.sum_lines([&](const LargestRowNames& row, std::span<const Value> values) {
    if (row.line == 0) {
      lines.add(by_name(row), row, values);
    } else if (is_much(values)) {  // each line is one row
      lines.add(fmt::format("{}:{}", row.file, row.line), row, values);
    }
  });
  lines_ = make_places(lines);
  for (std::vector<Place>* places : {&functions_, &families_}) {
    for (Place& place : *places) place.line.clear();
  }
}

/// Whether a place has enough of any event to be worth a tree of its own.
bool Places::is_much(std::span<const Value> values) const {
  for (size_t event = 0; event < values.size(); ++event) {
    if (values[event].value > kLeastOfEvent * totals_[event].value) return true;
  }
  return false;
}

std::vector<Place> Places::make_places(const Groups& groups) const {
  std::vector<Place> places;
  const auto has_much = [&](const Groups::Group& group) { return is_much(group.values); };
  for (const Groups::Group* const group : groups.find(has_much)) {
    Place& place = places.emplace_back();
    place.function = group->largest.function;
    place.line = name_line(group->largest.file, group->largest.line);
    place.words = rows_.make_words(group->largest);
    place.is_inlined = group->largest.inlined;
    place.values = group->values;
    std::vector<Estimate> estimates;
    for (const Value& value : place.values) estimates.push_back({value.value, value.error});
    place.tree = make_cost_tree(input_.cpu, input_.match.amounts(estimates), input_.cost);
  }
  return places;
}

const std::vector<Place>& Places::choose(CostBranch branch) const {
  const double by_function = most_of(functions_, branch);
  const double by_family = most_of(families_, branch);
  const double by_line = most_of(lines_, branch);
  const bool has_instances = by_function < 0.5 * by_family;
  if (by_line > (has_instances ? by_family : by_function)) return lines_;
  return has_instances ? families_ : functions_;
}

}  // namespace culprit
