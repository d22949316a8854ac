#include "stats/steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/robust.h"
#include "stats/student.h"

namespace culprit {
namespace {

constexpr size_t kMostLag = 8;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Search {
  double scatter;
  double degrees_of_freedom;
  double chance;  // of a split that is none
  std::vector<size_t> steps = {};

  void split(std::span<const double> series, size_t offset) {
    double most = 0;
    size_t where = 0;
    for (size_t at = 1; at < series.size(); ++at) {
      const double inverse =
          1 / static_cast<double>(at) + 1 / static_cast<double>(series.size() - at);
      const double t = std::abs(mean_of(series.first(at)) - mean_of(series.subspan(at))) /
                       (scatter * std::sqrt(inverse));
      if (t > most) {
        most = t;
        where = at;
      }
    }
    if (where == 0 || student_tail(most, degrees_of_freedom) > chance) return;
    split(series.first(where), offset);
    steps.push_back(offset + where);
    split(series.subspan(where), offset + where);
  }
};

}  // namespace

std::optional<double> neighbour_scatter(std::span<const double> series) {
  if (series.size() < kLeastSeries) return std::nullopt;
  double greatest = 0;
  for (size_t lag = 1; lag <= std::min(kMostLag, series.size() / 5); ++lag) {
    std::vector<double> distances;
    for (size_t i = lag; i < series.size(); ++i) {
      distances.push_back(std::abs(series[i] - series[i - lag]));
    }
    greatest = std::max(greatest, compute_median(distances));
  }
  return greatest * kNormalConsistency / std::sqrt(2.0);  // a difference has that of both
}

std::vector<size_t> find_steps(std::span<const double> series, double scatter) {
  if (series.size() < 2) return {};
  // A median knows the scatter less well than so many degrees of freedom would, which the bound
  // over splits that are much alike makes up for: steps_test.cc counts.
  const double splits = static_cast<double>(series.size() - 1);
  Search search{scatter, splits, 0.05 / splits};
  search.split(series, 0);
  return search.steps;
}

}  // namespace culprit
