#pragma once

// An axis of a plot: which numbers it covers, where its ticks are, and what they are called.

#include <string>
#include <vector>

#include "scan/answer.h"

namespace culprit::scan {

struct Tick {
  double at = 0;  // 0 to 1 along the axis
  std::string text;
};

class Axis {
 public:
  /// An axis of numbers with about `ticks` of them; it is logarithmic, if that is wanted and all
  /// are above 0.
  static Axis of_numbers(const std::vector<double>& values, bool logarithmic, bool from_zero,
                         size_t ticks);
  /// An axis of words, evenly apart.
  static Axis of_words(const std::vector<std::string>& words);

  /// Ticks stand at these values instead of at round numbers.
  void put_ticks_at(const std::vector<std::string>& texts, const std::vector<double>& values);

  /// 0 to 1.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] bool is_logarithmic() const { return logarithmic_; }

 private:
  double low_ = 0;
  double high_ = 1;
  bool logarithmic_ = false;
  std::vector<Tick> ticks_;
};

/// The axes of one panel. Along x are numbers where all of them are numbers, else words.
struct Axes {
  Axis x;
  Axis y;
  bool x_is_words = false;

  Axes(const Panel& panel, bool log_x, bool log_y, size_t x_ticks, size_t y_ticks);
  /// The place of the mark number `index` along x.
  [[nodiscard]] double x_place(const Mark& mark, size_t index, size_t count) const;
};

}  // namespace culprit::scan
