#include "simulate/machine/set_sample.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace culprit::simulate {
namespace {

/// Heat of groups that stay for certain, in means of all groups.
constexpr double kHot = 2;

/// The largest power of two that divides the number of sets of every level, at most `most`.
uint64_t count_groups(const MachineModel& machine, uint32_t most) {
  uint64_t common = most;
  for (const CacheGeometry* cache : {&machine.l1i, &machine.l1d, &machine.l2, &machine.l3}) {
    if (cache->present()) common = std::gcd(common, compute_sets(*cache, machine.line_bytes));
  }
  return common;
}

/// The numbers up to `count`, shuffled.
std::vector<uint32_t> draw_order(uint64_t count, uint64_t seed) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  for (size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  return order;
}

}  // namespace

SampledCount estimate_part(uint64_t count, uint32_t weight, double clustering) {
  const double w = weight;
  const double n = static_cast<double>(count);
  return {n * w, n * (1 - 1 / w) * w * w * clustering};
}

Result<SetSample> SetSample::make(const MachineModel& machine, const Plan& plan) {
  if (plan.one_of == 1) return SetSample();
  const uint64_t groups = count_groups(machine, plan.most_groups);
  if (!std::has_single_bit(plan.one_of) || groups / plan.one_of < 2) {
    return Error{
        fmt::format("cannot simulate 1 of {} sets of machine '{}': the number must be a "
                    "power of two up to {}",
                    plan.one_of, machine.name, std::max<uint64_t>(groups / 2, 1))};
  }
  SetSample sample;
  sample.plan_ = plan;
  sample.groups_mask_ = groups - 1;
  sample.drawn_ = static_cast<uint32_t>(groups / plan.one_of);
  sample.strata_.assign(groups, kCertain);
  if (!plan.begins_later) sample.draw(draw_order(groups, plan.seed));
  return sample;
}

void SetSample::begin(std::span<const uint64_t> heat) {
  if (has_begun() || is_all()) return;
  const double mean =
      std::accumulate(heat.begin(), heat.end(), 0.0) / static_cast<double>(strata_.size());
  std::vector<uint32_t> order = draw_order(strata_.size(), plan_.seed);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return heat[a] > heat[b]; });
  const auto hot = static_cast<uint32_t>(std::count_if(order.begin(), order.end(), [&](uint32_t g) {
    return static_cast<double>(heat[g]) > kHot * mean;
  }));
  // As many as make a whole number of what each drawn group stands for.
  const uint32_t most = static_cast<uint32_t>(strata_.size()) - 2 * drawn_;
  const uint32_t certain =
      std::min({(hot + drawn_ - 1) / drawn_ * drawn_, 2 * drawn_, most / drawn_ * drawn_});
  std::vector<bool> is_certain(strata_.size());
  for (uint32_t i = 0; i < certain; ++i) is_certain[order[i]] = true;
  std::vector<uint32_t> others;
  for (const uint32_t group : draw_order(strata_.size(), plan_.seed)) {
    if (!is_certain[group]) others.push_back(group);
  }
  draw(others);
}

/// Takes the first of these groups, as many as are drawn; the rest of them is not held any more.
void SetSample::draw(const std::vector<uint32_t>& order) {
  for (uint32_t i = 0; i < order.size(); ++i) {
    const auto stratum = static_cast<uint8_t>(1 + i % random_groups());
    __atomic_store_n(&strata_[order[i]], i < drawn_ ? stratum : kNotTaken, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&weight_, static_cast<uint32_t>(order.size()) / drawn_, __ATOMIC_RELEASE);
}

SampledCount SetSample::estimate_total(std::span<const uint64_t> counts_of_groups) const {
  const double k = static_cast<double>(counts_of_groups.size());
  const double sum = std::accumulate(counts_of_groups.begin(), counts_of_groups.end(), 0.0);
  if (is_all()) return {sum, 0};
  const double all = static_cast<double>(strata_.size());
  const double mean = sum / k;
  double squares = 0;
  for (const uint64_t count : counts_of_groups) {
    squares += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean);
  }
  return {mean * all, all * all * (1 - k / all) * (squares / (k - 1)) / k};
}

}  // namespace culprit::simulate
