// Plots as SVG, by hand: the same bytes each time, no library, readable in both themes and in grey
// (series differ by colour, by dashes and by the shape of their marks).

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scan/axis.h"
#include "scan/print_answer.h"

#include "base/text.h"

namespace culprit::scan {
namespace {

constexpr double kWidth = 760;
constexpr double kPanelHeight = 380;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 44;
constexpr double kBottom = 52;
constexpr double kLegendLine = 18;
constexpr size_t kLegendColumns = 3;

// Okabe and Ito's colours, which people who cannot tell red from green can tell apart. The
// yellow one, which paper does not show, is left out.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#e69f00", "#7f7f7f"};
constexpr const char* kDashes[] = {"", "6 3", "2 3", "9 3 2 3"};
constexpr size_t kShapes = 4;

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

std::string shape(size_t series, double x, double y) {
  const std::string fill = fmt::format("fill=\"{}\"", colour(series));
  switch (series / 2 % kShapes) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" {}/>", x, y, fill);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" {}/>", x - 3,
                         y - 3, fill);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 7h-8z\" {}/>", x, y - 4.5, fill);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 4l-4 4l-4 -4z\" {}/>", x, y - 4, fill);
  }
}

std::string stroke(size_t series) {
  const char* const dashes = kDashes[series / std::size(kColours) % std::size(kDashes)];
  return fmt::format("stroke=\"{}\" stroke-width=\"1.6\" fill=\"none\"{}", colour(series),
                     *dashes == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

std::string text_at(double x, double y, const char* anchor, std::string_view text,
                    const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, escape(text));
}

/// One panel whose top is at `top`.
class SvgPanel {
 public:
  SvgPanel(const Answer& answer, const Panel& panel, const PlotOptions& options, double top)
      : answer_(answer),
        panel_(panel),
        axes_(panel, options.log_x, options.log_y, 10, 6),
        top_(top) {}

  [[nodiscard]] std::string draw() const {
    std::string out = text_at(kLeft, top_ + 18, "start", title(), " font-weight=\"bold\"");
    out += draw_axes();
    for (size_t s = 0; s < panel_.series.size(); ++s) out += draw_series(s);
    return out + draw_legend();
  }
  static double height(const Panel& panel) {
    const size_t lines = (panel.series.size() + kLegendColumns - 1) / kLegendColumns;
    return kPanelHeight + kLegendLine * static_cast<double>(lines) + 12;
  }

 private:
  [[nodiscard]] std::string title() const {
    return answer_.title + (answer_.base.empty() ? "" : ", ratio to " + answer_.base) +
           (panel_.title.empty() ? "" : " - " + panel_.title);
  }
  [[nodiscard]] double x_of(double place) const {
    return kLeft + place * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y_of(double place) const {
    return top_ + kPanelHeight - kBottom - place * (kPanelHeight - kTop - kBottom);
  }

  [[nodiscard]] std::string draw_axes() const {
    std::string out;
    for (const Tick& tick : axes_.y.ticks()) {
      const double y = y_of(tick.at);
      out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, y,
                         kWidth - kRight);
      out += text_at(kLeft - 6, y + 4, "end", tick.text);
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
    out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", kLeft,
                       y_of(1), y_of(0), kWidth - kRight);
    return out + text_at(x_of(0.5), y_of(0) + 36, "middle", answer_.over);
  }

  [[nodiscard]] std::string draw_series(size_t number) const {
    const Series& series = panel_.series[number];
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
      marks += shape(number, x, y);
    }
    std::string out = fmt::format("<g><title>{}</title>", escape(series.name));
    if (!axes_.x_is_words && !path.empty()) {
      out += fmt::format("<path d=\"{}\" {}/>", path, stroke(number));
    }
    return out + marks + "</g>\n";
  }

  [[nodiscard]] std::string draw_legend() const {
    std::string out;
    const double column = (kWidth - kLeft - kRight) / kLegendColumns;
    for (size_t s = 0; s < panel_.series.size(); ++s) {
      const double x = kLeft + column * static_cast<double>(s % kLegendColumns);
      const double y = top_ + kPanelHeight + kLegendLine * static_cast<double>(s / kLegendColumns);
      out += fmt::format("<path d=\"M{:.1f} {:.1f}h24\" {}/>", x, y, stroke(s));
      out += shape(s, x + 12, y);
      out += text_at(x + 30, y + 4, "start", elide_middle(printable(panel_.series[s].name), 28));
    }
    return out;
  }

  const Answer& answer_;
  const Panel& panel_;
  Axes axes_;
  double top_;
};

std::string style_sheet(const std::string& theme) {
  const std::string light =
      "svg{background:#fff}text{font:12px sans-serif;fill:#222}"
      ".grid{stroke:#ddd;fill:none}.axis{stroke:#444;fill:none}";
  const std::string dark =
      "svg{background:#16181c}text{fill:#ddd}.grid{stroke:#333}.axis{stroke:#999}";
  if (theme == "light") return light;
  if (theme == "dark") return light + dark;
  return light + "@media(prefers-color-scheme:dark){" + dark + "}";
}

}  // namespace

std::string print_plot_svg(const Answer& answer, const PlotOptions& options) {
  double height = 0;
  for (const Panel& panel : answer.panels) height += SvgPanel::height(panel);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>{3}</style>\n",
      kWidth, height, escape(answer.title), style_sheet(options.theme));
  double top = 0;
  for (const Panel& panel : answer.panels) {
    out += SvgPanel(answer, panel, options, top).draw();
    top += SvgPanel::height(panel);
  }
  return out + "</svg>\n";
}

}  // namespace culprit::scan
