#include "session/choose_template.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <optional>

#include "base/program_files.h"
#include "base/text.h"
#include "model/engine.h"
#include "model/event_names.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

/// What the kernel counts itself is in no CPU's template.
bool has_hardware_events(const Profile& profile) {
  return std::any_of(profile.events.begin(), profile.events.end(), [&](const Event& event) {
    if (engine_of(profile, event) != Engine::pmu) return false;
    const std::optional<EventCode> code = parse_event_code(profile.strings.text(event.encoding));
    return !code || (code->type != PERF_TYPE_SOFTWARE && code->type != PERF_TYPE_TRACEPOINT);
  });
}

bool is_simulated(const Profile& profile) {
  return std::any_of(profile.events.begin(), profile.events.end(), [&](const Event& event) {
    return engine_of(profile, event) == Engine::simulate;
  });
}

/// A tree with unhalted cycles only; every branch says `why` it is not covered.
Template make_bare_template(const std::string& description, const std::string& why) {
  Template bare;
  bare.description = description;
  for (BranchCoverage& coverage : bare.coverage) coverage = {Coverage::none, why, 0};
  TemplateRow cycles;
  cycles.event = "cycles";
  cycles.branch = CostBranch::unhalted;
  cycles.label = "cycles";
  cycles.role = Role::sum;
  cycles.penalty = {PenaltyUnit::cycles, 1, "a cycle is a cycle", false};
  bare.rows.push_back(cycles);
  return bare;
}

}  // namespace

Result<Template> choose_template(const Profile& profile, const std::string& wanted) {
  const std::string folder = find_templates();
  if (!wanted.empty()) return find_template(wanted, folder);
  if (is_simulated(profile)) return find_template("simulated-core", folder);
  if (!has_hardware_events(profile)) {
    return make_bare_template("time only",
                              "the timer samples time, not what took it: culprit record "
                              "--engine timer+simulate counts that, too; or a machine with "
                              "hardware counters");
  }
  const std::string& cpu_id = profile.machine.cpu_id;
  if (!cpu_id.empty()) {
    Result<Template> found = match_template(folder, cpu_id);
    if (found) return found;
  }
  return make_bare_template(
      "cycles only",
      fmt::format("there is no template for {}: culprit templates lists them, --template takes one",
                  cpu_id.empty() ? "a CPU that the recording does not name" : printable(cpu_id)));
}

}  // namespace culprit
