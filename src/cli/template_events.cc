#include "cli/template_events.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "base/cpuid.h"
#include "base/program_files.h"
#include "base/text.h"
#include "templates/find_template.h"

namespace culprit {

Result<Template> find_cpu_template(const std::string& name) {
  if (name != "auto") return find_template(name, find_templates());
  ASSIGN_OR_RETURN(const std::string cpu, read_cpuid());
  Result<Template> found = match_template(find_templates(), cpu);
  if (found) return found;
  return Error{
      fmt::format("there is no template for this CPU ({})\n"
                  "-> culprit templates lists them; --template takes a name or a file",
                  printable(cpu))};
}

std::vector<EventGroup> list_template_events(const Template& cpu, const Pmu& pmu,
                                             bool for_sampling) {
  std::vector<EventGroup> groups;
  std::set<std::tuple<uint64_t, uint64_t>> seen;
  for (const TemplateRow& row : cpu.rows) {
    const bool is_absent = pmu.lacks(row.code);
    if (for_sampling && (row.period == 0 || is_absent)) continue;
    if (!seen.emplace(row.code, row.code1).second) continue;  // it is in several branches
    EventRequest request;
    request.name = row.event;
    request.pmu = pmu.name;
    request.type = pmu.type;
    request.config = row.code;
    request.config1 = row.code1;
    request.cpus = pmu.cpus;
    request.is_absent = is_absent;
    if (for_sampling) {
      request.period = row.period;
      request.precise_level = row.precise;
    }
    groups.push_back({{std::move(request)}});
  }
  return groups;
}

Result<std::vector<EventGroup>> find_template_events(const std::string& name, bool for_sampling) {
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  const std::vector<const Pmu*> cores = catalog.core_pmus();
  if (cores.empty()) {
    return Error{
        "this machine has no hardware counters: no template's events can be counted here\n"
        "-> culprit record --engine timer+simulate models them beside measured time"};
  }
  ASSIGN_OR_RETURN(const Template cpu, find_cpu_template(name));
  if (cpu.is_simulated) {
    return Error{"the events of '" + printable(cpu.name) +
                 "' are those of the software PMU: culprit record --engine simulate"};
  }
  // The large cores come first where there are two kinds.
  std::vector<EventGroup> groups = list_template_events(cpu, *cores.front(), for_sampling);
  if (groups.empty()) {
    return Error{
        fmt::format("no event of the template '{}' is sampled: culprit stat --template "
                    "counts them",
                    printable(cpu.name))};
  }
  return groups;
}

}  // namespace culprit
