#pragma once

// data: which data a program waits for, and what became of their lines.
//
//     $ culprit data
//
//      ?cycles ?share =accesses L1miss L2miss spatial temporal  data
//       2.14 G 51.0 %     412 M 24.1 %  9.8 %  37.2 %     0.20  mem_init quake.c:431
//
// Beside a measured run costs are its cycles, shared out by what the model has of each loop.
//
//     mem_init quake.c:431   heap, quake.c:431, kept in disp[i]: 9,000 blocks of 24 B
//
//     $ culprit data quake.c:431               its statements, fields, edges

#include <optional>
#include <string>
#include <vector>

#include "locality/advice.h"
#include "locality/locality.h"
#include "locality/objects.h"

namespace culprit {

struct DataOptions {
  std::string object = {};             // a name or a pattern; "": all
  std::optional<size_t> row = {};      // the object in this row of the table of all, from 0: names
                                       // may be shared
  CacheLevel level = CacheLevel::l1d;  // whose spatial and temporal use the table shows
  size_t limit = 20;                   // rows; 0: all
};

/// The object that is asked about.
struct ObjectPart {
  ObjectWords name;
  Use use;
  std::array<KindUse, kDataKinds> kinds;
  std::array<LevelEdges, kTenureLevels.size()> levels;  // by the statements at the other ends
  std::vector<StatementRow> statements;                 // that access it, hottest first
  std::vector<ObjectRow> fields;                        // members of its type, by their place
  std::vector<std::string> others;                      // what else matches
};

struct DataReport {
  DataOptions options;
  bool has_locality = false;  // else spatial and temporal use are unknown
  Caches caches;
  UseEvents events;             // never measured ones alone: samples of time are of no object
  double measured_cycles = 0;   // of the whole run, where costs are some of these; else 0
  Use totals;                   // of all accesses
  Use named;                    // of those to data structures that have a name
  std::vector<ObjectRow> rows;  // hottest first; of a part: empty
  Use rest;
  size_t rest_rows = 0;
  std::optional<ObjectPart> part;
  std::vector<LocalityAdvice> advice;
  std::vector<std::string> remarks;
};

/// Errors: objects were not recorded; no object of that name, no such row
Result<DataReport> make_data(const Profile& profile, const FactsLookup& facts,
                             const DataOptions& options);

std::string print_data(const Profile& profile, const DataReport& report, Format format,
                       const TextStyle& style);
std::string print_data_text(const Profile& profile, const DataReport& report,
                            const TextStyle& style);
std::string print_data_json(const Profile& profile, const DataReport& report);
std::string print_data_csv(const DataReport& report);

}  // namespace culprit
