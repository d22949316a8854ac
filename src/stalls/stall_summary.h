#pragma once

// The summary of stalls of a part of a profile, as DCPI has it: best and actual CPI, and rows that
// add up to all measured cycles.
//
//     ASSIGN_OR_RETURN(const StallSummary summary, make_stall_summary(profile, facts, "chase"));
//     print_stall_summary(profile, summary, Format::text, style);

#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "base/text_style.h"
#include "stalls/function_stalls.h"

namespace culprit {

/// A loop or function that has much of the stalls.
struct StallPlace {
  std::string function;
  std::string module;
  std::optional<uint64_t> begin, end;  // loop: link addresses
  Stalls stalls;
};

/// What was sampled of an event that bounds something, in the code that was analysed.
struct StallEvent {
  std::string name;
  uint64_t samples = 0;
  double value = 0;  // [events]
  double low = 0;    // 95 % interval
  double high = 0;
};

struct StallSummary {
  std::string part;  // "in chase"; "" for everything
  ExecutionSource source = ExecutionSource::none;
  bool has_model = false;     // a software PMU's: best case by ports, chains and divisions, too
  bool has_best = false;      // else executions are not known, and there is no best case
  double dispatch_width = 0;  // of the best case, where there is no model
  bool is_in_cycles = false;  // else in the unit of the event of time
  double everything = 0;      // measured, of the whole profile [cycles]
  double cycles = 0;          // of the part: the sum of all below
  uint64_t samples = 0;
  Stalls tallied;     // of code that was analysed
  double kernel = 0;  // in the kernel, where nothing is known of the code
  double other = 0;   // of code that is not known, was not counted, or that no window met
  std::vector<StallEvent> events;  // as BoundSources number them
  std::vector<std::string> remarks;
  std::vector<StallPlace> places;  // those with most cycles first
  std::string next_words;          // that `culprit annotate` finds the first by; "" without places
  /// What `culprit why` names of the same part, and why that differs; "" where it has no answer.
  std::string verdict;
};

/// `part`: a function, module or loop ("chase", "libc.so.6", "13d0", the address of its head).
/// `cpu`: whose events these are; one without a name where that is not known.
/// Errors: nothing measured time; a part that is not there
Result<StallSummary> make_stall_summary(const Profile& profile, const FactsLookup& facts,
                                        const Template& cpu, const std::string& part);
/// The names of its events, as name_sources() wants them.
std::vector<std::string> list_event_names(const StallSummary& summary);

std::string print_stall_summary(const Profile& profile, const StallSummary& summary, Format format,
                                const TextStyle& style);
std::string print_stall_summary_json(const Profile& profile, const StallSummary& summary);

}  // namespace culprit
