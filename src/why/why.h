#pragma once

// why: where the cycles of a profile, or of a part of it, went, and what to change.
//
//     ASSIGN_OR_RETURN(const WhyReport why, make_why(profile, facts, cpu, options));
//     print_why(profile, why, Format::text, style);

#include <optional>
#include <string>
#include <vector>

#include "accounting/advice.h"
#include "accounting/consistency.h"
#include "accounting/cost_tree.h"
#include "base/result.h"
#include "report/measured_cycles.h"
#include "report/report.h"

namespace culprit {

struct WhyOptions {
  std::vector<Filter> filters;  // what part; none: everything
  bool show_events = false;     // rows that only inform, and what costs next to nothing
  size_t advice_limit = 5;
};

/// One piece of advice, and where in the code most of it is.
struct PlacedAdvice {
  Advice advice;
  std::string function;
  std::string line;  // "file.c:9"; "" if unknown
  double share = 0;  // of the cost, that this place has
};

/// How much of the machine's time nobody used.
struct HaltedTime {
  double seconds = 0;
  double capacity_seconds = 0;   // wall time x CPUs
  std::optional<double> cycles;  // where the clock is known
};

struct WhyReport {
  WhyOptions options;
  std::string part;                        // "in main"; "" for everything
  CostTree tree;                           // of the part; points into the template
  std::optional<Estimate> everything;      // unhalted cycles of the whole profile
  std::optional<HaltedTime> halted;        // whole profiles only
  std::optional<MeasuredCycles> measured;  // where both runs are in the profile
  std::vector<PlacedAdvice> advice;
  std::vector<RuleResult> rules;
  std::vector<std::string> remarks;
  std::vector<std::string> other_events;  // of the profile, which the template does not name
};

/// `cpu` must outlive the result.
/// Errors: a filter that matches nothing; an event without any count is no error
Result<WhyReport> make_why(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                           const WhyOptions& options);
std::string print_why(const Profile& profile, const Template& cpu, const WhyReport& why,
                      Format format, const TextStyle& style);

/// The levels 1 to 3 of two profiles side by side, maybe of different CPUs.
struct WhySide {
  const Profile* profile;
  const Template* cpu;
  const WhyReport* why;
  std::string name;  // "before.culprit"
};
std::string print_why_both(const WhySide& a, const WhySide& b, Format format,
                           const TextStyle& style);

}  // namespace culprit
