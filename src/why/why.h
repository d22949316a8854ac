#pragma once

// why: where the cycles of a profile, or of a part of it, went, and what to change.
//
//     ASSIGN_OR_RETURN(const WhyReport why, make_why(profile, facts, cpu, options));
//     print_why(profile, cpu, why, Format::text, style);

#include <optional>
#include <string>
#include <vector>

#include "accounting/consistency.h"
#include "accounting/cost_tree.h"
#include "base/result.h"
#include "report/largest_rows.h"
#include "report/measured_cycles.h"
#include "report/report.h"
#include "why/kernel_time.h"
#include "why/library_work.h"
#include "why/loop_rounds.h"
#include "why/tried.h"
#include "why/verdict.h"
#include "why/waiting.h"

namespace culprit {

struct WhyOptions {
  std::vector<Filter> filters;  // what part; none: everything
  bool show_events = false;     // rows that only inform, and what costs next to nothing
  size_t advice_limit = 5;
};

/// Who calls a function of a library, from the program's own code.
struct Caller {
  std::string function;
  std::string line;  // "file.c:9", where most of its calls are; "" if unknown
  double share = 0;  // of all calls of the library's function [0 to 1]
};

/// A repair: what one change does away with. That is all that one branch of the tree costs at one
/// place, whatever its labels are: a function; the instances of a template; or a line that many
/// functions have a copy of. The places of one branch do not overlap.
struct PlacedAdvice {
  CostBranch branch = CostBranch::general;
  std::string kernel;   // key of the kind of the kernel's work (kernel_work.h); "" of branches
  std::string library;  // key of the kind of a library's work (library_work.h); "" of branches
  std::string label;    // what most of it is: "memory + L3"
  std::string here;     // what to do here, where a recording knows that; "": see `advice`
  std::string problem;  // of the largest label
  std::string advice;
  Estimate cycles;                 // that the branch has there
  double unhalted = 0;             // of the tree's unhalted cycles, that these are [0 to 1]
  std::string function;            // "" of a line
  std::string line;                // "file.c:9"; "" if unknown
  std::string words;               // for `culprit annotate`
  double share = 0;                // of the branch's cycles, that this place has
  std::vector<Caller> callers;     // of a library's function: those with a tenth of its calls
  std::optional<LoopRounds> loop;  // of the function, where it is entered often, for many rounds

  // What is saved at most: if this cost were gone, and nothing that it hides showed; of the cycles
  // measured where there are some [0 to 1]. The upper end: if all that the model lacks were of it.
  double at_most = 0;
  double upper_end = 0;
  std::optional<GainForecast> gain;    // where the model ran without that cost
  const TriedChange* tried = nullptr;  // the experiment that measured the gain, of the report's

  /// Whether it is of a branch of the tree.
  [[nodiscard]] bool is_of_branch() const { return kernel.empty() && library.empty(); }

  /// What advice is in the order of [0 to 1].
  [[nodiscard]] double worth() const { return gain ? gain->expected : at_most; }
};

/// What whole CPUs did not run of the time that they had, where that was measured: by the time
/// stamp counter that was counted beside the cycles, or by the kernel's idle time.
struct HaltedTime {
  enum class Measure : uint8_t { tsc, idle_time };

  Measure measure = Measure::idle_time;
  std::optional<double> total_cycles;      // TSC cycles of all CPUs, or their time x clock
  std::optional<double> cycles;            // of them, halted; none: the clock is not known
  std::optional<double> seconds;           // idle time; none by TSC
  std::optional<double> capacity_seconds;  // wall time x CPUs

  /// Halted of all [0 to 1].
  [[nodiscard]] double ratio() const {
    return seconds ? *seconds / *capacity_seconds : *cycles / *total_cycles;
  }
};

struct WhyReport {
  WhyOptions options;
  std::string part;                        // "in main"; "" for everything
  CostTree tree;                           // of the part; points into the template
  std::optional<Estimate> everything;      // unhalted cycles of the whole profile
  std::optional<WaitingTime> waiting;      // of the part and what it calls, where it was recorded
  std::optional<KernelTime> kernel;        // of everything, or asked for by the part
  std::vector<LibraryPart> library;        // of everything; none: of a part
  std::optional<HaltedTime> halted;        // of whole CPUs, where it was measured
  std::optional<MeasuredCycles> measured;  // where both runs are in the profile
  Verdict verdict;                         // points into the tree and the times beside it
  std::optional<LargestRow> hottest;       // by time, where no cause is known
  std::vector<TriedChange> tried;          // of the whole command, whatever the part
  std::vector<PlacedAdvice> advice;
  std::vector<RuleResult> rules;
  std::vector<std::string> remarks;
  std::vector<std::string> other_events;  // of the profile, which the template does not name
};

/// `cpu` must outlive the result.
/// Errors: a filter that matches nothing; an event without any count is no error
Result<WhyReport> make_why(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                           const WhyOptions& options);
/// Adds loops to advice, once for each function: what a core waits for in a loop tells nothing of
/// whether it need run so often.
/// Shape:  `facts` have code
void add_loops(const Profile& profile, const FactsLookup& facts, WhyReport& why);
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
