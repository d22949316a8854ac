#pragma once

// What `culprit scan` is asked to do.

#include <cstdint>
#include <string>
#include <vector>

#include "scan/answer.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"
#include "scan/run/run_scan.h"

#include "base/text_style.h"

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
  verify
};

enum class PlotForm : uint8_t { text, svg, gnuplot, vega, csv };

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
  std::string output;                // plot: "": standard output
  std::vector<std::string> command;  // one
  std::vector<uint64_t> runs = {100, 300, 700};
  uint64_t iterations_per_run = 1;
  std::string machine = "none";
  scan::PlaceLevel level = scan::PlaceLevel::function;
  size_t limit = 30;
  std::vector<std::string> cells;  // explain: words that name two
  std::string label;               // run, status, retry: of the cells; else: which cells
  std::vector<std::string> sides;  // diff
  std::string words;               // find
  std::string source;              // init: a program's file
  Format format = Format::text;
  size_t width = 0;

  [[nodiscard]] std::string scan_file() const {
    if (!file.empty()) return file;
    return plan.ends_with(".toml") ? plan.substr(0, plan.size() - 5) + ".culprit"
                                   : plan + ".culprit";
  }
};

}  // namespace culprit
