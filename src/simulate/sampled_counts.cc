#include "simulate/sampled_counts.h"

#include <algorithm>
#include <numeric>

#include "stats/estimate.h"
#include "stats/student.h"

namespace culprit {
namespace {

template <class Count>
double compute_design_effect(std::span<const Count> misses) {
  const auto classes = static_cast<double>(misses.size());
  const double sum = std::accumulate(misses.begin(), misses.end(), 0.0);
  if (sum == 0 || misses.size() < 2) return 1;
  double squares = 0;
  for (const Count count : misses) {
    const double apart = static_cast<double>(count) - sum / classes;
    squares += apart * apart;
  }
  const double wider = student_quantile95(static_cast<double>(misses.size() - 1)) / kNormal95;
  return std::max(1.0, classes * squares / (classes - 1) / sum * wider * wider);
}

}  // namespace

double estimate_design_effect(std::span<const uint32_t> misses_of_classes) {
  return compute_design_effect(misses_of_classes);
}

std::vector<double> estimate_design_effects(const ProcessCounts& counts) {
  std::vector<double> effects;
  std::vector<uint64_t> totals(counts.sample_classes);
  double of_sites = 0;  // sum of the sites' variances, in those of Poisson counts
  for (const counts_file::SampledMisses& site : counts.misses) {
    const std::span misses(site.misses, counts.sample_classes);
    effects.push_back(estimate_design_effect(misses));
    const double sum = std::accumulate(misses.begin(), misses.end(), 0.0);
    of_sites += effects.back() * sum;
    for (size_t i = 0; i < misses.size(); ++i) totals[i] += misses[i];
  }
  const double sum = std::accumulate(totals.begin(), totals.end(), 0.0);
  const double of_all = compute_design_effect(std::span<const uint64_t>(totals)) * sum;
  if (of_all > of_sites && of_sites > 0) {
    for (double& effect : effects) effect *= of_all / of_sites;
  }
  return effects;
}

}  // namespace culprit
