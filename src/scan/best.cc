#include "scan/best.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// Whether a value is above the least by no more than chance and rounding make.
bool is_tied(const Estimate& value, const Estimate& least) {
  const double error = kNormal95 * std::hypot(value.standard_error, least.standard_error);
  const double rounding = 1e-9 * std::max(1.0, std::abs(least.value));
  return value.value - least.value <= error + rounding;
}

BestAt find_best_at(const Panel& panel, size_t x) {
  BestAt out;
  out.x = panel.xs[x];
  for (const Series& series : panel.series) {
    const std::optional<Estimate>& value = series.marks[x].value;
    if (!value || series.is_expected) continue;
    if (!out.least || value->value < out.least->value) out.least = value;
    if (!out.worst || value->value > out.worst->value) out.worst = value;
  }
  const Estimate* next = nullptr;
  for (const Series& series : panel.series) {
    const std::optional<Estimate>& value = series.marks[x].value;
    if (!value || series.is_expected) continue;
    if (is_tied(*value, *out.least)) {
      out.best.push_back(series.name);
    } else if (next == nullptr || value->value < next->value) {
      next = &*value;
      out.next = series.name;
    }
  }
  if (next != nullptr && next->value != 0) out.next_ratio = divide(*out.least, *next);
  return out;
}

std::vector<Standing> rank(const Panel& panel, const std::vector<BestAt>& places) {
  std::vector<Standing> standings;
  for (const Series& series : panel.series) {
    if (series.is_expected) continue;
    Standing standing;
    standing.name = series.name;
    double logarithms = 0;
    size_t ratios = 0;
    for (size_t x = 0; x < places.size(); ++x) {
      const std::optional<Estimate>& value = series.marks[x].value;
      if (!value) continue;
      ++standing.places;
      const auto& best = places[x].best;
      standing.times_best += std::find(best.begin(), best.end(), series.name) != best.end() ? 1 : 0;
      if (value->value <= 0 || places[x].least->value <= 0) continue;
      const double ratio = value->value / places[x].least->value;
      standing.worst_ratio = std::max(standing.worst_ratio, ratio);
      logarithms += std::log(ratio);
      ++ratios;
    }
    if (ratios > 0) standing.mean_ratio = std::exp(logarithms / static_cast<double>(ratios));
    standings.push_back(std::move(standing));
  }
  std::stable_sort(standings.begin(), standings.end(), [](const auto& a, const auto& b) {
    return a.places != b.places ? a.places > b.places : a.mean_ratio < b.mean_ratio;
  });
  return standings;
}

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + printable(name);
  return out.empty() ? "-" : out;
}

/// "5", or "5 to 62" where the places of a range differ.
std::string span(const BestPanel& panel, const BestRange& range) {
  const std::optional<Estimate>& first = panel.places[range.first].least;
  if (!first) return "-";
  const std::string a = format_cost(*first);
  const std::string b = format_cost(*panel.places[range.last].least);
  return a == b ? a : a + " to " + b;
}

/// How far the next one is behind, at the place of the range where it is nearest.
std::string margin(const BestPanel& panel, const BestRange& range) {
  const BestAt* nearest = nullptr;
  for (size_t x = range.first; x <= range.last; ++x) {
    const BestAt& at = panel.places[x];
    if (!at.next_ratio) continue;
    if (nearest == nullptr || at.next_ratio->value > nearest->next_ratio->value) nearest = &at;
  }
  if (nearest == nullptr) return panel.places[range.first].least ? "nothing else" : "";
  const double percent = 100 * (1 - nearest->next_ratio->value);
  const double error = 100 * kNormal95 * nearest->next_ratio->standard_error;
  return fmt::format("{:.1f} %{}, {}", percent, error > 0 ? fmt::format(" +-{:.1f}", error) : "",
                     printable(nearest->next));
}

}  // namespace

std::vector<BestPanel> find_best(const Answer& answer) {
  std::vector<BestPanel> panels;
  for (const Panel& panel : answer.panels) {
    BestPanel out;
    out.title = panel.title;
    for (size_t x = 0; x < panel.xs.size(); ++x) {
      out.places.push_back(find_best_at(panel, x));
      if (!out.ranges.empty() && out.places[x].best == out.places[x - 1].best) {
        out.ranges.back().last = x;
      } else {
        out.ranges.push_back({x, x});
      }
    }
    out.standings = rank(panel, out.places);
    panels.push_back(std::move(out));
  }
  return panels;
}

std::string print_best_text(const Answer& answer, const TextStyle& style) {
  std::string out =
      fmt::format("{}{}   the least\n", provenance_mark(answer.provenance), answer.title);
  bool has_ties = false;
  for (const BestPanel& panel : find_best(answer)) {
    TextColumn place{answer.over, false, nullptr, 1, {}};
    TextColumn value{"least", true, nullptr, 2, {}};
    TextColumn next{"ahead by", false, nullptr, 2, {}};
    TextColumn names{answer.by, false, nullptr, 2, {}};
    for (const BestRange& range : panel.ranges) {
      const std::string first = printable(panel.places[range.first].x);
      place.cells.push_back(range.first == range.last
                                ? first
                                : first + " to " + printable(panel.places[range.last].x));
      value.cells.push_back(span(panel, range));
      next.cells.push_back(margin(panel, range));
      names.cells.push_back(join(panel.places[range.first].best));
      has_ties = has_ties || panel.places[range.first].best.size() > 1;
    }
    out += '\n';
    if (!panel.title.empty()) out += printable(panel.title) + '\n';
    out += print_table({place, value, next, names}, style.width);
    if (panel.places.size() < 2 || panel.standings.size() < 2) continue;
    TextColumn mean{"mean", true, nullptr, 1, {}};
    TextColumn worst{"worst", true, nullptr, 2, {}};
    TextColumn times{"best at", true, nullptr, 2, {}};
    TextColumn name{"of the least, over all", false, nullptr, 2, {}};
    for (const Standing& one : panel.standings) {
      mean.cells.push_back(fmt::format("{:.3f}", one.mean_ratio));
      worst.cells.push_back(fmt::format("{:.3f}", one.worst_ratio));
      times.cells.push_back(fmt::format("{}/{}", one.times_best, one.places));
      name.cells.push_back(printable(one.name));
    }
    out += '\n' + print_table({mean, worst, times, name}, style.width);
  }
  out += '\n';
  if (has_ties) {
    out += print_labelled("Ties",
                          "those in one row cost the same, or differ by less than their "
                          "errors",
                          style);
  }
  if (answer.provenance == Provenance::modelled) {
    out += print_labelled("Sure",
                          "modelled: how far the model is off is not among the errors; "
                          "`culprit scan search` measures time",
                          style);
  }
  return out;
}

std::string print_best_json(const Answer& answer, const std::vector<WeighedSeries>& weighed) {
  const auto estimate = [](const std::optional<Estimate>& value) {
    return value ? Json{{"value", value->value}, {"error", value->standard_error}} : Json(nullptr);
  };
  Json panels = Json::array();
  for (const BestPanel& panel : find_best(answer)) {
    Json places = Json::array();
    for (const BestAt& at : panel.places) {
      places.push_back({{"x", at.x},
                        {"least", estimate(at.least)},
                        {"best", at.best},
                        {"next", at.next},
                        {"next_ratio", estimate(at.next_ratio)},
                        {"worst", estimate(at.worst)}});
    }
    Json standings = Json::array();
    for (const Standing& one : panel.standings) {
      standings.push_back({{"name", one.name},
                           {"times_best", one.times_best},
                           {"places", one.places},
                           {"mean_ratio", one.mean_ratio},
                           {"worst_ratio", one.worst_ratio}});
    }
    panels.push_back({{"title", panel.title},
                      {"places", std::move(places)},
                      {"standings", std::move(standings)}});
  }
  Json by_use = Json::array();
  for (const WeighedSeries& one : weighed) {
    by_use.push_back({{"name", one.name},
                      {"sum", one.is_complete ? estimate(one.sum) : Json(nullptr)},
                      {"ratio", one.is_complete ? Json(one.ratio) : Json(nullptr)}});
  }
  return dump({{"schema", "culprit-scan-best-1"},
               {"expression", answer.expression},
               {"title", answer.title},
               {"modelled", answer.provenance == Provenance::modelled},
               {"provenance", provenance_name(answer.provenance)},
               {"over", answer.over},
               {"by", answer.by},
               {"panels", std::move(panels)},
               {"by_use", std::move(by_use)},
               {"failures", answer.failures}});
}

}  // namespace culprit::scan
