#include "perfdata/time_order.h"

#include <algorithm>

namespace culprit {

TimeOrder::TimeOrder(Sink sink, size_t most_waiting)
    : sink_(std::move(sink)), most_waiting_(most_waiting) {}

void TimeOrder::add_block(HeldBlock block) {
  // What came of the last one may have gone out already.
  if (!blocks_.empty() && blocks_.back().records == 0) drop(blocks_.back());
  waiting_bytes_ += block->size();
  blocks_.push_back({std::move(block), 0});
}

/// A record of the last block.
Result<void> TimeOrder::push(uint64_t time_ns, const RawRecord& record) {
  if (time_ns < passed_ns_) ++late_;
  newest_ns_ = std::max(newest_ns_, time_ns);
  if (waiting_.empty() || time_ns < waiting_.back().time_ns) runs_.push_back(waiting_.size());
  ++blocks_.back().records;
  const auto block = blocks_gone_ + static_cast<uint32_t>(blocks_.size()) - 1;
  waiting_.push_back({time_ns, record.bytes.data(), record.header, record.event, block});
  if (waiting_.size() < most_waiting_ && waiting_bytes_ < kMostWaitingBytes) return {};
  // No round has ended for long: the older half goes.
  merge_runs();
  return pass_on(waiting_[waiting_.size() / 2].time_ns);
}

Result<void> TimeOrder::end_round() {
  RETURN_IF_ERROR(pass_on(last_round_ns_));
  last_round_ns_ = newest_ns_;
  return {};
}

Result<void> TimeOrder::end() {
  return pass_on(UINT64_MAX);
}

/// Neighbours pair by pair, so that records of the same time stay as they came.
void TimeOrder::merge_runs() {
  const auto at = [&](size_t run) {
    const size_t index = run < runs_.size() ? runs_[run] : waiting_.size();
    return waiting_.begin() + static_cast<ptrdiff_t>(index);
  };
  while (runs_.size() > 1) {
    std::vector<size_t> merged;
    for (size_t run = 0; run < runs_.size(); run += 2) {
      merged.push_back(runs_[run]);
      std::inplace_merge(at(run), at(run + 1), at(run + 2),
                         [](const Waiting& a, const Waiting& b) { return a.time_ns < b.time_ns; });
    }
    runs_ = std::move(merged);
  }
}

/// Everything up to `until_ns`, included.
Result<void> TimeOrder::pass_on(uint64_t until_ns) {
  merge_runs();
  const auto last =
      std::upper_bound(waiting_.begin(), waiting_.end(), until_ns,
                       [](uint64_t time, const Waiting& one) { return time < one.time_ns; });
  for (auto at = waiting_.begin(); at != last; ++at) {
    passed_ns_ = std::max(passed_ns_, at->time_ns);
    RETURN_IF_ERROR(sink_(record_of(*at)));
    release(at->block);
  }
  waiting_.erase(waiting_.begin(), last);
  runs_.assign(waiting_.empty() ? 0 : 1, 0);
  return {};
}

/// One record of this block waits no more. (More records of the last block may come.)
void TimeOrder::release(uint32_t block) {
  WaitingBlock& its = blocks_[block - blocks_gone_];
  if (--its.records == 0 && &its != &blocks_.back()) drop(its);
}

void TimeOrder::drop(WaitingBlock& block) {
  waiting_bytes_ -= block.held->size();
  block.held.reset();
  while (!blocks_.empty() && blocks_.front().held == nullptr) {
    blocks_.pop_front();
    ++blocks_gone_;
  }
}

}  // namespace culprit
