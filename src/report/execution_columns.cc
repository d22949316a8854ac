#include "report/execution_columns.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"
#include "branches/branch_events.h"
#include "branches/event_names.h"
#include "branches/working_set.h"
#include "report/row_key.h"
#include "stats/estimate.h"

namespace culprit {

namespace {

std::optional<size_t> find_event(const Profile& profile, const char* name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return event;
  }
  return std::nullopt;
}

class Chooser {
 public:
  Chooser(const Profile& profile, ReportTable& table) : profile_(profile), table_(table) {}

  /// A sum, where the profile has that event.
  void show(const char* event, const char* heading) {
    if (const auto found = find_event(profile_, event)) {
      table_.shown_events.push_back({*found, heading});
    }
  }

  /// A quotient of two, where it has both. Nothing is known of rows whose divisor is 0, nor of
  /// those whose dividend is 0, unless what was not seen did not happen (`absent_is_zero`).
  void divide_by(const char* name, const char* heading, DerivedColumn::Form form,
                 const char* dividend, const char* divisor, bool absent_is_zero = false) {
    const auto above = find_event(profile_, dividend);
    const auto below = find_event(profile_, divisor);
    if (!below || (!above && !absent_is_zero)) return;
    table_.derived.push_back({name, heading, form,
                              [above, below, absent_is_zero](
                                  const std::vector<Value>& values) -> std::optional<Estimate> {
                                const Value& by = values[*below];
                                if (by.value == 0) return std::nullopt;
                                const Value of = above ? values[*above] : Value();
                                if (of.value == 0 && !absent_is_zero) return std::nullopt;
                                return divide({of.value, of.error}, {by.value, by.error});
                              }});
  }

 private:
  const Profile& profile_;
  ReportTable& table_;
};

std::string describe_working_set(const std::vector<WorkingSetPart>& parts) {
  std::string text;
  for (const WorkingSetPart& part : parts) {
    if (part.percent < 90 || part.percent > 99) continue;
    const std::string size = format_thousands(part.lines);
    text += text.empty() ? fmt::format(
                               "hot code: {:.0f} % of the executed instructions are in {} "
                               "cache lines of {} bytes",
                               part.percent, size, kCodeLineBytes)
                         : fmt::format(", {:.0f} % in {}", part.percent, size);
  }
  return text;
}

}  // namespace

Result<void> add_execution_columns(const Profile& profile, ReportTable& table) {
  using namespace branch_events;
  if (table.options.tree != Tree::none) {
    return Error{
        "branch records have no call stacks: --columns executions has no --tree\n"
        "who calls whom, and how often: culprit export --to dot"};
  }
  if (!find_event(profile, kTargets)) {
    return Error{"--columns executions needs branch records\n" + advise_branch_records(profile)};
  }
  using Form = DerivedColumn::Form;
  const Levels by = Levels::of(table.options.by);
  Chooser columns(profile, table);
  columns.show(kInstructions, "executed");
  if (!find_event(profile, kInstructions)) columns.show(kRuns, "runs");
  const bool by_block = by.block && !by.instruction;
  columns.show(by_block         ? kBlocks
               : by.instruction ? kTaken
                                : kCalls,
               by_block         ? "entered"
               : by.instruction ? "taken"
                                : "calls");
  columns.show(kCycles, "cycles");
  // Records say nothing of the cycles of runs that end where no branch has any: few, or all.
  if (by_block) {
    columns.divide_by("cycles_per_execution", "cyc/entry", Form::ratio, kCycles, kBlocks);
  }
  if (!by.address() && !by.line) {
    columns.divide_by("instructions_per_call", "instr/call", Form::ratio, kInstructions, kCalls);
  }
  columns.divide_by("mispredicted", "mispred", Form::percent, kMisses, kJudged, true);
  if (!by_block) {
    columns.divide_by("cycles_per_instruction", "cyc/instr", Form::ratio, kCycles, kInstructions);
  }
  table.working_set = estimate_working_set(profile);
  if (!table.working_set.empty() && table.options.filters.empty()) {
    table.remarks.push_back(describe_working_set(table.working_set));
  }
  return {};
}

}  // namespace culprit
