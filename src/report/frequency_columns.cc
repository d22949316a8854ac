#include "report/frequency_columns.h"

#include <optional>
#include <utility>

#include "flow/flow_events.h"
#include "report/measured_cycles.h"
#include "report/row_key.h"
#include "stats/estimate.h"

namespace culprit {
namespace {

std::optional<size_t> find_flow_event(const Profile& profile, const char* name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return event;
  }
  return std::nullopt;
}

void show(const Profile& profile, const char* name, const char* heading, ReportTable& table) {
  if (const auto event = find_flow_event(profile, name)) {
    table.shown_events.push_back({*event, heading});
  }
}

void show_quotient(const Profile& profile, std::pair<const char*, const char*> events,
                   std::pair<const char*, const char*> names, ReportTable& table) {
  const auto above = find_flow_event(profile, events.first);
  const auto below = find_flow_event(profile, events.second);
  if (!above || !below) return;
  table.derived.push_back(
      {names.first, names.second, DerivedColumn::Form::ratio,
       [above, below](const std::vector<Value>& values) -> std::optional<Estimate> {
         const Value& by = values[*below];
         if (by.value == 0) return std::nullopt;
         return divide({values[*above].value, values[*above].error}, {by.value, by.error});
       }});
}

}  // namespace

Result<void> add_frequency_columns(const Profile& profile, ReportTable& table) {
  using namespace flow_events;
  if (table.options.tree != Tree::none) {
    return Error{"call stacks are not counted: --columns frequency has no --tree"};
  }
  const Levels by = Levels::of(table.options.by);
  show(profile, kInstructions, "executed", table);
  if (by.loop && !by.block && !by.instruction) {
    show(profile, kRounds, "rounds", table);
    show(profile, kLoopEntries, "entered", table);
    show_quotient(profile, {kRounds, kLoopEntries}, {"rounds_per_entry", "rounds/entry"}, table);
  } else if (by.block && !by.instruction) {
    show(profile, kBlocks, "runs", table);
  } else if (!by.instruction && !by.line) {
    show(profile, kEntries, "entered", table);
    show_quotient(profile, {kInstructions, kEntries}, {"instructions_per_entry", "instr/entry"},
                  table);
  }
  if (by.instruction) return {};  // its samples are partly its neighbour's
  if (const std::optional<TwoRuns> runs = find_two_runs(profile)) {
    table.derived.push_back(
        {"cycles_per_instruction", "CPI", DerivedColumn::Form::ratio,
         [two = *runs](const std::vector<Value>& values) { return estimate_cpi(two, values); },
         Provenance::sampled});
  }
  return {};
}

}  // namespace culprit
