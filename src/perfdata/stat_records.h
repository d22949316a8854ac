#pragma once

// What `perf stat record` wrote, which has counts of whole runs and no samples: after each
// interval (or once, at the end) what each counter has reached, then a record that says when.

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/profile.h"
#include "perfdata/attributes.h"
#include "perfdata/record_stream.h"

namespace culprit {

/// What an event's counters (one for each CPU or thread) gained in one interval, added up.
struct IntervalCount {
  size_t event = 0;  // its place in the attributes
  uint32_t interval = 0;
  uint64_t value = 0;
  uint64_t time_enabled_ns = 0;
  uint64_t time_running_ns = 0;
};

class StatRecords {
 public:
  StatRecords(const Attributes& attributes, std::endian order)
      : attributes_(attributes), order_(order) {}

  /// A record of kind counted or counting_round.
  /// Errors: it is shorter than its kind is, or of a counter that the file does not name.
  Result<void> add(const RawRecord& record);

  [[nodiscard]] bool is_empty() const { return sums_.empty(); }
  /// Counts in the order of intervals, and of events in them.
  [[nodiscard]] std::vector<IntervalCount> counts() const;
  /// When the last counts were read, since the start.
  [[nodiscard]] std::optional<uint64_t> end_ns() const { return end_ns_; }

 private:
  struct Reading {
    uint64_t value = 0;
    uint64_t enabled_ns = 0;
    uint64_t running_ns = 0;
  };
  using Counter = std::tuple<uint64_t, uint32_t, uint32_t>;  // its id, CPU and thread

  Result<void> add_reading(ByteReader& body);

  const Attributes& attributes_;
  std::endian order_;
  std::map<Counter, Reading> last_;
  std::map<std::pair<uint32_t, size_t>, IntervalCount> sums_;  // by interval and event
  uint32_t interval_ = 0;
  std::optional<uint64_t> end_ns_;
};

}  // namespace culprit
