#pragma once

// One score for all programs of a scan: what each costs, times how often it is used. A setup that
// is the best for what runs once is not the best for a program that runs it beside what runs a
// million times.
//
//     --use 'matmul=1000000' --use 'invert*=200'
//
//       by use  of the least  setup
//     12000000         1.000  gcc12_O3
//     13100000         1.092  gcc12_O2
//
// Source: papers/parametric-evaluation, chapter 6 (cost of an expression times its uses, summed).

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text_style.h"
#include "scan/answer.h"

namespace culprit::scan {

/// How often an iteration of programs is used.
struct Use {
  std::string program;  // a pattern
  double count = 0;
};

/// "matmul=1000".
Result<Use> parse_use(const std::string& text);

struct WeighedSeries {
  std::string name;
  Estimate sum;             // of the programs: uses x the mean over all places
  double ratio = 1;         // to the least
  bool is_complete = true;  // false: a place has no value, and the sum is of the others
};

/// Series over all panels, the least sum first, incomplete ones last.
/// Errors: a use that is of no panel; places, not panels, are programs
Result<std::vector<WeighedSeries>> weigh(const Answer& answer, const std::vector<Use>& uses);

/// `by`: what the series are: "setup".
std::string print_weighed(const std::vector<WeighedSeries>& all, const std::string& by,
                          const TextStyle& style);

}  // namespace culprit::scan
