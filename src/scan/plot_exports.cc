// Plots for other programs to draw: gnuplot, Vega-Lite.

#include <fmt/format.h>

#include "base/text.h"
#include "print/json_parts.h"
#include "scan/axis.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// A text in gnuplot's double quotes, where backslashes and quotes are special, and without the
/// marks of its enhanced text.
std::string gnuplot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string print_plot_gnuplot(const Answer& answer, const PlotOptions& options) {
  std::string out = "# gnuplot -p FILE\nset termoption noenhanced\nset key outside below\n";
  out += fmt::format("set xlabel {}\nset ylabel {}\nset yrange [0:*]\n", gnuplot_text(answer.over),
                     gnuplot_text(answer.title));
  if (options.log_x) out += "set logscale x 2\n";
  if (options.log_y) out += "set yrange [*:*]\nset logscale y 2\n";
  if (answer.panels.size() > 1) {
    out += fmt::format("set multiplot layout {},1\n", answer.panels.size());
  }
  for (size_t p = 0; p < answer.panels.size(); ++p) {
    const Panel& panel = answer.panels[p];
    const bool is_words = Axes(panel, false, false, 8, 8).x_is_words;
    for (size_t s = 0; s < panel.series.size(); ++s) {
      out += fmt::format("$data_{}_{} << EOD\n", p, s);
      for (size_t i = 0; i < panel.series[s].marks.size(); ++i) {
        const Mark& mark = panel.series[s].marks[i];
        const std::string x = is_words ? std::to_string(i) : fmt::format("{}", *mark.number);
        // A blank line is a hole in the curve.
        out += mark.value
                   ? fmt::format("{} {} {}\n", x, mark.value->value, mark.value->standard_error)
                   : "\n";
      }
      out += "EOD\n";
    }
    out += fmt::format("set title {}\n", gnuplot_text(panel.title));
    if (is_words) {
      out += "set xtics rotate by -30 (";
      for (size_t i = 0; i < panel.xs.size(); ++i) {
        out += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_text(panel.xs[i]), i);
      }
      out += ")\n";
    }
    out += "plot ";
    for (size_t s = 0; s < panel.series.size(); ++s) {
      out +=
          fmt::format("{}$data_{}_{} using 1:2:3 with {} title {}", s == 0 ? "" : ", \\\n  ", p, s,
                      is_words ? "yerrorbars" : "yerrorlines", gnuplot_text(panel.series[s].name));
    }
    out += '\n';
  }
  return out + (answer.panels.size() > 1 ? "unset multiplot\n" : "");
}

std::string print_plot_vega(const Answer& answer, const PlotOptions& options) {
  Json values = Json::array();
  bool is_words = false;
  for (const Panel& panel : answer.panels) {
    is_words = is_words || Axes(panel, false, false, 8, 8).x_is_words;
  }
  for (const Panel& panel : answer.panels) {
    for (const Series& series : panel.series) {
      for (const Mark& mark : series.marks) {
        if (!mark.value) continue;
        Json one = {{"panel", panel.title}, {"series", series.name}};
        if (is_words) {
          one["x"] = mark.x;
        } else {
          one["x"] = *mark.number;
        }
        one["value"] = mark.value->value;
        one["low"] = mark.value->value - mark.value->standard_error;
        one["high"] = mark.value->value + mark.value->standard_error;
        values.push_back(std::move(one));
      }
    }
  }
  const auto scale = [](bool logarithmic) {
    return logarithmic ? Json{{"type", "log"}, {"base", 2}} : Json{{"type", "linear"}};
  };
  Json x = {
      {"field", "x"}, {"type", is_words ? "nominal" : "quantitative"}, {"title", answer.over}};
  if (is_words) {
    x["sort"] = nullptr;
  } else {
    x["scale"] = scale(options.log_x);
  }
  Json encoding = {{"x", std::move(x)},
                   {"y",
                    {{"field", "value"},
                     {"type", "quantitative"},
                     {"title", answer.title},
                     {"scale", scale(options.log_y)}}},
                   {"color", {{"field", "series"}, {"type", "nominal"}, {"title", answer.by}}},
                   {"shape", {{"field", "series"}, {"type", "nominal"}, {"title", answer.by}}}};
  Json spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
               {"data", {{"values", std::move(values)}}}};
  const Json mark = is_words ? Json{{"type", "point"}, {"filled", true}}
                             : Json{{"type", "line"}, {"point", true}};
  if (answer.panels.size() > 1) {
    spec["facet"] = {{"row", {{"field", "panel"}, {"type", "nominal"}, {"title", nullptr}}}};
    spec["spec"] = {{"mark", mark}, {"encoding", std::move(encoding)}};
  } else {
    spec["mark"] = mark;
    spec["encoding"] = std::move(encoding);
  }
  return dump(spec);
}

}  // namespace culprit::scan
