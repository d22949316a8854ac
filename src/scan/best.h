#pragma once

// Which series (a setup, say) has the least at which place (a size, say), and how sure that is.
// Counts are exact: what is equal to the last instruction is a tie. Where iterations differ or time
// was measured, a series that is not above the least by more than both errors ties with it.
//
//     DIM    least   beside the next           setup
//     1-4    5       -17 % (gcc12_O2)          clang19_O2, clang19_O3
//     5-16   9       -25 % (clang19_O2)        gcc12_avx2

#include <string>
#include <vector>

#include "base/text_style.h"
#include "scan/answer.h"
#include "scan/weighed.h"

namespace culprit::scan {

/// The least at one place.
struct BestAt {
  std::string x;
  std::optional<Estimate> least;       // nullopt: no series has a value there
  std::vector<std::string> best;       // series that have it, in their order
  std::string next;                    // the best of the others; "": there is none
  std::optional<Estimate> next_ratio;  // least / its value
  std::optional<Estimate> worst;
};

/// Neighbouring places with the same best series.
struct BestRange {
  size_t first = 0;  // of the places
  size_t last = 0;
};

/// A series over all places.
struct Standing {
  std::string name;
  size_t times_best = 0;
  size_t places = 0;  // where it has a value
  /// Geometric mean of value / least, of places where both are above 0.
  double mean_ratio = 1;
  double worst_ratio = 1;
};

struct BestPanel {
  std::string title;
  std::vector<BestAt> places;
  std::vector<BestRange> ranges;
  std::vector<Standing> standings;  // the least mean ratio first; those with most places before
};

std::vector<BestPanel> find_best(const Answer& answer);

std::string print_best_text(const Answer& answer, const TextStyle& style);
/// Schema: culprit-scan-best-1. `weighed`: empty where nobody said how often programs are used.
std::string print_best_json(const Answer& answer, const std::vector<WeighedSeries>& weighed);

}  // namespace culprit::scan
