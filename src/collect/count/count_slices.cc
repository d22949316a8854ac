#include "collect/count/count_slices.h"

#include <algorithm>

namespace culprit {

namespace {

constexpr size_t kMostSlices = 256;
constexpr uint64_t kLongestPeriodNs = 1'000'000'000;

void add_to(std::vector<Reading>& sum, const std::vector<Reading>& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

}  // namespace

void CountSlices::add(std::vector<Reading> fresh) {
  const bool shares = std::any_of(fresh.begin(), fresh.end(), [](const Reading& reading) {
    return reading.running_ns < reading.enabled_ns;
  });
  if (keep_all_ || slices_.empty() || is_shared_ || shares) {
    slices_.push_back(std::move(fresh));
  } else {
    add_to(slices_.back(), fresh);
    period_ns_ = std::min(2 * period_ns_, kLongestPeriodNs);
  }
  is_shared_ = is_shared_ || shares;
  if (!keep_all_ && slices_.size() > kMostSlices) halve();
}

/// The first stays short: how a program starts says little of the rest.
void CountSlices::halve() {
  std::vector<std::vector<Reading>> halved;
  halved.push_back(std::move(slices_.front()));
  for (size_t i = 1; i < slices_.size(); i += 2) {
    halved.push_back(std::move(slices_[i]));
    if (i + 1 < slices_.size()) add_to(halved.back(), slices_[i + 1]);
  }
  slices_ = std::move(halved);
  period_ns_ = std::min(2 * period_ns_, kLongestPeriodNs);
}

}  // namespace culprit
