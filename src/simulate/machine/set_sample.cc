#include "simulate/machine/set_sample.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace culprit::simulate {
namespace {

/// The largest power of two that divides the number of sets of every level, at most kMostSetGroups.
uint64_t count_groups(const MachineModel& machine) {
  uint64_t common = kMostSetGroups;
  for (const CacheGeometry* cache : {&machine.l1i, &machine.l1d, &machine.l2, &machine.l3}) {
    if (cache->present()) common = std::gcd(common, compute_sets(*cache, machine.line_bytes));
  }
  return common;
}

}  // namespace

Result<SetSample> SetSample::make(const MachineModel& machine, uint32_t one_of, uint64_t seed) {
  if (one_of == 1) return SetSample();
  const uint64_t groups = count_groups(machine);
  if (!std::has_single_bit(one_of) || groups / one_of < 2) {
    return Error{
        fmt::format("cannot simulate 1 of {} sets of machine '{}': the number must be a "
                    "power of two up to {}",
                    one_of, machine.name, std::max<uint64_t>(groups / 2, 1))};
  }
  std::vector<uint32_t> order(groups);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  for (size_t i = groups - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);

  SetSample sample;
  sample.taken_.assign(groups, kNotTaken);
  sample.groups_mask_ = groups - 1;
  sample.taken_count_ = static_cast<uint32_t>(groups / one_of);
  for (uint32_t i = 0; i < sample.taken_count_; ++i) sample.taken_[order[i]] = i;
  return sample;
}

SampledCount SetSample::estimate_total(std::span<const uint64_t> counts_of_groups) const {
  const double k = static_cast<double>(counts_of_groups.size());
  const double sum = std::accumulate(counts_of_groups.begin(), counts_of_groups.end(), 0.0);
  if (is_all()) return {sum, 0};
  const double all = static_cast<double>(taken_.size());
  const double mean = sum / k;
  double squares = 0;
  for (const uint64_t count : counts_of_groups) {
    squares += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean);
  }
  return {mean * all, all * all * (1 - k / all) * (squares / (k - 1)) / k};
}

SampledCount SetSample::estimate_part(uint64_t count, double clustering) const {
  if (is_all()) return {static_cast<double>(count), 0};
  const double fraction = taken_count_ / static_cast<double>(taken_.size());
  const double n = static_cast<double>(count);
  return {n / fraction, n * (1 - fraction) / (fraction * fraction) * clustering};
}

}  // namespace culprit::simulate
