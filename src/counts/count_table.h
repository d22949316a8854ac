#pragma once

// Counts of whole runs, as a table: what `culprit stat` prints.
//
//     20,000,007  instructions:u   1.00 per cycle         +-0.1 %
//        1,204 k  cycles           1.20 G/s               +-1.3 %   counted 62 % of the time
//    not counted  branch-misses    this machine does not count it
//
//        0.021 s  elapsed                                 +-2.0 %

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "stats/estimate.h"

namespace culprit {

/// A number beside a count that says more than it: "1.00 per cycle", "1.2e9 per second".
struct CountRate {
  double value = 0;
  std::string unit;
};

struct CountRow {
  std::string event;
  Unit unit = Unit::events;
  std::optional<uint32_t> thread_id;  // with one row per thread
  std::string thread_name;
  std::optional<double> value;         // mean of the runs; none: not counted
  std::optional<Interval> interval95;  // none: one run, or too few readings to tell
  bool is_one_reading = false;         // of one run that was read at its end alone
  double counted_ratio = 0;            // of the time enabled that it had a counter
  std::optional<CountRate> rate;
  std::string reason;  // why it was not counted; "" where it was
};

struct CountTable {
  std::string command;
  uint32_t repetitions = 0;  // that were counted
  std::vector<CountRow> rows;
  double elapsed_s = 0;  // mean of all executions
  std::optional<Interval> elapsed95_s;
  std::optional<double> cpu_s;  // user + system of the command
  std::vector<std::string> ledger;
};

/// All intervals and repetitions together.
/// `reasons`: of events that could not be opened.
/// Units:  events in their own (after `scale`), times [ns] as Event::unit says
/// Errors: interval95 of several runs by Student's t, of one run by how the rate varied while
///         the event shared its counter (stats/repeated.h); exact counts of one run have none
CountTable make_count_table(const Profile& profile, const std::map<EventId, std::string>& reasons);

/// The rows of one interval; `value` is none where nothing was counted in it.
std::vector<CountRow> make_interval_rows(const Profile& profile, uint32_t repetition,
                                         uint32_t interval);

}  // namespace culprit
