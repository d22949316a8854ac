// Profile and template → WhyReport: sums of the part, its tree, advice with places.

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/forecast_events.h"
#include "model/idle_time.h"
#include "print/event_display.h"
#include "print/values.h"
#include "report/measured_cycles.h"
#include "report/row_filter.h"
#include "why/repairs.h"
#include "why/why.h"

namespace culprit {
namespace {

/// No sample at all is not exactly nothing: a period of the event may well have passed.
std::vector<Estimate> to_estimates(const Profile& profile, const std::vector<Value>& values) {
  std::vector<Estimate> estimates;
  for (size_t i = 0; i < values.size(); ++i) {
    const Event& event = profile.events[i];
    const bool is_unseen =
        event.provenance == Provenance::sampled && values[i].samples == 0 && values[i].value == 0;
    const double period = static_cast<double>(event.period) * event.scale;
    estimates.push_back({values[i].value, is_unseen ? period : values[i].error});
  }
  return estimates;
}

/// Counts of whole runs: means of the repetitions, times shared counters made up for elsewhere.
std::vector<Estimate> run_counts(const Profile& profile) {
  std::vector<Estimate> totals(profile.events.size());
  uint32_t repetitions = 1;
  for (const Count& count : profile.counts) {
    if (count.event.value >= totals.size()) continue;
    totals[count.event.value].value +=
        static_cast<double>(count.value) * profile.events[count.event.value].scale;
    repetitions = std::max(repetitions, count.repetition + 1);
  }
  for (Estimate& total : totals) total = total * (1.0 / repetitions);
  return totals;
}

bool has_histograms(const Profile& profile) {
  return std::any_of(profile.histograms.begin(), profile.histograms.end(),
                     [](const Histogram& one) { return !one.offsets.empty(); });
}

std::optional<double> find_hertz(const Profile& profile) {
  const ClockCalibration* clock = find_clock(profile.machine);
  return clock == nullptr ? std::nullopt : std::optional(clock->hertz);
}

bool is_tsc(const std::string& event) {
  return event == "msr/tsc/" || event == "tsc" || event == "TSC";
}

/// TSC cycles that were counted, if they were.
std::optional<double> find_tsc(const Profile& profile) {
  const std::vector<Estimate> counts = run_counts(profile);
  for (size_t event = 0; event < counts.size(); ++event) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    if (is_tsc(name) && counts[event].value > 0) return counts[event].value;
  }
  return std::nullopt;
}

/// What was measured of the time in which the CPUs ran nothing. A program's own wall and CPU time
/// do not tell it: others may have run.
std::optional<HaltedTime> find_halted(const Profile& profile, const Template& cpu,
                                      const std::optional<Estimate>& unhalted) {
  if (cpu.is_simulated) return std::nullopt;
  HaltedTime halted;
  const std::optional<double> tsc = find_tsc(profile);
  if (tsc && unhalted && *tsc >= unhalted->value) {
    halted.measure = HaltedTime::Measure::tsc;
    halted.total_cycles = *tsc;
    halted.cycles = *tsc - unhalted->value;
    return halted;
  }
  const std::optional<IdleTime> idle = find_idle_time(profile);
  if (!idle) return std::nullopt;
  halted.seconds = static_cast<double>(idle->idle_ns) * 1e-9;
  halted.capacity_seconds = static_cast<double>(idle->capacity_ns) * 1e-9;
  if (const std::optional<double> hertz = find_hertz(profile)) {
    halted.total_cycles = *halted.capacity_seconds * *hertz;
    halted.cycles = *halted.seconds * *hertz;
  }
  return halted;
}

}  // namespace

Result<WhyReport> make_why(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                           const WhyOptions& options) {
  WhyReport why;
  why.options = options;
  const EventMatch match = match_events(profile, cpu);
  why.remarks = match.remarks();
  for (const size_t event : match.others()) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    if (!is_tsc(name) && !is_forecast_event(name)) why.other_events.push_back(name);
  }
  CostOptions cost;
  cost.hertz = find_hertz(profile);
  cost.is_counting = !has_histograms(profile);
  RowAmounts amounts;
  if (cost.is_counting) {
    amounts = match.amounts(run_counts(profile));
    why.tree = make_cost_tree(cpu, amounts, cost);
    why.everything = why.tree.unhalted.cycles;
  } else {
    ReportOptions wanted;
    wanted.by = {RowLevel::module};
    if (cpu.is_simulated && find_two_runs(profile)) wanted.by.push_back(RowLevel::function);
    wanted.filters = options.filters;
    wanted.limit = 0;
    ASSIGN_OR_RETURN(const ReportTable table, make_report(profile, facts, wanted));
    if (!options.filters.empty() && table.rows.empty()) {
      return Error{"nothing here matches " + describe_filters(options.filters),
                   ErrorKind::not_found};
    }
    amounts = match.amounts(to_estimates(profile, table.shown));
    why.tree = make_cost_tree(cpu, amounts, cost);
    const RowAmounts all = match.amounts(to_estimates(profile, table.totals));
    why.everything = make_cost_tree(cpu, all, cost).unhalted.cycles;
    if (cpu.is_simulated) why.measured = find_measured_cycles(profile, table);
  }
  if (options.filters.empty()) {
    why.halted = find_halted(profile, cpu, why.everything);
    why.waiting = find_waiting(profile, facts);
  } else {
    why.part = describe_filters(options.filters);
  }
  why.rules = check_rules(cpu, amounts);
  why.advice = cost.is_counting ? advise_on_counts(why.tree)
                                : find_repairs({profile, facts, cpu, match, cost}, why);
  why.verdict =
      find_verdict(cpu, why.tree, why.measured, find_branch_by_gain(why.advice, why.tree));
  if (why.advice.size() > options.advice_limit) why.advice.resize(options.advice_limit);
  return why;
}

}  // namespace culprit
