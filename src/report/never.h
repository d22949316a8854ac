#pragma once

// Coverage of a run that was counted: which lines of functions that ran never did.
//
//     lines  never  function    which
//        14      3  parse       parse.c:31-32, 40
//
// A line ran if any copy of its code did, in whatever function it was inlined. Functions that never
// ran at all have no lines here: profiles keep the code of what has counts. With `record --facts
// all` their names are known.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "report/report.h"

namespace culprit {

/// The lines of one file that a function has; those of inlined calls, too.
struct LinesNeverRun {
  std::string module;
  std::string function;
  std::string file;
  uint32_t lines = 0;  // with code
  /// First and last, ascending; nothing between them that ran.
  std::vector<std::pair<uint32_t, uint32_t>> never;
  uint32_t never_lines = 0;
};

struct NeverReport {
  std::vector<LinesNeverRun> rows;  // those with most lines that never ran first
  uint64_t lines = 0;               // of all functions that ran, each once
  uint64_t never_lines = 0;
  uint64_t functions_ran = 0;
  uint64_t functions_without_lines = 0;  // of these
  bool knows_all_functions = false;
  /// Module and name, sorted; those of files that have any counts.
  std::vector<std::pair<std::string, std::string>> functions_never;
};

/// `filters`: by module or function.
/// Errors: a profile whose executions were not counted; other filters; nothing that matches
Result<NeverReport> find_never(const Profile& profile, const FactsLookup& facts,
                               const std::vector<Filter>& filters);

/// `limit`: rows of text; 0: all.
std::string print_never(const Profile& profile, const NeverReport& report, size_t limit,
                        Format format, const TextStyle& style);

}  // namespace culprit
