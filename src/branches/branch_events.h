#pragma once

// Branch records become events: counts by instruction like any other, so that every
// report, annotation and export can show them.
//
//   lbr:instructions     how often each instruction ran: once per straight run over it
//   lbr:blocks           how often basic blocks were entered, at their first instruction
//   lbr:runs             straight runs, at their start (also where no code is known)
//   lbr:cycles           of the records that have them, spread evenly over each run
//   lbr:branches-taken   at the source; lbr:branch-targets: the same, at the target
//   lbr:calls            at the function called; lbr:calls-made: the same, at the source
//   lbr:indirect-calls   of these, at the source
//   lbr:branches-judged  taken branches that say if they were predicted; lbr:branch-misses
//
// Events that nothing is known of are not there. All are `sampled`; `samples` is the number
// of records, `value` their sum in executions where find_branch_scale() knows how many one
// stands for, else again the number of records; a note in the ledger says which.

#include "attribute/attribution.h"
#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// The profile with these events before its own. What a table of code has no use for (call
/// stacks, memory samples, counts of whole runs) is left out.
///
/// Units:  branch records [count] -> executions, branches, calls [count], cycles
/// Errors: variances are upper bounds: they let all records of a sample say the same, and
///         all instructions of a run (a run of 8 instructions counts for one observation,
///         not 8). Runs that the code rules out, that cross functions, are longer than
///         64 KiB or go backwards are in the ledger and not counted.
///         An error without branch records, with how to get them.
Result<Profile> with_branch_events(const Profile& profile, const FactsLookup& facts);

/// Whether the profile has branch records.
bool has_branch_records(const Profile& profile);
/// How to get them, for messages: with the tool that made the profile.
std::string advise_branch_records(const Profile& profile);

}  // namespace culprit
