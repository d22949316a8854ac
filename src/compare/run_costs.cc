#include "compare/run_costs.h"

#include <cmath>

#include "compare/cause.h"
#include "print/event_display.h"
#include "report/row_estimates.h"

namespace culprit {
namespace {

void add_up(std::vector<Value>& sums, const std::vector<Value>& values) {
  sums.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    sums[i].samples += values[i].samples;
    sums[i].value += values[i].value;
    sums[i].error = std::hypot(sums[i].error, values[i].error);
  }
}

RunCosts::Events seen_events(const Profile& profile, const std::vector<Value>& values) {
  const std::vector<Estimate> all = to_estimates(profile, values);
  RunCosts::Events seen;
  for (size_t i = 0; i < all.size(); ++i) {
    if (values[i].samples != 0 || values[i].value != 0) {
      seen.emplace_back(static_cast<uint32_t>(i), all[i]);
    }
  }
  return seen;
}

/// Why there is no tree to compare; "": there is one.
std::string find_obstacle(const Profile& profile, const Template& cpu, const EventMatch& match) {
  const char* obstacle = "no event of a branch was recorded";
  bool has_cycles = !cpu.is_simulated;  // of hardware branches are told without their sum, too
  for (size_t row = 0; row < cpu.rows.size() && !has_cycles; ++row) {
    has_cycles = cpu.rows[row].branch == CostBranch::unhalted && match.is_measured(row);
  }
  if (!has_cycles) return kCountsAlone;
  for (size_t row = 0; row < cpu.rows.size(); ++row) {
    if (!match.is_measured(row)) continue;
    if (is_level3(cpu.rows[row].branch)) return "";
    if (cpu.rows[row].branch == CostBranch::unhalted) {
      const Event& event = profile.events[match.parts(row).front().event];
      obstacle = event.unit == Unit::ns ? kTimeAlone : "cycles alone";
    }
  }
  return obstacle;
}

}  // namespace

CostTree RunCosts::make_tree(const ComparedKey& key) const {
  const auto row = rows.find(key);
  return make_tree(row == rows.end() ? Events() : row->second);
}

CostTree RunCosts::make_tree(const Events& events) const {
  std::vector<Estimate> values = none;
  for (const auto& [event, value] : events) values[event] = value;
  return make_cost_tree(*cpu, match.amounts(values), options);
}

RunCosts::Events add_events(const RunCosts::Events& a, const RunCosts::Events& b) {
  std::map<uint32_t, Estimate> sums(a.begin(), a.end());
  for (const auto& [event, value] : b) sums[event] = sums[event] + value;
  return {sums.begin(), sums.end()};
}

RunCosts make_run_costs(const Profile& profile, const ReportTable& table,
                        std::shared_ptr<const Template> cpu) {
  RunCosts costs;
  costs.match = match_events(profile, *cpu);
  costs.missing = find_obstacle(profile, *cpu, costs.match);
  if (!costs.missing.empty()) return costs;
  costs.cpu = std::move(cpu);
  if (const ClockCalibration* clock = find_clock(profile.machine)) {
    costs.options.hertz = clock->hertz;
  }
  costs.none = to_estimates(profile, std::vector<Value>(profile.events.size()));
  const std::vector<ComparedKey> keys = compared_keys(profile, table);
  std::map<ComparedKey, std::vector<Value>> sums;
  for (size_t row = 0; row < keys.size(); ++row) add_up(sums[keys[row]], table.rows[row].values);
  for (const auto& [key, values] : sums) costs.rows[key] = seen_events(profile, values);
  costs.total = seen_events(profile, table.totals);
  return costs;
}

}  // namespace culprit
