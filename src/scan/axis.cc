#include "scan/axis.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit::scan {
namespace {

std::string tick_text(double value) {
  if (std::abs(value) >= 1e4) {
    std::string text = format_si(std::abs(value));
    if (const size_t zeros = text.find(".0"); zeros != std::string::npos) {
      text.erase(zeros, text.find(' ') - zeros);
    }
    return (value < 0 ? "-" : "") + text;
  }
  return fmt::format("{:.6g}", value == 0 ? 0.0 : value);
}

/// 1, 2 or 5 times a power of ten.
double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis Axis::of_numbers(const std::vector<double>& values, bool logarithmic, bool from_zero,
                      size_t ticks) {
  Axis axis;
  if (values.empty()) return axis;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  axis.logarithmic_ = logarithmic && *least > 0;
  if (axis.logarithmic_) {
    axis.low_ = std::floor(std::log2(*least));
    axis.high_ = std::max(std::ceil(std::log2(*most)), axis.low_ + 1);
    const double step =
        std::max(1.0, std::ceil((axis.high_ - axis.low_) / static_cast<double>(ticks)));
    for (double at = axis.low_; at <= axis.high_ + 1e-9; at += step) {
      axis.ticks_.push_back({axis.place(std::exp2(at)), tick_text(std::exp2(at))});
    }
    return axis;
  }
  axis.low_ = from_zero ? std::min(*least, 0.0) : *least;
  axis.high_ = from_zero ? std::max(*most, 0.0) : *most;
  if (axis.high_ <= axis.low_) axis.high_ = axis.low_ + 1;
  const double step = round_step((axis.high_ - axis.low_) / static_cast<double>(ticks));
  if (from_zero) {
    axis.low_ = std::floor(axis.low_ / step + 1e-9) * step;
    axis.high_ = std::ceil(axis.high_ / step - 1e-9) * step;
  }
  for (double at = std::ceil(axis.low_ / step - 1e-9) * step; at <= axis.high_ + step * 1e-9;
       at += step) {
    axis.ticks_.push_back({axis.place(at), tick_text(at)});
  }
  return axis;
}

Axis Axis::of_words(const std::vector<std::string>& words) {
  Axis axis;
  for (size_t i = 0; i < words.size(); ++i) {
    const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(words.size());
    axis.ticks_.push_back({at, words[i]});
  }
  return axis;
}

void Axis::put_ticks_at(const std::vector<std::string>& texts, const std::vector<double>& values) {
  ticks_.clear();
  for (size_t i = 0; i < std::min(texts.size(), values.size()); ++i) {
    ticks_.push_back({place(values[i]), texts[i]});
  }
}

double Axis::place(double value) const {
  if (logarithmic_) return value > 0 ? (std::log2(value) - low_) / (high_ - low_) : 0;
  return (value - low_) / (high_ - low_);
}

Axes::Axes(const Panel& panel, bool log_x, bool log_y, size_t x_ticks, size_t y_ticks) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Series& series : panel.series) {
    for (const Mark& mark : series.marks) {
      x_is_words = x_is_words || !mark.number;
      if (mark.number) xs.push_back(*mark.number);
      if (!mark.value) continue;
      ys.push_back(mark.value->value - mark.value->standard_error);
      ys.push_back(mark.value->value + mark.value->standard_error);
    }
  }
  x = x_is_words ? Axis::of_words(panel.xs) : Axis::of_numbers(xs, log_x, false, x_ticks);
  if (!x_is_words && panel.xs.size() <= x_ticks) x.put_ticks_at(panel.xs, xs);
  y = Axis::of_numbers(ys, log_y, true, y_ticks);
}

double Axes::x_place(const Mark& mark, size_t index, size_t count) const {
  if (!x_is_words) return x.place(*mark.number);
  return (static_cast<double>(index) + 0.5) / static_cast<double>(std::max<size_t>(count, 1));
}

}  // namespace culprit::scan
