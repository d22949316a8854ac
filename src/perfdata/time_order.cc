#include "perfdata/time_order.h"

#include <algorithm>
#include <unordered_set>

namespace culprit {

TimeOrder::TimeOrder(Sink sink, size_t most_waiting)
    : sink_(std::move(sink)), most_waiting_(most_waiting) {}

Result<void> TimeOrder::push(uint64_t time_ns, RawRecord record) {
  if (time_ns < passed_ns_) ++late_;
  newest_ns_ = std::max(newest_ns_, time_ns);
  if (record.owner.get() != last_owner_) waiting_bytes_ += record.owner_bytes;
  last_owner_ = record.owner.get();
  waiting_.push_back({time_ns, std::move(record)});
  if (waiting_.size() < most_waiting_ && waiting_bytes_ < kMostWaitingBytes) return {};
  // No round has ended for long: the older half goes.
  std::vector<uint64_t> times;
  times.reserve(waiting_.size());
  for (const Waiting& one : waiting_) times.push_back(one.time_ns);
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return pass_on(*middle);
}

Result<void> TimeOrder::end_round() {
  RETURN_IF_ERROR(pass_on(last_round_ns_));
  last_round_ns_ = newest_ns_;
  return {};
}

Result<void> TimeOrder::end() {
  return pass_on(UINT64_MAX);
}

/// Everything up to `until_ns`, included.
Result<void> TimeOrder::pass_on(uint64_t until_ns) {
  const auto is_earlier = [](const Waiting& a, const Waiting& b) { return a.time_ns < b.time_ns; };
  const auto unsorted = waiting_.begin() + static_cast<ptrdiff_t>(sorted_);
  std::stable_sort(unsorted, waiting_.end(), is_earlier);
  std::inplace_merge(waiting_.begin(), unsorted, waiting_.end(), is_earlier);
  const auto last =
      std::upper_bound(waiting_.begin(), waiting_.end(), until_ns,
                       [](uint64_t time, const Waiting& one) { return time < one.time_ns; });
  for (auto at = waiting_.begin(); at != last; ++at) {
    passed_ns_ = std::max(passed_ns_, at->time_ns);
    RETURN_IF_ERROR(sink_(at->record));
  }
  waiting_.erase(waiting_.begin(), last);
  sorted_ = waiting_.size();
  count_waiting_bytes();
  return {};
}

void TimeOrder::count_waiting_bytes() {
  std::unordered_set<const void*> owners;
  waiting_bytes_ = 0;
  last_owner_ = nullptr;
  for (const Waiting& one : waiting_) {
    if (owners.insert(one.record.owner.get()).second) waiting_bytes_ += one.record.owner_bytes;
  }
}

}  // namespace culprit
