#include "calibrate/calibration_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {
namespace {

std::string describe_interval(const Figure& figure) {
  return fmt::format("{:.4g} to {:.4g}", figure.interval.low, figure.interval.high);
}

/// What a TOML text may hold.
std::string toml_text(std::string_view text) {
  std::string plain = printable(text);
  for (char& c : plain) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return '"' + plain + '"';
}

}  // namespace

size_t count_kept(const Calibration& calibration) {
  return static_cast<size_t>(std::count_if(calibration.figures.begin(), calibration.figures.end(),
                                           [](const Figure& figure) { return !figure.is_noisy; }));
}

std::string print_machine_file(const Calibration& calibration, const CalibrationHead& head) {
  std::string text = fmt::format(
      "# Measured by `culprit calibrate` in {:.0f} s: medians of {} rounds, with their 95 % "
      "intervals.\n"
      "# What is not here --machine host has from sysfs and from a shipped machine.\n"
      "name = \"host\"\nsource = {}\ncalibrated_cpu = {}\ncalibrated_date = {}\n",
      calibration.seconds, calibration.rounds,
      toml_text(fmt::format("culprit calibrate on {} at {:.2f} GHz", head.cpu_name,
                            calibration.hertz / 1e9)),
      toml_text(head.cpu), toml_text(head.date));
  std::string section;
  for (const Figure& figure : calibration.figures) {
    if (figure.is_noisy) continue;
    if (figure.section != section) text += fmt::format("\n[{}]\n", figure.section);
    section = figure.section;
    text += fmt::format("{} = {}  # {}; {}\n", figure.key, figure.value, figure.what,
                        describe_interval(figure));
  }
  return text;
}

std::string print_calibration(const Calibration& calibration) {
  std::string text = fmt::format(
      "clock {:.2f} GHz; {} rounds in {:.0f} s; cycles, KiB, bytes per "
      "cycle\n\n",
      calibration.hertz / 1e9, calibration.rounds, calibration.seconds);
  text += fmt::format("{:>9} {:>20} {:>9}  {}\n", "measured", "95 %", "before", "what");
  bool is_any_noisy = false;
  for (const Figure& figure : calibration.figures) {
    text += fmt::format("{:>9} {:>20} {:>9}  {}{}\n", fmt::format("{:.4g}", figure.value),
                        describe_interval(figure), fmt::format("{:.4g}", figure.before),
                        figure.what, figure.is_noisy ? " !" : "");
    is_any_noisy |= figure.is_noisy;
  }
  for (const Lack& lack : calibration.lacks) {
    text += fmt::format("{:>9} {:>20} {:>9}  {}: {}\n", "-", "", "", lack.what, lack.reason);
  }
  if (is_any_noisy) {
    text +=
        "\n! noisy, and not kept: the middle half of the rounds is wider than a quarter of the "
        "figure;\n  others run on this machine, or share its caches and memory from outside of "
        "it\n";
  }
  return text;
}

}  // namespace culprit
