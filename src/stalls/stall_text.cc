// The summary for people:
//
//     in chase: 2.88 G cycles, 73.4 % of everything, 779 samples
//     executions: counted in the simulated run
//     CPI 144 +-10, best case 1.00
//
//       dynamic stalls, of which                    99.3 %
//         dm  data from memory          0.0 % to   99.3 %
//         ...
//       unexplained stall                            0.0 %
//       unexplained gain                             0.0 %
//       static stalls: chain                         0.6 %
//       execution                                    0.1 %
//       total                                      100.0 %

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"
#include "stalls/stall_summary.h"
#include "stats/counting.h"

namespace culprit {
namespace {

struct SummaryRow {
  std::string label;
  double cycles = 0;
  bool is_shown = true;  // also where it is 0
};

/// Tenths of a percent that add up to 1000: what rounding loses goes to the largest row.
std::vector<long> to_tenths(const std::vector<SummaryRow>& rows, double all) {
  std::vector<long> tenths;
  tenths.reserve(rows.size());
  for (const SummaryRow& row : rows) tenths.push_back(std::lround(1000 * row.cycles / all));
  const long lost = 1000 - std::accumulate(tenths.begin(), tenths.end(), 0L);
  const auto largest = std::max_element(
      rows.begin(), rows.end(),
      [](const SummaryRow& a, const SummaryRow& b) { return a.cycles < b.cycles; });
  tenths[static_cast<size_t>(largest - rows.begin())] += lost;
  return tenths;
}

std::string format_tenths(long tenths) {
  return fmt::format("{:.1f} %", static_cast<double>(tenths) / 10);
}

class SummaryText {
 public:
  SummaryText(const Profile& profile, const StallSummary& summary, const TextStyle& style)
      : profile_(profile), summary_(summary), style_(style) {}

  std::string print() {
    const std::string run = print_run(profile_, style_);
    text_ += run.substr(0, run.find('\n') + 1);
    print_title();
    if (!(summary_.cycles > 0)) {
      text_ += "\nno samples here: nothing was measured that could be explained\n";
      return std::move(text_);
    }
    print_rows();
    print_events();
    print_places();
    print_remarks();
    text_ += print_ledger(profile_.ledger, style_);
    const std::string function = summary_.places.empty() ? "FUNCTION" : summary_.next_words;
    text_ += print_next(with_file("culprit annotate " + function, style_),
                        "the instructions that wait", style_);
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string amount(double cycles) const {
    return summary_.is_in_cycles ? format_si(cycles) + " cycles" : format_si(cycles / 1e9) + " s";
  }

  void print_title() {
    text_ += fmt::format("{}: {}, {:.1f} % of everything, {} samples\n",
                         summary_.part.empty() ? "everything" : printable(summary_.part),
                         amount(summary_.cycles),
                         summary_.everything > 0 ? 100 * summary_.cycles / summary_.everything : 0,
                         format_thousands(summary_.samples));
    text_ += "executions: " + describe(summary_.source) + "\n";
    const Stalls& stalls = summary_.tallied;
    if (!summary_.has_best || !(stalls.executions > 0) || stalls.samples == 0) {
      text_ += "CPI -, best case -\n";
      return;
    }
    const double cpi = stalls.cycles / stalls.executions;
    double variance = 1 / static_cast<double>(stalls.samples);
    if (stalls.execution_samples > 0) variance += 1 / static_cast<double>(stalls.execution_samples);
    const double half = kNormal95 * cpi * std::sqrt(variance);
    text_ += fmt::format("CPI {:.3g} +-{:.2g}, best case {:.3g}", cpi, half,
                         stalls.best.total() / stalls.executions);
    if (!summary_.has_model) {
      text_ += fmt::format(" ({:g} instructions dispatched a cycle)", summary_.dispatch_width);
    }
    text_ += "\n";
  }

  [[nodiscard]] bool is_by_records() const {
    return summary_.source == ExecutionSource::branch_records;
  }

  void add_row(const std::string& label, long tenths) {
    text_ += fmt::format("  {:<44}{:>10}\n", label, format_tenths(tenths));
  }

  void print_rows() {
    const Stalls& stalls = summary_.tallied;
    const std::vector<SummaryRow> rows = {
        {summary_.has_model ? "dynamic stalls" : "stalls", stalls.explained, summary_.has_best},
        {"execution and stalls, not told apart", stalls.untold, false},
        {"unexplained stall", stalls.unexplained, summary_.has_best},
        {"unexplained gain", -stalls.gain, summary_.has_best},
        {"static: execution ports", stalls.best.port, false},
        {"static: chains of operations", stalls.best.chain, false},
        {"static: division, square root", stalls.best.divider, false},
        {"static: microcode and others", stalls.best.other, false},
        {"execution", stalls.best.execution, summary_.has_best},
        {"kernel", summary_.kernel, false},
        {"code that is not known", summary_.other, false}};
    const std::vector<long> tenths = to_tenths(rows, summary_.cycles);
    text_ += "\n";
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].is_shown && tenths[i] == 0) continue;
      add_row(rows[i].label, tenths[i]);
      if (i <= 1) print_causes();
    }
    add_row("total", std::accumulate(tenths.begin(), tenths.end(), 0L));
  }

  void print_causes() {
    const Stalls& stalls = summary_.tallied;
    size_t ruled_out = 0;
    for (const size_t cause : order_causes(stalls.cycles, stalls.high, stalls.likely)) {
      if (!(stalls.high[cause] >= 0.0005 * summary_.cycles)) {
        ++ruled_out;
        continue;
      }
      const auto percent = [&](double cycles) {
        return fmt::format("{:.1f} %", 100 * cycles / summary_.cycles);
      };
      const std::string by = names(stalls.sources[cause]);
      text_ += fmt::format("    {:<3} {:<26}{:>8} to {:>8}{}\n", kStallCauseNames[cause].letter,
                           kStallCauseNames[cause].words, percent(stalls.low[cause]),
                           percent(stalls.high[cause]), by.empty() ? "" : "  by " + by);
    }
    text_ +=
        fmt::format("    {} of {} causes ruled out, or below 0.05 %\n", ruled_out, kStallCauses);
  }

  /// Nothing where all is of the simulated run, as the heading says.
  [[nodiscard]] std::string names(BoundSources sources) const {
    if (summary_.has_model && !sources.has_event()) return "";
    return fmt::format("{}", fmt::join(name_sources(sources, list_event_names(summary_)), ", "));
  }

  /// The events that bound causes, as they were sampled here.
  void print_events() {
    if (summary_.events.empty()) return;
    text_ += "\n  sampled here                        ~events   95 % interval\n";
    for (const StallEvent& event : summary_.events) {
      text_ += fmt::format("  {:<34}{:>9}   {} to {} ({} sample{})\n", shorten_name(event.name, 34),
                           format_si(event.value), format_si(event.low), format_si(event.high),
                           format_thousands(event.samples), event.samples == 1 ? "" : "s");
    }
  }

  void print_places() {
    constexpr size_t kMost = 6;
    if (summary_.places.size() < 2) return;
    text_ += "\n  ~cycles  ~share   best   ~CPI  may wait for   where\n";
    for (size_t i = 0; i < std::min(kMost, summary_.places.size()); ++i) {
      const StallPlace& place = summary_.places[i];
      const Stalls& stalls = place.stalls;
      const bool has_best = summary_.has_best && stalls.executions > 0;
      const bool has_cpi = has_best && stalls.samples >= kFewestStallSamples;
      const std::string where =
          place.begin ? fmt::format("{:x}-{:x} in ", *place.begin, *place.end) : "";
      text_ += fmt::format(
          "  {:>7}  {:>5.1f} %  {:>5}  {:>5}  {:<13}  {}{}\n", format_si(stalls.cycles),
          100 * stalls.cycles / summary_.everything,
          has_best ? fmt::format("{:.2f}", stalls.best.total() / stalls.executions) : "-",
          has_cpi ? fmt::format("{:.2f}", stalls.cycles / stalls.executions) : "-", letters(stalls),
          where, shorten_name(place.function, 36));
    }
    if (summary_.places.size() > kMost) {
      text_ += fmt::format("  ({} more loops and functions)\n",
                           format_thousands(summary_.places.size() - kMost));
    }
  }

  /// At most three causes, likeliest first. A capital says that the cause
  /// certainly made most of the stall.
  static std::string letters(const Stalls& stalls) {
    const auto order = order_causes(stalls.cycles, stalls.high, stalls.likely);
    std::string text;
    constexpr size_t kMost = 3;
    for (size_t i = 0; i < kMost; ++i) {
      if (!(stalls.high[order[i]] >= 0.05 * stalls.cycles)) break;
      std::string letter(kStallCauseNames[order[i]].letter);
      if (stalls.low[order[i]] > 0.5 * stalls.cycles) {
        std::transform(letter.begin(), letter.end(), letter.begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      }
      text += (text.empty() ? "" : " ") + letter;
    }
    return text.empty() ? "." : text;
  }

  void print_remarks() {
    if (!summary_.verdict.empty()) text_ += "\n" + wrap(summary_.verdict, style_.width, 2) + "\n";
    text_ += "\n" +
             wrap(
                 "From X to Y: no other cause of the list can have had X, and this one no more "
                 "than Y. Their sum is not 100 %: cycles may have had several causes.",
                 style_.width, 2) +
             "\n";
    if (!summary_.events.empty()) {
      text_ += wrap(fmt::format(
                        "Bounds by sampled events: the upper end of the interval of what was "
                        "sampled within {} instructions, times the largest cost that is plausible. "
                        "Skid into other functions is not followed.",
                        kSkidInstructions),
                    style_.width, 2) +
               "\n";
    }
    for (const std::string& remark : summary_.remarks) {
      text_ += wrap(remark, style_.width, 2) + "\n";
    }
    if (summary_.has_best && !summary_.has_model) {
      text_ += wrap(
                   "No model says what ports and chains of operations take, so stalls have those "
                   "of the code itself, too: each execution can have cost the largest plausible "
                   "cost of each cause once.",
                   style_.width, 2) +
               "\n";
    }
    if (is_by_records() && summary_.has_best) {
      text_ += wrap(
                   "Executions are those by which the cycles that the branch records have are the "
                   "measured ones, in each innermost loop and in the rest of each function.",
                   style_.width, 2) +
               "\n";
    }
    if (is_by_records() && !summary_.has_best) {
      text_ += wrap(
                   "Branch records of this CPU have no cycles, so that nothing says how many "
                   "executions one stands for, and the best case is not known: causes are ruled "
                   "out by what the code is, and by events sampled beside time.",
                   style_.width, 2) +
               "\n";
    } else if (!summary_.has_best) {
      text_ += wrap(
                   "Nothing says how often the code ran, so its best case is not known: causes "
                   "are ruled out by what the code is, and by events sampled beside time. culprit "
                   "record --engine timer+simulate counts executions; -e cycles,instructions "
                   "samples them where there are hardware counters.",
                   style_.width, 2) +
               "\n";
    }
    text_ += wrap(
                 "Outside of the list, and taken to have had no part: another thread on the core, "
                 "time that a hypervisor took, what interrupts left behind, the samples' own time.",
                 style_.width, 2) +
             "\n";
  }

  const Profile& profile_;
  const StallSummary& summary_;
  const TextStyle& style_;
  std::string text_;
};

}  // namespace

std::string print_stall_summary(const Profile& profile, const StallSummary& summary, Format format,
                                const TextStyle& style) {
  if (format == Format::json) return print_stall_summary_json(profile, summary);
  return SummaryText(profile, summary, style).print();
}

}  // namespace culprit
