#pragma once

// Answers as tables and plots, for people and for programs.

#include <string>

#include "base/text_style.h"
#include "scan/answer.h"

namespace culprit::scan {

/// "41", "0.3125", "3.35 G": as many digits as the error leaves, at most five; "0+-0.01" where
/// nothing but the error is left.
std::string format_cost(const Estimate& value);

/// A table for each panel: a row for each series, a column for each place along the dimension.
///
///     instructions   =, per iteration                       (of main.cc)
///      DIM         1   2   3
///      gcc12_O2    6   8   9
std::string print_table_text(const Answer& answer, const TextStyle& style);
/// "the best is 41 % of 16, the peak of its machine (peak_flops)"; "" without a peak.
std::string describe_peak(const Answer& answer);
std::string print_answer_csv(const Answer& answer);
/// Schema: culprit-scan-table-1
std::string print_answer_json(const Answer& answer);

struct PlotOptions {
  bool log_x = false;
  bool log_y = false;
  std::string theme = "auto";  // of SVG: light, dark, or by the reader's settings
};

/// Letters in a grid of characters, with axes and a legend.
std::string print_plot_text(const Answer& answer, const PlotOptions& options,
                            const TextStyle& style);
/// A picture of all panels, one under the other.
std::string print_plot_svg(const Answer& answer, const PlotOptions& options);
/// A script with its data in it.
std::string print_plot_gnuplot(const Answer& answer, const PlotOptions& options);
/// A specification of Vega-Lite 5 with its data in it.
std::string print_plot_vega(const Answer& answer, const PlotOptions& options);

}  // namespace culprit::scan
