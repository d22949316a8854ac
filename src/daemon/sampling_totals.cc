#include "daemon/sampling_totals.h"

#include <array>
#include <cstddef>

namespace culprit {

void SamplingTotals::add(const SamplingTotals& other) {
  const auto fields = [](auto& totals) {
    return std::array{&totals.handled,         &totals.idle,           &totals.hits,
                      &totals.misses,          &totals.lost,           &totals.skipped,
                      &totals.evicted,         &totals.entries,        &totals.range_hits,
                      &totals.range_searches,  &totals.range_refusals, &totals.records_refused,
                      &totals.timed,           &totals.timed_ns,       &totals.timed_misses,
                      &totals.timed_misses_ns, &totals.timed_searches, &totals.timed_searches_ns,
                      &totals.enabled_ns,      &totals.unknown_busy,   &totals.unknown_unmapped,
                      &totals.unknown_kernel,  &totals.anonymous};
  };
  const auto ours = fields(*this);
  const auto theirs = fields(other);
  for (size_t i = 0; i < ours.size(); ++i) *ours[i] += *theirs[i];
}

}  // namespace culprit
