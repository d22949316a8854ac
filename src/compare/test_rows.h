#pragma once

// Rows of runs for tests: as a sampled program would give them.

#include <cmath>
#include <random>
#include <stdexcept>

#include "compare/difference.h"

namespace culprit {

inline Value sampled(uint64_t samples) {
  return {samples, static_cast<double>(samples) * 1000,
          std::sqrt(static_cast<double>(samples)) * 1000};
}

/// `samples[row][run]`, of 1000 cycles each; rows are called "0", "1", ...
inline ComparedRows sampled_rows(const std::vector<std::vector<uint64_t>>& samples) {
  ComparedRows rows;
  rows.measure = {"cpu-clock", "cycles", Provenance::sampled};
  rows.per_sample = 1000;
  const size_t runs = samples.front().size();
  std::vector<uint64_t> totals(runs);
  for (size_t row = 0; row < samples.size(); ++row) {
    rows.rows.push_back({{std::to_string(row)}, {}});
    for (size_t run = 0; run < runs; ++run) {
      rows.rows.back().runs.push_back(sampled(samples[row][run]));
      totals[run] += samples[row][run];
    }
  }
  for (size_t run = 0; run < runs; ++run) {
    rows.total.runs.push_back(sampled(totals[run]));
    rows.names.push_back("run" + std::to_string(run));
  }
  return rows;
}

inline const RowChange& find_change(const Difference& difference, const std::string& name) {
  for (const RowChange& row : difference.rows) {
    if (row.key == ComparedKey{name}) return row;
  }
  throw std::runtime_error("no row " + name);
}

/// A program of 200 functions whose sizes fall as Pareto's, 100,000 samples a run. Runs differ by
/// a common factor of 4 %, functions of a run by 3 % of their own, and by Poisson's samples: what
/// was measured of real programs. `factor(row, run)` is the change that is planted.
template <class Factor>
ComparedRows simulated_program(std::mt19937& random, size_t runs, Factor factor) {
  constexpr size_t kFunctions = 200;
  std::vector<double> sizes;
  double all = 0;
  for (size_t i = 0; i < kFunctions; ++i) {
    sizes.push_back(1 / std::pow(static_cast<double>(i) + 1, 1.2));
    all += sizes.back();
  }
  std::normal_distribution<double> common(0, 0.04);
  std::normal_distribution<double> own(0, 0.03);
  std::vector<std::vector<uint64_t>> samples(kFunctions, std::vector<uint64_t>(runs));
  for (size_t run = 0; run < runs; ++run) {
    const double machine = std::exp(common(random));
    for (size_t row = 0; row < kFunctions; ++row) {
      const double expected =
          1e5 * sizes[row] / all * machine * std::exp(own(random)) * factor(row, run);
      samples[row][run] = std::poisson_distribution<uint64_t>(expected)(random);
    }
  }
  return sampled_rows(samples);
}

}  // namespace culprit
