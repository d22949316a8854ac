// Plots as SVG, by hand: the same bytes each time, no library, readable in both themes and in grey
// (series differ by colour, by dashes and by the shape of their marks).

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "scan/axis.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 44;
constexpr double kBottom = 52;
constexpr double kLegendLine = 18;
constexpr double kLegendColumn = 242;
/// A curve in the legend: long enough that its dashes show on both sides of its mark.
constexpr double kLegendCurve = 44;

/// Small multiples: a few panels are large, many are small and stand in rows.
struct Layout {
  size_t columns;
  double width;  // of a panel
  double height;
};

Layout choose_layout(size_t panels) {
  if (panels <= 1) return {1, 760, 380};
  if (panels <= 4) return {2, 460, 300};
  return {3, 360, 240};
}

// Okabe and Ito's colours, which people who cannot tell red from green can tell apart. The
// yellow one, which paper does not show, is left out.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#e69f00", "#7f7f7f"};
constexpr const char* kDashes[] = {"", "6 3", "2 3", "9 3 2 3"};
constexpr size_t kShapes = 6;
/// What was expected is a thick pale line under the curves.
constexpr const char* kExpected = "class=\"expected\"";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string colour(size_t series) {
  return kColours[series % std::size(kColours)];
}

/// Shapes and dashes change with each series, in cycles of six and four, so that twelve series
/// differ without colour.
std::string shape(size_t series, double x, double y) {
  const std::string colours = series % kShapes < 3
                                  ? fmt::format("fill=\"{0}\" stroke=\"{0}\"", colour(series))
                                  : fmt::format("class=\"hollow\" stroke=\"{}\"", colour(series));
  switch (series % kShapes % 3) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" {}/>", x, y, colours);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" {}/>", x - 3,
                         y - 3, colours);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 7h-8z\" {}/>", x, y - 4.5, colours);
  }
}

std::string stroke(size_t series) {
  const char* const dashes = kDashes[series % std::size(kDashes)];
  return fmt::format("stroke=\"{}\" stroke-width=\"1.6\" fill=\"none\"{}", colour(series),
                     *dashes == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

std::string text_at(double x, double y, const char* anchor, std::string_view text,
                    const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, escape(text));
}

std::string plot_title(const Answer& answer) {
  return answer.title + (answer.base.empty() ? "" : ", ratio to " + answer.base);
}

/// One legend for all panels: series of one name look the same everywhere.
struct Legend {
  std::vector<std::string> names;
  std::vector<bool> is_expected;

  explicit Legend(const Answer& answer) {
    for (const Panel& panel : answer.panels) {
      for (const Series& series : panel.series) {
        if (std::find(names.begin(), names.end(), series.name) != names.end()) continue;
        names.push_back(series.name);
        is_expected.push_back(series.is_expected);
      }
    }
  }
  [[nodiscard]] size_t number_of(const std::string& name) const {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  [[nodiscard]] std::string draw(double top, size_t columns) const {
    std::string out;
    for (size_t s = 0; s < names.size(); ++s) {
      const double x = 20 + kLegendColumn * static_cast<double>(s % columns);
      const double y = top + kLegendLine * static_cast<double>(s / columns);
      out += fmt::format("<path d=\"M{:.1f} {:.1f}h{}\" {}/>", x, y, kLegendCurve,
                         is_expected[s] ? kExpected : stroke(s));
      if (!is_expected[s]) out += shape(s, x + kLegendCurve / 2, y);
      out += text_at(x + kLegendCurve + 6, y + 4, "start", elide_middle(printable(names[s]), 28));
    }
    return out;
  }
};

/// One panel whose corner is at (left, top).
class SvgPanel {
 public:
  SvgPanel(const Answer& answer, const Panel& panel, const PlotOptions& options,
           const Layout& layout, double left, double top)
      : answer_(answer),
        panel_(panel),
        axes_(panel, options.log_x, options.log_y, layout.width > 700 ? 10 : 6,
              layout.height > 300 ? 6 : 4),
        layout_(layout),
        left_(left),
        top_(top) {}

  [[nodiscard]] std::string draw(const Legend& legend) const {
    std::string out = text_at(left_ + 10, top_ + 18, "start",
                              elide_middle(title(), static_cast<size_t>(layout_.width / 7.5)),
                              " class=\"title\"");
    out += draw_axes();
    // What was expected lies under what was measured.
    for (const bool expected : {true, false}) {
      for (const Series& series : panel_.series) {
        if (series.is_expected == expected) {
          out += draw_series(series, legend.number_of(series.name));
        }
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::string title() const {
    if (!panel_.title.empty()) return panel_.title;
    return plot_title(answer_);
  }
  [[nodiscard]] double x_of(double place) const {
    return left_ + kLeft + place * (layout_.width - kLeft - kRight);
  }
  [[nodiscard]] double y_of(double place) const {
    return top_ + layout_.height - kBottom - place * (layout_.height - kTop - kBottom);
  }

  [[nodiscard]] std::string draw_axes() const {
    std::string out;
    for (const Tick& tick : axes_.y.ticks()) {
      const double y = y_of(tick.at);
      out +=
          fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", x_of(0), y, x_of(1));
      out += text_at(x_of(0) - 6, y + 4, "end", tick.text);
    }
    double free_from = 0;
    for (const Tick& tick : axes_.x.ticks()) {
      const double x = x_of(tick.at);
      const std::string text = elide_middle(printable(tick.text), 22);
      const double half = 3.5 * static_cast<double>(text.size());
      out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>\n", x, y_of(0));
      if (x - half < free_from) continue;
      out += text_at(x, y_of(0) + 17, "middle", text);
      free_from = x + half + 4;
    }
    out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", x_of(0),
                       y_of(1), y_of(0), x_of(1));
    return out + text_at(x_of(0.5), y_of(0) + 36, "middle", answer_.over);
  }

  [[nodiscard]] std::string draw_series(const Series& series, size_t number) const {
    std::string path;
    std::string marks;
    bool is_open = false;
    for (size_t i = 0; i < series.marks.size(); ++i) {
      const Mark& mark = series.marks[i];
      if (!mark.value) {
        is_open = false;  // a hole is no line
        continue;
      }
      const double x = x_of(axes_.x_place(mark, i, series.marks.size()));
      const double y = y_of(axes_.y.place(mark.value->value));
      path += fmt::format("{}{:.1f} {:.1f}", is_open ? "L" : "M", x, y);
      is_open = true;
      if (mark.value->standard_error > 0) {
        const double error = mark.value->standard_error;
        marks += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" {}/>", x,
                             y_of(axes_.y.place(mark.value->value - error)),
                             y_of(axes_.y.place(mark.value->value + error)), stroke(number));
      }
      if (!series.is_expected) marks += shape(number, x, y);
    }
    std::string out = fmt::format("<g><title>{}</title>", escape(series.name));
    if (!axes_.x_is_words && !path.empty()) {
      out +=
          fmt::format("<path d=\"{}\" {}/>", path, series.is_expected ? kExpected : stroke(number));
    } else if (series.is_expected) {
      out += fmt::format("<path d=\"{}\" {}/>", path, kExpected);
    }
    return out + marks + "</g>\n";
  }

  const Answer& answer_;
  const Panel& panel_;
  Axes axes_;
  Layout layout_;
  double left_;
  double top_;
};

std::string style_sheet(const std::string& theme) {
  const std::string light =
      ".paper{fill:#fff}text{font:12px sans-serif;fill:#222}.title{font-weight:bold}"
      ".grid{stroke:#ddd;fill:none}.axis{stroke:#444;fill:none}.hollow{fill:#fff}"
      ".expected{stroke:#bbb;stroke-width:5;fill:none;stroke-linejoin:round}";
  const std::string dark =
      ".paper{fill:#16181c}text{fill:#ddd}.grid{stroke:#333}.axis{stroke:#999}"
      ".hollow{fill:#16181c}.expected{stroke:#555}";
  if (theme == "light") return light;
  if (theme == "dark") return light + dark;
  return light + "@media(prefers-color-scheme:dark){" + dark + "}";
}

}  // namespace

std::string print_plot_svg(const Answer& answer, const PlotOptions& options) {
  const Layout layout = choose_layout(answer.panels.size());
  const Legend legend(answer);
  const bool has_heading = answer.panels.size() > 1;
  const double heading = has_heading ? 30 : 0;
  const size_t rows = (answer.panels.size() + layout.columns - 1) / layout.columns;
  const double width = layout.width * static_cast<double>(layout.columns);
  const double legend_top = heading + layout.height * static_cast<double>(rows);
  const auto legend_columns = static_cast<size_t>(std::max(1.0, (width - 20) / kLegendColumn));
  const size_t legend_lines = (legend.names.size() + legend_columns - 1) / legend_columns;
  const double height = legend_top + kLegendLine * static_cast<double>(legend_lines) + 12;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>{3}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
      width, height, escape(answer.title), style_sheet(options.theme));
  if (has_heading) {
    out += text_at(10, 20, "start", plot_title(answer), " class=\"title\"");
  }
  for (size_t i = 0; i < answer.panels.size(); ++i) {
    const double left = layout.width * static_cast<double>(i % layout.columns);
    const double top = heading + layout.height * static_cast<double>(i / layout.columns);
    out += SvgPanel(answer, answer.panels[i], options, layout, left, top).draw(legend);
  }
  return out + legend.draw(legend_top, legend_columns) + "</svg>\n";
}

}  // namespace culprit::scan
