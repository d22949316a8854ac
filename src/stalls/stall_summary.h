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

struct StallSummary {
  std::string part;  // "in chase"; "" for everything
  ExecutionSource source = ExecutionSource::none;
  bool has_model = false;     // else there is no best case
  bool is_in_cycles = false;  // else in the unit of the event of time
  double everything = 0;      // measured, of the whole profile [cycles]
  double cycles = 0;          // of the part: the sum of all below
  uint64_t samples = 0;
  Stalls tallied;     // of code that was analysed
  double kernel = 0;  // in the kernel, where nothing is known of the code
  double other = 0;   // of code that is not known, was not counted, or that no window met
  std::vector<StallPlace> places;  // those with most cycles first
  /// What `culprit why` names of the same part, and why that differs; "" where it has no answer.
  std::string verdict;
};

/// `part`: a function, module or loop ("chase", "libc.so.6", "13d0", the address of its head).
/// Errors: nothing measured time; a part that is not there
Result<StallSummary> make_stall_summary(const Profile& profile, const FactsLookup& facts,
                                        const std::string& part);

std::string print_stall_summary(const Profile& profile, const StallSummary& summary, Format format,
                                const TextStyle& style);
std::string print_stall_summary_json(const Profile& profile, const StallSummary& summary);

}  // namespace culprit
