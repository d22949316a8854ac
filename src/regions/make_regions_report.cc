#include <fmt/format.h>

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
  for (const Run& run : profile.runs) {
    // A simulated run beside the measured one has no regions: the first one does.
    report.program_wall_ns = static_cast<double>(run.duration_ns);
    if (run.duration_ns > 0) break;
  }
  find_constructs(profile, code, report);
  RETURN_IF_ERROR(add_counters(profile, events, report));
  if (!report.has_times) return report;
  add_overheads(report);
  add_findings(report);
  const uint32_t cpus = profile.machine.cpus_online;
  if (cpus > 0 && report.most_threads > cpus) {
    report.remarks.push_back(fmt::format(
        "{} threads share {} CPUs: times are of the clock, so a body's holds waiting for "
        "a CPU, and who waits at a barrier may wait for a thread that has none",
        report.most_threads, cpus));
  }
  return report;
}

}  // namespace culprit
