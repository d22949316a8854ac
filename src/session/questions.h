#pragma once

// What may be asked of an open profile, as values: a command, a request of a server and a page
// of a document ask the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "annotate/annotation.h"
#include "locality/data.h"
#include "locality/locality.h"
#include "report/report.h"
#include "why/cost_columns.h"
#include "why/why.h"

namespace culprit {

/// `culprit report`: a table.
struct ReportQuestion {
  ReportOptions report;
  CostColumns costs;     // --columns hca:BRANCH
  std::string cpu;       // --template; "": by the profile
  bool by_time = false;  // slices of time, by what `report` says of threads
};

/// `culprit why`: the tree of cycles of everything, or of a part.
struct WhyQuestion {
  WhyOptions why;
  std::string part;    // --in: a function or a module; "": everything
  std::string region;  // --in-region: a region, with what is in it; "": everywhere
  std::string object;  // --in-object: what its accesses cost; "": everything
  std::string cpu;     // --template; "": by the profile
};

enum class ExportFormat : uint8_t {
  collapsed,
  pprof,
  callgrind,
  autofdo,
  bolt,
  dot,
  json,
  csv,
  html
};

/// `culprit export`: the profile for another program.
struct ExportQuestion {
  ExportFormat to = ExportFormat::collapsed;
  std::string image;           // bolt, autofdo, dot: a pattern; "": the one with most branches
  std::string function;        // dot: a name or a pattern; "": the call graph
  size_t limit = 40;           // dot without function: so many functions; 0: all
  double minimum_percent = 0;  // likewise: none with a smaller share
};

}  // namespace culprit
