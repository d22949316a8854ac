#pragma once

// exports: a Profile and its facts → the files that other tools read. One function
// per format, each in a file of its own. Totals are those of the report, exactly;
// what a format cannot hold is listed in docs/manual.md.

#include <string>

#include "attribute/attribution.h"
#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// Folded stacks, one per line: "process;outer;inner 123" (Brendan Gregg's format).
/// The number is the first event's value (ns for timers).
Result<std::string> export_collapsed(const Profile& profile, const FactsLookup& facts);

/// A gzip'd profile.proto: a sample type per event in the event's unit, and one of
/// samples for each sampled event.
Result<std::string> export_pprof(const Profile& profile, const FactsLookup& facts);

/// Callgrind's profile format: costs by instruction and line, one column per event;
/// calls with their inclusive cost where the profile has stacks.
Result<std::string> export_callgrind(const Profile& profile, const FactsLookup& facts);

/// perf2bolt's pre-aggregated branches and ranges of one image, by link address.
/// `image`: a pattern for its path or file name; "": the one with most branches.
/// Errors: no branch records; no such image.
Result<std::string> export_bolt(const Profile& profile, const FactsLookup& facts,
                                const std::string& image);

/// LLVM's sample profile as text, of one image (chosen as for BOLT).
/// Errors: no ranges between branches; no such image; no symbols.
Result<std::string> export_autofdo(const Profile& profile, const FactsLookup& facts,
                                   const std::string& image);

/// Graphviz: the basic blocks of one function with their counts, and the ways between
/// them. `function`: a name (in full, without parameters, or as people say it) or a
/// pattern; `image` as above, "": any.
/// Errors: no such function with counts, or several (they are listed); no code.
Result<std::string> export_dot(const Profile& profile, const FactsLookup& facts,
                               const std::string& function, const std::string& image);

struct CallGraphOptions {
  std::string image;           // functions of this image only; "": any
  size_t limit = 40;           // functions to draw; 0: all
  double minimum_percent = 0;  // leave functions with less than this share out
};

/// Graphviz: who calls whom, and how often, by branch records; the functions with the
/// largest shares of executed instructions (of straight runs, where no code is known).
/// What is left out is said in the title.
/// Errors: no branch records; no names, which calls are told by; nothing left to draw.
Result<std::string> export_call_graph(const Profile& profile, const FactsLookup& facts,
                                      const CallGraphOptions& options);

}  // namespace culprit
