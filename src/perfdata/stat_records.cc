#include "perfdata/stat_records.h"

#include <utility>

#include "perfdata/user_records.h"

namespace culprit {

namespace {

/// A counter that was closed and opened again begins at 0.
uint64_t gained(uint64_t now, uint64_t before) {
  return now >= before ? now - before : now;
}

}  // namespace

Result<void> StatRecords::add(const RawRecord& record) {
  ByteReader body(record.bytes.subspan(RecordHeader::kBytes), order_);
  if (static_cast<UserRecord>(record.header.type) == UserRecord::counted) return add_reading(body);
  ASSIGN_OR_RETURN(const uint64_t kind, body.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t time_ns, body.take<uint64_t>());
  constexpr uint64_t kInterval = 0;
  if (kind == kInterval) ++interval_;
  end_ns_ = time_ns;
  return {};
}

Result<void> StatRecords::add_reading(ByteReader& body) {
  ASSIGN_OR_RETURN(const uint64_t id, body.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint32_t cpu, body.take<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t thread, body.take<uint32_t>());
  Reading now;
  ASSIGN_OR_RETURN(now.value, body.take<uint64_t>());
  ASSIGN_OR_RETURN(now.enabled_ns, body.take<uint64_t>());
  ASSIGN_OR_RETURN(now.running_ns, body.take<uint64_t>());
  const std::optional<size_t> event = attributes_.find(id);
  if (!event) return Error{"it counts an event that the file does not name"};
  const Reading before = std::exchange(last_[{id, cpu, thread}], now);
  const IntervalCount gain{*event, interval_, gained(now.value, before.value),
                           gained(now.enabled_ns, before.enabled_ns),
                           gained(now.running_ns, before.running_ns)};
  // perf reads once more after the last interval: nothing is new then.
  if (interval_ > 0 && gain.time_enabled_ns == 0) return {};
  IntervalCount& sum = sums_[{interval_, *event}];
  sum.event = *event;
  sum.interval = interval_;
  sum.value += gain.value;
  sum.time_enabled_ns += gain.time_enabled_ns;
  sum.time_running_ns += gain.time_running_ns;
  return {};
}

std::vector<IntervalCount> StatRecords::counts() const {
  std::vector<IntervalCount> rows;
  for (const auto& [key, sum] : sums_) rows.push_back(sum);
  return rows;
}

}  // namespace culprit
