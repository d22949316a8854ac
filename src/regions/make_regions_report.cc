#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "model/labelled_runs.h"
#include "model/region_words.h"
#include "print/others_time.h"
#include "regions/constructs.h"
#include "regions/counters.h"
#include "regions/findings.h"
#include "regions/overheads.h"
#include "regions/region_objects.h"
#include "regions/regions_report.h"

namespace culprit {
namespace {

struct Program {
  double wall_ns = 0;
  size_t hosts = 0;
};

/// Runs that were repeated follow one another, ranks run at once. Of a measured run and the
/// simulated one beside it only that counts which the report is of.
Program find_program(const Profile& profile, bool has_times) {
  std::set<RunId> runs;
  for (const RegionValue& value : profile.region_values) {
    const bool is_body = profile.strings.text(value.part) == region::kBody;
    const Context* const context = find_row(profile.contexts, value.context);
    if (context != nullptr && is_body && value.event.is_all() == has_times) {
      runs.insert(context->run);
    }
  }
  Program program;
  std::set<StringId> hosts;
  std::map<std::string, double> by_rank;
  for (const RunId id : runs) {
    const Run* const run = find_row(profile.runs, id);
    if (run == nullptr) continue;
    hosts.insert(run->host);
    double& wall_ns = by_rank[find_label(profile, *run, kRankLabel)];
    wall_ns += static_cast<double>(run->duration_ns);
    program.wall_ns = std::max(program.wall_ns, wall_ns);
  }
  program.hosts = hosts.size();
  return program;
}

}  // namespace

Result<RegionsReport> make_regions_report(const Profile& profile, CodeIndex& code,
                                          const RegionsQuestion& question) {
  if (profile.region_values.empty()) {
    return Error{
        "this profile has no regions: record OpenMP constructs with culprit record --regions"};
  }
  RegionsReport report;
  find_constructs(profile, code, report);
  const Program program = find_program(profile, report.has_times);
  report.program_wall_ns = program.wall_ns;
  std::optional<ChosenObjects> objects;
  if (!question.object.empty()) {
    ASSIGN_OR_RETURN(objects, find_region_objects(code, question.object));
    report.object = question.object;
    report.remarks = objects->remarks;
  }
  RETURN_IF_ERROR(
      add_counters(profile, question.events, objects ? &objects->rows : nullptr, report));
  if (!report.has_times) return report;
  add_overheads(report);
  add_findings(report);
  uint64_t unfinished = 0;
  for (const Construct& construct : report.constructs) unfinished += construct.sum.unfinished;
  if (unfinished > 0) {
    report.remarks.push_back(
        fmt::format("the program ended inside {} execution{} of constructs: these have the time "
                    "until then, which is in the column \"unfinished\", too",
                    unfinished, unfinished == 1 ? "" : "s"));
  }
  const uint32_t cpus = profile.machine.cpus_online;
  if (program.hosts == 1 && cpus > 0 && report.most_threads > cpus) {
    report.remarks.push_back(fmt::format(
        "{} threads share {} CPUs: times are of the clock, so a body's holds waiting for "
        "a CPU, and who waits at a barrier may wait for a thread that has none. Before all that "
        "is advised below: OMP_NUM_THREADS={}",
        report.most_threads, cpus, cpus));
  }
  if (std::string others = describe_others(profile); !others.empty()) {
    report.remarks.push_back(others + ": threads that wait may wait for one that has no CPU");
  }
  return report;
}

}  // namespace culprit
