#pragma once

// Searches for the setup that takes the least time, without trying all: counts are exact and cost
// two runs, so they screen; time scatters and costs many, so it judges what is left.
//
//   1  base, and each value of each factor alone       counted, then timed
//   2  pairs of values, the most promising first       counted: where the count of a pair is not
//                                                      what its parts predict, they interact
//   3  what these predict to be better than the best   counted, timed if it may be better
//      so far, and what differs from it by one factor
//   4  the best few once more, in fresh rounds         these alone decide
//
// Setups that make the same program are one. Rounds are interleaved: each times every setup that is
// judged, and base, once; setups are compared round by round.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/search_space.h"
#include "stats/estimate.h"

namespace culprit::scan {

/// A time of one setup in one round.
struct Timing {
  uint64_t round = 0;
  double log_ns = 0;  // natural logarithm of ns per iteration; a mean over the cells
};

struct Trial {
  Levels levels;
  std::string failure;  // why it cannot be chosen; "": it can
  size_t same_as = 0;   // the first trial that makes the same programs: itself, if there is none
  double log_count = 0;
  std::vector<Timing> timings;  // of the first of those that are the same
};

struct Screened {
  std::string failure;   // of a build, or a run
  std::string programs;  // a hash of what was built
  double log_count = 0;  // natural logarithm of the screen's quantity; a mean over the cells
};

/// Builds, counts and times setups. Trials are numbered in the order in which they are screened.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;

  /// Shape:  parallel to `setups`
  /// Errors: nothing can be built or counted at all; the user wants to stop
  virtual Result<std::vector<Screened>> screen(const std::vector<Levels>& setups) = 0;
  /// One run of each, interleaved. Natural logarithms of ns per iteration.
  /// Errors: a program that did not fail before fails now; the user wants to stop
  virtual Result<std::vector<double>> time(const std::vector<size_t>& trials) = 0;

  /// Units:  -> [executions of programs], counted or timed
  [[nodiscard]] virtual uint64_t runs() const = 0;
  [[nodiscard]] virtual double elapsed_s() const = 0;
  /// What screening or timing one setup adds to runs().
  [[nodiscard]] virtual uint64_t runs_of_one() const = 0;
};

struct SearchLimits {
  uint64_t runs = 400;
  double seconds = 1e9;
  double tolerance = 0.01;  // setups that are nearer to the best than this are as good
};

/// A setup against another, as a ratio of times: 0.8 is a fifth less.
struct TimeRatio {
  double ratio = 1;
  Interval interval95;
};

/// One of the setups that the last rounds judged.
struct Finalist {
  size_t trial = 0;
  TimeRatio to_base;
  TimeRatio to_best;
  /// It was not shown to be slower than the best by more than the tolerance.
  bool is_as_good = false;
};

struct SearchResult {
  std::vector<Trial> trials;        // in the order in which they were tried; the first is base
  std::vector<Finalist> finalists;  // the best first
  size_t chosen = 0;                // of the trials: of those as good as the best the simplest
  double setups = 0;                // that there are
  size_t rounds = 0;                // of the last judgement
  bool is_decided = false;          // each finalist is known to be as good, or worse
  bool is_cut_short = false;        // the limits ended it before it had run out of ideas
  uint64_t runs = 0;
  double elapsed_s = 0;
};

/// A ratio of two setups by the rounds that timed both.
/// Errors: interval of the median of ratios, distribution-free (stats/robust.h); the range of the
///         ratios where there are fewer than six rounds. nullopt: no round timed both
std::optional<TimeRatio> estimate_time_ratio(const std::vector<Timing>& of,
                                             const std::vector<Timing>& to, uint64_t first_round);

/// Errors: as TrialRunner's; the base cannot be built or run
Result<SearchResult> search(const SearchSpace& space, const SearchLimits& limits,
                            TrialRunner& runner);

/// Measures every setup `rounds` times instead of searching. The result is judged as a search's is.
/// Errors: as search(); more than 100,000 setups
Result<SearchResult> try_all(const SearchSpace& space, size_t rounds, double tolerance,
                             TrialRunner& runner);

}  // namespace culprit::scan
