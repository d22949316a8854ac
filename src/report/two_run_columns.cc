#include "report/two_run_columns.h"

#include <string>

#include "report/measured_cycles.h"
#include "report/row_key.h"

namespace culprit {
std::span<const ShortHeading> short_headings() {
  static constexpr ShortHeading kHeadings[] = {
      {"instructions", "executed"},  {"L1-dcache-load-misses", "L1miss"},
      {"dTLB-load-misses", "walks"}, {"LLC-load-misses", "memory"},
      {"branch-misses", "mispred"},  {"sim:cycles", "modelled"}};
  return kHeadings;
}

void add_two_run_columns(const Profile& profile, ReportTable& table) {
  const std::optional<TwoRuns> runs = find_two_runs(profile);
  if (!runs || runs->time != 0) return;  // the first event is the one with shares
  table.shown_events.push_back({runs->time, ""});
  for (const ShortHeading& shown : short_headings()) {
    for (size_t event = 0; event < profile.events.size(); ++event) {
      if (profile.strings.text(profile.events[event].name) != shown.event) continue;
      table.shown_events.push_back({event, shown.heading});
      break;
    }
  }
  // An instruction's samples are partly its neighbour's: only blocks and more have a firm CPI.
  if (Levels::of(table.options.by).instruction) return;
  table.remarks.emplace_back(
      "CPI: cycles of the native run, the kernel's included, per instruction that the simulated "
      "run executed in user mode");
  table.derived.push_back(
      {"cycles_per_instruction", "CPI", DerivedColumn::Form::ratio,
       [runs = *runs](const std::vector<Value>& values) { return estimate_cpi(runs, values); },
       Provenance::sampled});
}

}  // namespace culprit
