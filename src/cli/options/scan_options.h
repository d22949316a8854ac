#pragma once

// What `culprit scan` is asked to do.

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_style.h"
#include "scan/answer.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"
#include "scan/run/run_scan.h"
#include "scan/weighed.h"

namespace culprit {

enum class ScanAction : uint8_t {
  none,
  one,
  init,
  run,
  status,
  retry,
  forget,
  table,
  best,
  plot,
  explain,
  diff,
  trend,
  find,
  verify,
  search,
  predict
};

enum class PlotForm : uint8_t { text, svg, pdf, gnuplot, vega, csv };

struct ScanCommand {
  ScanAction action = ScanAction::none;
  std::string plan = "scan.toml";
  std::string file;         // the scan's; "": beside the plan, .culprit for .toml
  scan::ScanChoice choice;  // run, status, retry, forget
  unsigned jobs = 0;
  bool quiet = false;
  scan::Question question;  // table, plot
  scan::PlotOptions plot;
  PlotForm form = PlotForm::text;
  std::vector<scan::Use> uses;       // best
  std::string output;                // plot: "": standard output
  std::vector<std::string> command;  // one
  std::vector<uint64_t> runs;        // empty: nobody chose
  uint64_t iterations_per_run = 1;
  std::string machine = "none";  // one, search: "": the plan's, or the host's
  scan::PlaceLevel level = scan::PlaceLevel::function;
  size_t limit = 30;
  std::vector<std::string> cells;  // explain: words that name two
  std::string label;               // run, status, retry: of the cells; else: which cells
  std::vector<std::string> sides;  // diff
  std::string words;               // find
  std::string source;              // init: a program's file
  std::string from = "host";       // predict: a machine
  std::vector<std::string> at;     // search: "DIM=8"
  uint64_t max_runs = 400;         // search
  double max_minutes = 0;          // search; 0: no limit
  double tolerance_percent = 1;    // search
  size_t rounds = 5;               // search --all
  bool all_setups = false;         // search: tries every one
  bool any_output = false;         // search
  Format format = Format::text;
  size_t width = 0;

  [[nodiscard]] std::string scan_file() const {
    if (!file.empty()) return file;
    return plan.ends_with(".toml") ? plan.substr(0, plan.size() - 5) + ".culprit"
                                   : plan + ".culprit";
  }
};

}  // namespace culprit
