#pragma once

// timeline: what threads did, slice by slice of a run's time → text, JSON, CSV.
//
//     $ culprit report --by time
//
//      from s   ~time  ~share   +-   CPUs  =off-cpu
//         0.0  412 ms  10.1 %  0.9   1.03    388 ms  ##########
//         0.4  801 ms  19.6 %  1.2   2.00          -  ###############====
//
// A lane is a process, a thread, a region, or any of these together; without them there is one lane
// of everything. Lanes and what has no time add up to the whole exactly.

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace culprit {

struct TimelineOptions {
  std::vector<RowLevel> by;     // process, comm, thread, region
  std::vector<Filter> filters;  // likewise
  size_t most_slices = 0;       // of all runs together; 0: as many as were kept
};

/// The slices of one run, all of one width. The last may end after the run.
struct RunSlices {
  RunId run;
  int64_t offset_ns = 0;  // of the run's start, since that of the first run
  uint64_t duration_ns = 0;
  uint64_t width_ns = 0;
  size_t count = 0;

  /// How long a slice was, within the run. [ns]
  [[nodiscard]] double length_ns(size_t slice) const;
};

/// What a lane did of one kind, slice by slice. Before and after nothing.
struct LaneSeries {
  size_t event = 0;
  Mode mode = Mode::all;
  size_t first = 0;  // slice
  std::vector<Value> values;
};

struct Lane {
  size_t run = 0;    // in Timeline::runs
  ReportRow who;     // names, as far as lanes are told apart by them
  std::string kind;  // of the region: that of a construct, "waiting", "[not known]"; "": none
  std::vector<LaneSeries> series;
  std::vector<Value> values;  // its sums, parallel to the events
};

struct Timeline {
  TimelineOptions options;
  std::vector<RunSlices> runs;
  std::vector<Lane> lanes;  // by run, then by most of the first event
  std::vector<std::string> event_names;
  std::vector<Value> totals;        // of everything, by place
  std::vector<Value> without_time;  // of it, what is in no slice
  std::vector<Value> shown;         // of what the filters keep
  Ledger ledger;

  /// The slices of a run, all lanes together.  Shape: [slice][event]
  [[nodiscard]] std::vector<std::vector<Value>> sums_of(size_t run) const;
};

/// Errors: nothing was kept by time; levels of code
Result<Timeline> make_timeline(const Profile& profile, const FactsLookup& facts,
                               const TimelineOptions& options);

std::string print_timeline(const Profile& profile, const Timeline& timeline, Format format,
                           const TextStyle& style);

/// Whether anything was kept by time.
inline bool has_times(const Profile& profile) {
  return !profile.slice_counts.empty();
}

}  // namespace culprit
