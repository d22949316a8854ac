#include "scan/print_answer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/names.h"
#include "base/text.h"
#include "print/csv.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"

namespace culprit::scan {
namespace {

constexpr size_t kMostFailures = 8;  // lines of text
constexpr size_t kMostIdle = 6;

std::string cell_text(const Mark& mark, const Answer& answer) {
  if (!mark.value) return mark.missing;
  std::string text = format_cost(*mark.value);
  if (answer.provenance == Provenance::sampled && mark.value->standard_error > 0 &&
      mark.value->value != 0) {
    return text + fmt::format("+-{:.2g}", kNormal95 * mark.value->standard_error);
  }
  return text + (mark.varies ? "*" : "");
}

bool any_varies(const Answer& answer) {
  for (const Panel& panel : answer.panels) {
    for (const Series& series : panel.series) {
      for (const Mark& mark : series.marks) {
        if (mark.value && mark.varies && answer.provenance != Provenance::sampled) return true;
      }
    }
  }
  return false;
}

/// Whether a count is 0 within what start-up makes of it.
bool has_start_up(const Answer& answer) {
  const auto is_one = [](const Mark& mark) {
    return mark.value && mark.value->value == 0 && mark.value->standard_error > 0;
  };
  return answer.provenance == Provenance::counted &&
         std::any_of(answer.panels.begin(), answer.panels.end(), [&](const Panel& panel) {
           return std::any_of(panel.series.begin(), panel.series.end(), [&](const Series& one) {
             return std::any_of(one.marks.begin(), one.marks.end(), is_one);
           });
         });
}

/// Columns stand side by side as far as they fit, block after block.
std::string print_panel(const Panel& panel, const Answer& answer, const TextStyle& style) {
  size_t name_width = count_columns(answer.over);
  for (const Series& series : panel.series) {
    name_width = std::max(name_width, count_columns(printable(series.name)));
  }
  name_width = std::min(name_width, style.width / 3);
  std::vector<size_t> widths;
  for (size_t x = 0; x < panel.xs.size(); ++x) {
    size_t width = count_columns(printable(panel.xs[x]));
    for (const Series& series : panel.series) {
      width = std::max(width, count_columns(cell_text(series.marks[x], answer)));
    }
    widths.push_back(width);
  }
  std::string out;
  for (size_t first = 0; first < panel.xs.size();) {
    size_t last = first;
    size_t used = 1 + name_width;
    while (last < panel.xs.size() && (last == first || used + 2 + widths[last] <= style.width)) {
      used += 2 + widths[last++];
    }
    if (first > 0) out += '\n';
    out += ' ' + pad_right(elide_middle(answer.over, name_width), name_width);
    for (size_t x = first; x < last; ++x) {
      out += "  " + pad_left(printable(panel.xs[x]), widths[x]);
    }
    out += '\n';
    for (const Series& series : panel.series) {
      out += ' ' + pad_right(elide_middle(printable(series.name), name_width), name_width);
      for (size_t x = first; x < last; ++x) {
        out += "  " + pad_left(cell_text(series.marks[x], answer), widths[x]);
      }
      out += '\n';
    }
    first = last;
  }
  return out;
}

std::string print_notes(const Answer& answer, const TextStyle& style) {
  std::string out;
  if (any_varies(answer)) {
    out += print_labelled("*", "iterations differ: a mean of those that were run", style);
  }
  if (answer.provenance == Provenance::sampled) {
    out +=
        print_labelled("+-", "half of the 95 % interval of the median of all pairs of runs", style);
  }
  if (has_start_up(answer)) {
    out += print_labelled("+-",
                          "of no iteration: start-up differs by a few counts from one loop count "
                          "to the next",
                          style);
  }
  if (const std::string peak = describe_peak(answer); !peak.empty()) {
    out += print_labelled("Peak", peak, style);
  }
  if (!answer.caveat.empty()) out += print_labelled("Caveat", answer.caveat, style);
  if (!answer.idle.empty()) {
    std::string names;
    for (size_t i = 0; i < std::min(answer.idle.size(), kMostIdle); ++i) {
      names += (i == 0 ? "" : ", ") + printable(answer.idle[i]);
    }
    if (answer.idle.size() > kMostIdle) {
      names += fmt::format(" and {} more", answer.idle.size() - kMostIdle);
    }
    out += print_labelled(
        "Idle", "neither loads, stores nor computes, so was probably optimised away: " + names,
        style);
  }
  for (size_t i = 0; i < std::min(answer.failures.size(), kMostFailures); ++i) {
    out += print_labelled(i == 0 ? "Failed" : "", printable(answer.failures[i]), style);
  }
  if (answer.failures.size() > kMostFailures) {
    out += print_labelled(
        "", fmt::format("and {} more: culprit scan status", answer.failures.size() - kMostFailures),
        style);
  }
  return out;
}

}  // namespace

std::string format_cost(const Estimate& value) {
  if (value.value == 0 && value.standard_error > 0) {
    return fmt::format("0+-{:.2g}", value.standard_error);
  }
  const double magnitude = std::abs(value.value);
  if (std::abs(value.value - std::round(value.value)) <= 1e-9 * std::max(1.0, magnitude) &&
      magnitude < 1e7) {
    return fmt::format("{:.0f}", value.value == 0 ? 0.0 : std::round(value.value));
  }
  if (magnitude >= 1e7) return (value.value < 0 ? "-" : "") + format_si(magnitude);
  int digits = 5;
  if (value.standard_error > 0 && magnitude > 0) {
    const double known = std::log10(magnitude / value.standard_error);
    digits = std::clamp(static_cast<int>(std::ceil(known)) + 1, 1, 5);
  }
  return fmt::format("{:.{}g}", value.value, digits);
}

std::string print_table_text(const Answer& answer, const TextStyle& style) {
  std::string out = fmt::format("{}{}{}\n", provenance_mark(answer.provenance), answer.title,
                                answer.base.empty() ? "" : ", ratio to " + answer.base);
  for (const Panel& panel : answer.panels) {
    out += '\n';
    if (!panel.title.empty()) out += printable(panel.title) + '\n';
    out += print_panel(panel, answer, style);
  }
  const std::string notes = print_notes(answer, style);
  return out + (notes.empty() ? "" : "\n" + notes);
}

std::string describe_peak(const Answer& answer) {
  if (!answer.share_of_peak) return "";
  return fmt::format("the best is {} % of {}, the most that its machine can do ({})",
                     fmt::format("{:.1f}", 100 * *answer.share_of_peak),
                     format_cost({answer.peak_value, 0}), answer.peak);
}

std::string print_answer_csv(const Answer& answer) {
  std::string text;
  CsvLine line(text);
  for (const std::string_view heading :
       {std::string_view("panel"), std::string_view(answer.by), std::string_view(answer.over),
        std::string_view("value"), std::string_view("error"), std::string_view("missing")}) {
    line.add(heading);
  }
  line.end();
  for (const Panel& panel : answer.panels) {
    for (const Series& series : panel.series) {
      for (const Mark& mark : series.marks) {
        CsvLine row(text);
        row.add(panel.title);
        row.add(series.name);
        row.add(mark.x);
        row.add(mark.value ? fmt::format("{}", mark.value->value) : "");
        row.add(mark.value ? fmt::format("{:.6g}", mark.value->standard_error) : "");
        row.add(mark.missing);
        row.end();
      }
    }
  }
  return text;
}

std::string print_answer_json(const Answer& answer) {
  Json panels = Json::array();
  for (const Panel& panel : answer.panels) {
    Json all = Json::array();
    for (const Series& series : panel.series) {
      Json marks = Json::array();
      for (const Mark& mark : series.marks) {
        Json one = {{"x", mark.x}};
        if (mark.value) {
          one["value"] = mark.value->value;
          one["error"] = mark.value->standard_error;
          one["varies"] = mark.varies;
        } else {
          one["missing"] = mark.missing;
        }
        marks.push_back(std::move(one));
      }
      all.push_back({{"name", series.name}, {"marks", std::move(marks)}});
    }
    panels.push_back({{"title", panel.title}, {"series", std::move(all)}});
  }
  Json document = {{"schema", "culprit-scan-table-1"},
                   {"expression", answer.expression},
                   {"title", answer.title},
                   {"caveat", answer.caveat},
                   {"modelled", answer.provenance == Provenance::modelled},
                   {"provenance", provenance_name(answer.provenance)},
                   {"over", answer.over},
                   {"by", answer.by},
                   {"base", answer.base},
                   {"panels", std::move(panels)},
                   {"failures", answer.failures},
                   {"idle", answer.idle}};
  if (answer.share_of_peak) {
    document["peak"] = {{"expression", answer.peak},
                        {"value", answer.peak_value},
                        {"best_share", *answer.share_of_peak}};
  }
  return dump(document);
}

}  // namespace culprit::scan
