#include "regions/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "regions/overheads.h"

namespace culprit {
namespace {

constexpr double kLeastShare = 0.005;      // of the program's wall time
constexpr double kOftenPerSecond = 1000;   // FrequentAtomic: executions per second and thread
constexpr double kLongStartNs = 1e6;       // a thread's, in a parallel region
constexpr double kFewChunksPerThread = 4;  // a dynamic loop with fewer cannot even out much

constexpr const char* kAdviceForSingle =
    "one thread works and the others wait: nowait, tasks, or move it out of the region";

constexpr const char* kAdviceForSections =
    "there are fewer sections than threads: more sections, or tasks";

struct Waiting {
  const char* property = nullptr;
  double ns = 0;
  std::string advice;
};

std::string advise_loop(const Construct& loop) {
  const double chunks = loop.sum.executions == 0 ? 0
                                                 : static_cast<double>(loop.sum.pieces) /
                                                       static_cast<double>(loop.sum.executions);
  if (loop.name == "dynamic" || loop.name == "guided") {
    return chunks > 0 && chunks < kFewChunksPerThread
               ? fmt::format("each thread takes {:.1f} chunks a time: smaller chunks even out more",
                             chunks)
               : "the last chunks are long: smaller ones, or the long iterations first";
  }
  return "iterations take unequal time: schedule(dynamic) or (guided), or a smaller chunk";
}

/// Who waits at the end of a region waits for the work of others.
std::string advise_region(const RegionsReport& report, const Construct& region) {
  if (region.own_loop) return advise_loop(report.constructs[*region.own_loop]);
  return region.type == "PARALLEL LOOP"
             ? "iterations take unequal time: schedule(dynamic) or (guided)"
             : "threads have unequal work: give the longest parts out first, or smaller ones";
}

Waiting find_waiting(const RegionsReport& report, const Construct& construct) {
  const RegionTimes& sum = construct.sum;
  switch (construct.kind) {
    case Kind::barrier:
      return {
          "WaitAtBarrier", sum.wait_ns,
          "threads come at different times: is the barrier needed, and the work before it even?"};
    case Kind::implicit_barrier:
      return {
          "ImbalanceInParallelLoop", sum.wait_ns,
          "iterations take unequal time: schedule(dynamic), or nowait if nothing depends on it"};
    case Kind::taskwait:
    case Kind::taskgroup:
      return {"WaitAtTaskwait", sum.wait_ns,
              "there is nothing to run meanwhile: more and smaller tasks, or wait later"};
    case Kind::parallel:
      if (construct.lacks_sections) {
        return {"ImbalanceDueToNotEnoughSections", sum.exit_barrier_ns, kAdviceForSections};
      }
      return {construct.type == "PARALLEL SECTIONS" ? "ImbalanceInParallelSections"
                                                    : "ImbalanceInParallelRegion",
              sum.exit_barrier_ns - sum.behind_single_ns, advise_region(report, construct)};
    case Kind::loop:
    case Kind::distribute:
      return {"ImbalanceInParallelLoop", sum.exit_barrier_ns, advise_loop(construct)};
    case Kind::taskloop:
      return {"ImbalanceInParallelLoop", sum.exit_barrier_ns,
              "tasks are too few or too long: a smaller grainsize"};
    case Kind::workshare:
    case Kind::scope:
      return {"ImbalanceInParallelWorkshare", sum.exit_barrier_ns,
              "its parts take unequal time: a loop with a schedule can even that out"};
    case Kind::sections:
      if (construct.lacks_sections) {
        return {"ImbalanceDueToNotEnoughSections", sum.exit_barrier_ns, kAdviceForSections};
      }
      return {"ImbalanceDueToUnevenSectionDistribution", sum.exit_barrier_ns,
              "sections take unequal time: the longest first, or split it"};
    case Kind::critical:
      return {"CriticalSectionContention", sum.enter_ns,
              "threads stand in line: a reduction, an atomic, names for what is independent, or "
              "less inside"};
    case Kind::lock:
      return {"LockContention", sum.enter_ns,
              "threads stand in line: a lock for each part of the data, or less while it is held"};
    case Kind::ordered:
      return {"OrderedContention", sum.enter_ns,
              "iterations wait for earlier ones: less inside ordered, smaller chunks"};
    case Kind::atomic:
      return {"AtomicContention", sum.enter_ns, "threads stand in line: a reduction"};
    case Kind::single:
      return {"UnparallelizedInSingleRegion", sum.exit_barrier_ns, kAdviceForSingle};
    case Kind::task:
      return {"TaskCreation", sum.enter_ns, "making tasks takes time: fewer and larger ones"};
    case Kind::teams:
    case Kind::master:
    case Kind::user:
    case Kind::function:
    case Kind::unknown:
      break;
  }
  return {};
}

/// Starting and ending a region: a property of its own, besides its imbalance. A runtime does it in
/// microseconds (making a thread takes tens of them), but for threads that get no CPU.
Waiting find_management(const Construct& construct, const RegionOverheads& region) {
  if (construct.kind != Kind::parallel) return {};
  const double ns = construct.sum.enter_ns + construct.sum.exit_ns;
  if (ns < 0.1 * region.whole_ns || construct.sum.executions == 0) return {};
  const double each_ns = ns / static_cast<double>(construct.sum.executions);
  if (each_ns > kLongStartNs) {
    return {"ThreadsWithoutCpu", ns,
            fmt::format("a thread takes {} to start and end it, which runtimes do in microseconds: "
                        "most likely it waited for a CPU that other threads or programs had",
                        format_duration_ns(each_ns))};
  }
  return {"InsufficientWorkInParallelRegion", ns,
          region.executions > 1 ? "starting and ending the region takes longer than is worth it: "
                                  "merge regions, or an if clause for small sizes"
                                : "starting threads takes long beside the work: fewer threads"};
}

}  // namespace

void add_findings(RegionsReport& report) {
  std::map<size_t, const RegionOverheads*> regions;
  for (const RegionOverheads& region : report.regions) regions[region.construct] = &region;
  const auto add = [&](size_t construct, const Waiting& waiting, const RegionOverheads& region) {
    if (waiting.property == nullptr || region.threads == 0 || !(region.whole_ns > 0)) return;
    Finding finding;
    finding.property = waiting.property;
    finding.construct = construct;
    finding.severity = waiting.ns / region.whole_ns;
    finding.waiting_ns = waiting.ns;
    // If nobody waited, the same work would take each thread so much less.
    finding.at_most_ns = waiting.ns / static_cast<double>(region.threads);
    finding.advice = waiting.advice;
    if (finding.at_most_ns >= kLeastShare * report.program_wall_ns)
      report.findings.push_back(finding);
  };
  for (size_t i = 0; i < report.constructs.size(); ++i) {
    const Construct& construct = report.constructs[i];
    if (!construct.region) continue;
    const auto found = regions.find(*construct.region);
    if (found == regions.end()) continue;
    const RegionOverheads& region = *found->second;
    add(i, find_waiting(report, construct), region);
    add(i, find_management(construct, region), region);
    if (construct.kind == Kind::parallel) {
      add(i, {"UnparallelizedInSingleRegion", construct.sum.behind_single_ns, kAdviceForSingle},
          region);
    }
    const double per_second =
        region.whole_ns > 0 ? 1e9 * static_cast<double>(construct.sum.executions) / region.whole_ns
                            : 0;
    if (construct.kind == Kind::atomic && per_second > kOftenPerSecond) {
      add(i, {"FrequentAtomic", construct.sum.whole_ns(), "a reduction, or private sums"}, region);
    }
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.at_most_ns > b.at_most_ns; });
}

}  // namespace culprit
