#pragma once

// locality: what became of the lines that each statement brought into the caches, and between which
// statements (papers/source-interdependence-sip).
//
//     $ culprit locality
//
//      ?cycles  ?share  waits  =accesses  L1miss  L2miss  spatial  temporal  statement
//       0.71 G  17.0 %   84 %    112.0 M  22.1 %   7.4 %     37 %      0.20  quake.c:512
//
//     $ culprit locality quake.c:512           its levels, kinds of access, edges
//
//     ASSIGN_OR_RETURN(const LocalityReport report, make_locality(profile, facts, options));
//     print_locality(profile, report, Format::text, style);

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "base/text_style.h"
#include "locality/advice.h"
#include "locality/objects.h"
#include "locality/statements.h"
#include "locality/use.h"
#include "model/profile.h"

namespace culprit {

struct LocalityOptions {
  LocalityBy by = LocalityBy::statement;
  std::string part = {};               // a function, or FILE:LINE: with its edges; "": everything
  CacheLevel level = CacheLevel::l1d;  // whose spatial and temporal use the table shows
  size_t limit = 20;                   // rows; 0: all
};

struct StatementRow {
  CodeSpot spot;
  Use use;
};

struct ObjectRow {
  ObjectWords name;
  Use use;
};

/// Statements at the other end of edges, by how often.
struct EdgeRow {
  CodeSpot spot;
  bool is_itself = false;  // of the part that is asked about
  uint64_t count = 0;
  std::vector<uint64_t> groups{};  // with a sample of sets, of `count`, by stratum - 1
};

/// What happened at one level between a part of the code and all statements, each list falling.
struct LevelEdges {
  std::vector<EdgeRow> reused_by;            // of its lines, touches but each line's first
  std::vector<EdgeRow> evicted_by_capacity;  // of its lines, lines
  std::vector<EdgeRow> evicted_by_conflict;
  std::vector<EdgeRow> refetched_by;       // lines that it had had, and who brought them in again
  std::vector<EdgeRow> shared_same_bytes;  // other cores' statements that took them
  std::vector<EdgeRow> shared_other_bytes;
  std::vector<EdgeRow> reuses_of;   // whose lines it touched
  std::vector<EdgeRow> evicts;      // whose lines it evicted
  std::vector<EdgeRow> refetches;   // whose lines it brought in again
  std::vector<EdgeRow> takes_from;  // from other cores
};

/// The part that is asked about.
struct PartLocality {
  std::string name;
  Use use;
  std::array<KindUse, kDataKinds> kinds;
  std::array<LevelEdges, kTenureLevels.size()> levels;
  std::vector<ObjectRow> objects;  // that it accesses, hottest first; empty: not recorded
};

struct LocalityReport {
  LocalityOptions options;
  Caches caches;
  UseEvents events;                // what the cost is
  UseEvents data_events;           // of data objects, of which no samples of time are
  Use totals;                      // of everything
  std::vector<StatementRow> rows;  // hottest first
  Use rest;                        // of rows that the limit cut
  size_t rest_rows = 0;
  std::optional<PartLocality> part;
  std::vector<LocalityAdvice> advice;  // of everything, or that a part's lines are in
  std::vector<std::string> remarks;
};

/// Errors: as find_caches(); a level that was not recorded; a part that no code is of
Result<LocalityReport> make_locality(const Profile& profile, const FactsLookup& facts,
                                     const LocalityOptions& options);

std::string print_locality(const Profile& profile, const LocalityReport& report, Format format,
                           const TextStyle& style);
std::string print_locality_text(const Profile& profile, const LocalityReport& report,
                                const TextStyle& style);
std::string print_locality_json(const Profile& profile, const LocalityReport& report);
std::string print_locality_csv(const LocalityReport& report);

}  // namespace culprit
