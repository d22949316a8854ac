#pragma once

// What `perf stat -x,` (any separator) or `perf stat -j` printed → counts of a whole run.
//
//     1234,,cycles,1000000,62.50,,           value, unit, event, ns counted, % of the time
//     <not counted>,,branch-misses,0,0.00,,
//     {"counter-value" : "1234.0", "unit" : "", "event" : "cycles", "event-runtime" : 1000000, ...}
//
// Values of several CPUs or threads (-A, --per-thread) are added up, those of intervals (-I)
// are kept apart. perf has scaled what shared its counter; here it is the count itself, with
// both times, again: in ten-thousandths (Event::scale), so that perf's number comes back exactly.
// The errors that perf -r prints are not kept.

#include <optional>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace culprit {

/// One line of it.
struct StatLine {
  std::string event;
  std::string unit;             // "msec", "Joules"; "": events
  std::optional<double> value;  // scaled, as perf prints it; none: not counted
  uint64_t running_ns = 0;
  double running_percent = 100;  // of the time enabled
  std::string interval;          // "0.103777759", "" if there are none
};

/// The result is none if it is no line of counts.
std::optional<StatLine> parse_stat_line(std::string_view line);

/// Whether a text begins as perf stat's does: comments, then a line of counts.
bool is_stat_text(std::string_view beginning);

/// Adds up lines into a profile of one run.
class StatCounts {
 public:
  StatCounts();
  void add(const StatLine& line);
  /// The profile; `lines` that were no counts are for the ledger.
  Profile take(uint64_t damaged_lines);

 private:
  EventId find_or_add(const StatLine& line);
  void unscale(EventId event);

  Profile profile_;
  std::vector<uint64_t> parts_;  // of the time that each count had a counter, in ten-thousandths
  std::vector<std::string> intervals_;
};

}  // namespace culprit
