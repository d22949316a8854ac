#pragma once

// report: a Profile and its facts → a table by the levels asked for → text, JSON, CSV.
//
//     $ culprit report --by function
//
//      ~cycles  ~share   +-  function
//       3.35 G  82.3 %  0.5  matvec._omp_fn.0
//
// Percentages are of everything the profile has, whatever is filtered; parts add
// up to the whole exactly at every level (a row "[unknown]" holds the rest).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "base/text_style.h"
#include "branches/working_set.h"
#include "model/profile.h"
#include "print/values.h"

namespace culprit {

/// `comm`: processes of one name together.
enum class RowLevel : uint8_t {
  process,
  comm,
  thread,
  module,
  function,
  line,
  loop,
  block,
  instruction,
  object,
  region
};
enum class Tree : uint8_t { none, callers, callees };
/// What stands in the columns: the events that there are; what branch records say of them (of a
/// profile with_branch_events()); how often code ran, by the best source (of a profile
/// with_flow_events()); what they cost, by a template (cost_columns.h).
/// And by themselves what threads waited (record --off-cpu), and how long accesses to memory took
/// (record --data).
enum class Columns : uint8_t { events, executions, frequency, hca, waits, latency };

/// Keeps what matches: `level` = `pattern` (shell pattern or exact).
struct Filter {
  RowLevel level;
  std::string pattern;
};

/// Which of the functions that are inlined into each other code belongs to.
enum class FrameChoice : uint8_t {
  innermost,
  own,        // the innermost whose source is no system's: what its programmer can change
  outermost,  // the symbol's; it has no line
};

struct ReportOptions {
  std::vector<RowLevel> by = {RowLevel::function};
  Tree tree = Tree::none;
  Columns columns = Columns::events;
  std::vector<Filter> filters;
  std::vector<std::string> events;  // that text shows, beside the first; none: what matters
  std::string sort;                 // "" = first event, descending; "inclusive"; or a column's name
  size_t limit = 30;                // rows; 0 = all; the rest is summed in a row "(N more)"
  double minimum_percent = 0;
  unsigned address_masks = 0;  // so many registers: what they would have covered of ranges
  FrameChoice frames = FrameChoice::innermost;
  bool names_hottest = false;  // ReportTable::hottest is wanted, which takes a search of all names
};

/// A row; only the fields that `by` makes meaningful are set. An instruction or block
/// implies module and function (and an instruction its line); a line that is unknown
/// leaves file and line empty and has the function instead.
struct ReportRow {
  std::optional<std::string> process, thread, module, function, file, object, region;
  /// Filters only: the region, and those around it, each on a line.
  std::optional<std::string> region_path;
  std::optional<uint32_t> process_id, thread_id, line;
  std::optional<uint64_t> address;      // link address: instruction, or first of the block or loop
  std::optional<uint64_t> end_address;  // block, loop: behind its last instruction
  bool inlined = false;                 // all of it is inlined code
  bool skid = false;                    // an instruction or inline boundary: a neighbour may own it
  size_t depth = 0;                     // --tree
  bool passes_through = false;          // --tree: all of it is in one row below it
  std::vector<Value> values;            // parallel to ReportTable::events
  std::vector<Value> inclusive;         // no tree, with stacks: with all that was called from it
  std::vector<Value> self;              // --tree: the part that no row below it has
};

/// An event that text shows, under this heading instead of its name.
struct ShownEvent {
  size_t event;
  std::string heading;
};

struct ReportTable {
  ReportOptions options;
  std::vector<Event> events;
  std::vector<std::string> event_names;
  std::vector<ShownEvent> shown_events;  // in text, in this order; empty: all that fit
  std::vector<DerivedColumn> derived;
  std::vector<WorkingSetPart> working_set;  // executions: of everything
  std::vector<Value> totals;                // of everything
  std::vector<Value> shown;  // of what the filters keep = rows (trees: their self) + rest
  std::vector<ReportRow> rows;
  std::vector<Value> rest;  // of rows cut by limit or minimum; empty if none were
  size_t rest_rows = 0;
  std::vector<Value> rest_apart;  // trees: of those that are in no row shown
  size_t rest_apart_rows = 0;
  std::vector<std::string> remarks;
  Ledger ledger;        // the profile's, and what this report found
  std::string hottest;  // words for `culprit annotate` of the row with most; "": none has a name
};

/// Whether it holds counts of whole runs and nothing by place in the code (`culprit stat -o`).
bool is_counts_only(const Profile& profile);

/// Makes the table. That of a profile with counts of whole runs only has totals and no rows.
Result<ReportTable> make_report(const Profile& profile, const FactsLookup& facts,
                                const ReportOptions& options);
/// Says how to open the row with most (ReportTable::hottest) of a table that was made otherwise.
/// `profile`: that its rows are of
void name_hottest(const Profile& profile, const FactsLookup& facts, ReportTable& table);
std::string print_report(const Profile& profile, const ReportTable& table, Format format,
                         const TextStyle& style);

}  // namespace culprit
