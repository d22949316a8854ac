#include "session/told_costs.h"

#include <algorithm>

#include "accounting/cost_tree.h"
#include "accounting/static_rows.h"
#include "print/event_display.h"
#include "session/choose_template.h"

namespace culprit {
namespace {

bool has_cycles(const CostNode& node) {
  const bool is_column = node.kind == NodeKind::level || node.kind == NodeKind::branch;
  return is_column && (node.cycles || std::ranges::any_of(node.parts, has_cycles));
}

}  // namespace

bool has_costs(const Profile& profile) {
  const Result<Template> cpu = choose_template(profile, "");
  if (!cpu) return false;
  if (needs_static_model(*cpu, profile)) return true;  // what it adds is known only with the code
  CostOptions options;
  if (const ClockCalibration* clock = find_clock(profile.machine)) options.hertz = clock->hertz;
  // Which branches can be told depends on what was measured, not on how much of it.
  const std::vector<Estimate> nothing(profile.events.size());
  const EventMatch match = match_events(profile, *cpu);
  return has_cycles(make_cost_tree(*cpu, match.amounts(nothing), options).unhalted);
}

}  // namespace culprit
