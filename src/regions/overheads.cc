#include "regions/overheads.h"

#include <algorithm>
#include <map>
#include <string>

namespace culprit {
namespace {

/// How long a parallel construct took, and with how many threads.
struct Extent {
  double wall_ns = 0;
  size_t threads = 0;
};

/// A process's wall time is that of the thread that was in the construct longest. Processes of one
/// program, and runs that were repeated, follow one another: their times add up, and the threads
/// are those of the process with most. Ranks run at once: the slowest one's time counts, and all
/// their threads.
Extent find_extent(const RegionsReport& report, const Construct& construct) {
  std::map<std::string, std::map<ProcessId, Extent>> by_process;  // by rank
  for (const Construct::Thread& one : construct.threads) {
    const RegionsReport::Thread& thread = report.threads[one.thread];
    Extent& process = by_process[thread.rank][thread.process];
    process.wall_ns = std::max(process.wall_ns, one.times.whole_ns());
    ++process.threads;
  }
  Extent all;
  for (const auto& [rank, processes] : by_process) {
    Extent of_rank;
    for (const auto& [process, extent] : processes) {
      of_rank.wall_ns += extent.wall_ns;
      of_rank.threads = std::max(of_rank.threads, extent.threads);
    }
    all.wall_ns = std::max(all.wall_ns, of_rank.wall_ns);
    all.threads += of_rank.threads;
  }
  return all;
}

}  // namespace

Overheads& Overheads::operator+=(const Overheads& other) {
  synchronization_ns += other.synchronization_ns;
  imbalance_ns += other.imbalance_ns;
  limited_ns += other.limited_ns;
  management_ns += other.management_ns;
  return *this;
}

Overheads compute_overheads(const Construct& construct) {
  const RegionTimes& times = construct.sum;
  Overheads overheads;
  switch (construct.kind) {
    case Kind::barrier:
    case Kind::taskwait:
    case Kind::taskgroup:
      overheads.synchronization_ns = times.wait_ns;
      break;
    case Kind::critical:
    case Kind::lock:
    case Kind::atomic:
    case Kind::ordered:
      overheads.synchronization_ns = times.enter_ns;
      overheads.management_ns = times.exit_ns;
      break;
    case Kind::parallel:
      overheads.limited_ns =
          construct.lacks_sections ? times.exit_barrier_ns : times.behind_single_ns;
      overheads.imbalance_ns = times.exit_barrier_ns - overheads.limited_ns;
      overheads.management_ns = times.enter_ns + times.exit_ns;
      break;
    case Kind::loop:
    case Kind::workshare:
    case Kind::distribute:
    case Kind::taskloop:
    case Kind::scope:
      overheads.imbalance_ns = times.exit_barrier_ns;
      break;
    case Kind::implicit_barrier:
      overheads.imbalance_ns = times.wait_ns;
      break;
    case Kind::sections:
      (construct.lacks_sections ? overheads.limited_ns : overheads.imbalance_ns) =
          times.exit_barrier_ns;
      overheads.management_ns = times.enter_ns + times.exit_ns;
      break;
    case Kind::single:
      overheads.limited_ns = times.exit_barrier_ns;
      break;
    case Kind::task:
      overheads.management_ns = times.enter_ns;
      break;
    case Kind::teams:
    case Kind::master:
    case Kind::user:
    case Kind::function:
    case Kind::unknown:
      break;
  }
  return overheads;
}

void add_overheads(RegionsReport& report) {
  std::map<size_t, RegionOverheads> regions;
  for (size_t i = 0; i < report.constructs.size(); ++i) {
    const Construct& construct = report.constructs[i];
    const Overheads overheads = compute_overheads(construct);
    report.program += overheads;
    if (!construct.region) continue;
    RegionOverheads& region = regions[*construct.region];
    region.overheads += overheads;
    if (*construct.region != i) continue;
    region.construct = i;
    const Extent extent = find_extent(report, construct);
    region.threads = extent.threads;
    region.wall_ns = extent.wall_ns;
    region.whole_ns = construct.sum.whole_ns();
    for (const Construct::Thread& one : construct.threads) {
      region.executions = std::max(region.executions, one.times.executions);
    }
    report.most_threads = std::max(report.most_threads, region.threads);
  }
  for (const CallPath& path : report.call_paths) {
    const bool is_outermost = report.constructs[path.construct].kind == Kind::parallel &&
                              report.constructs[path.construct].region == path.construct;
    bool is_nested = false;
    for (auto up = path.parent; up; up = report.call_paths[*up].parent) {
      is_nested =
          is_nested || report.constructs[report.call_paths[*up].construct].kind == Kind::parallel;
    }
    if (!is_outermost || is_nested) continue;
    const RegionOverheads& region = regions[path.construct];
    const double whole_ns = report.constructs[path.construct].sum.whole_ns();
    // A construct may be met both outermost and nested: its wall time in proportion.
    if (whole_ns > 0) report.parallel_wall_ns += region.wall_ns * path.sum.whole_ns() / whole_ns;
  }
  for (const auto& [construct, region] : regions) report.regions.push_back(region);
}

}  // namespace culprit
