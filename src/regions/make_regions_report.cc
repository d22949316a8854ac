#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "regions/constructs.h"
#include "regions/counters.h"
#include "regions/findings.h"
#include "regions/overheads.h"
#include "regions/regions_report.h"

namespace culprit {

Result<RegionsReport> make_regions_report(const Profile& profile, CodeIndex& code,
                                          const std::vector<std::string>& events) {
  if (profile.region_values.empty()) {
    return Error{
        "this profile has no regions: record OpenMP constructs with culprit record --regions"};
  }
  RegionsReport report;
  std::set<StringId> hosts;
  // A simulated run beside the measured one has none of these regions; ranks run at once.
  for (const RegionValue& value : profile.region_values) {
    const Context* const context = find_row(profile.contexts, value.context);
    const Run* const run = context == nullptr ? nullptr : find_row(profile.runs, context->run);
    if (run == nullptr) continue;
    hosts.insert(run->host);
    report.program_wall_ns =
        std::max(report.program_wall_ns, static_cast<double>(run->duration_ns));
  }
  find_constructs(profile, code, report);
  RETURN_IF_ERROR(add_counters(profile, events, report));
  if (!report.has_times) return report;
  add_overheads(report);
  add_findings(report);
  const uint32_t cpus = profile.machine.cpus_online;
  if (hosts.size() == 1 && cpus > 0 && report.most_threads > cpus) {
    report.remarks.push_back(fmt::format(
        "{} threads share {} CPUs: times are of the clock, so a body's holds waiting for "
        "a CPU, and who waits at a barrier may wait for a thread that has none",
        report.most_threads, cpus));
  }
  return report;
}

}  // namespace culprit
