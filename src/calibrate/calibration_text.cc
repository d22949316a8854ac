#include "calibrate/calibration_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "calibrate/selection.h"

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

std::string describe_point(const CurvePoint& point) {
  return fmt::format("{:>9} {:>20} {:>9}  loads over {} KiB, each after the other",
                     fmt::format("{:.4g}", point.cycles),
                     fmt::format("{:.4g} to {:.4g}", point.range.low, point.range.high), "",
                     point.bytes >> 10);
}

std::string describe_errors(const Calibration& calibration) {
  return fmt::format("median error {:.1f} % with the figures kept, {:.1f} % without",
                     100 * compute_kernel_error(calibration.kernels, &CheckedKernel::calibrated),
                     100 * compute_kernel_error(calibration.kernels, &CheckedKernel::shipped));
}

std::string print_kernels(const Calibration& calibration) {
  if (calibration.kernels.empty()) return "";
  std::string text = fmt::format("\n{:>9} {:>20} {:>9} {:>9}  {}\n", "measured", "middle half",
                                 "with", "without", "cycles a round of kernels for the check");
  for (const CheckedKernel& kernel : calibration.kernels) {
    text += fmt::format("{:>9} {:>20} {:>9} {:>9}  {}\n", fmt::format("{:.4g}", kernel.measured),
                        fmt::format("{:.4g} to {:.4g}", kernel.middle.low, kernel.middle.high),
                        fmt::format("{:.4g}", kernel.calibrated),
                        fmt::format("{:.4g}", kernel.shipped), kernel.name);
  }
  return text +
         fmt::format("{} kernels: {}\n", calibration.kernels.size(), describe_errors(calibration));
}

}  // namespace

std::string print_machine_file(const Calibration& calibration, const CalibrationHead& head) {
  std::string text = fmt::format(
      "# Measured by `culprit calibrate` in {:.0f} s: medians of {} rounds, with their 95 % "
      "intervals.\n"
      "# What is not here --machine host has from sysfs and from a shipped machine.\n"
      "# {} kernels that no figure is made of: {}.\n"
      "name = \"host\"\nsource = {}\ncalibrated_cpu = {}\ncalibrated_date = {}\n",
      calibration.seconds, calibration.rounds, calibration.kernels.size(),
      describe_errors(calibration),
      toml_text(fmt::format("culprit calibrate on {} at {:.2f} GHz", head.cpu_name,
                            calibration.hertz / 1e9)),
      toml_text(head.cpu), toml_text(head.date));
  std::string section;
  for (const Figure& figure : calibration.figures) {
    if (!figure.is_kept()) continue;
    if (figure.section != section) text += fmt::format("\n[{}]\n", figure.section);
    section = figure.section;
    text += fmt::format("{} = {}  # {}; {}\n", figure.key, figure.value, figure.what,
                        describe_interval(figure));
  }
  text += "\n# Not used:\n";
  for (const Figure& figure : calibration.figures) {
    if (figure.is_kept()) continue;
    text += fmt::format("# {}.{} = {} ({}): {}\n", figure.section, figure.key, figure.value,
                        describe_interval(figure), figure.dropped);
  }
  text += "# Cycles of a load, by bytes: median, and from the fastest round to the slowest.\n";
  for (const CurvePoint& point : calibration.curve) {
    text += fmt::format("# {} KiB: {:.4g} ({:.4g} to {:.4g})\n", point.bytes >> 10, point.cycles,
                        point.range.low, point.range.high);
  }
  return text;
}

std::string print_calibration(const Calibration& calibration) {
  std::string text = fmt::format(
      "clock {:.2f} GHz; {} rounds in {:.0f} s; cycles, KiB, bytes per "
      "cycle\n",
      calibration.hertz / 1e9, calibration.rounds, calibration.seconds);
  if (const auto& others = calibration.neighbours) {
    text += fmt::format("meanwhile others kept {:.1f} CPUs busy, and a hypervisor took {:.1f}\n",
                        others->busy_cpus, others->stolen_cpus);
  }
  text += fmt::format("\n{:>9} {:>20} {:>9}  {}\n", "measured", "95 %", "before", "what");
  for (const Figure& figure : calibration.figures) {
    text +=
        fmt::format("{:>9} {:>20} {:>9}  {}\n", fmt::format("{:.4g}", figure.value),
                    describe_interval(figure), fmt::format("{:.4g}", figure.before), figure.what);
    if (!figure.is_kept()) text += fmt::format("{:>42}not used: {}\n", "", figure.dropped);
  }
  for (const Lack& lack : calibration.lacks) {
    text += fmt::format("{:>9} {:>20} {:>9}  {}: {}\n", "-", "", "", lack.what, lack.reason);
  }
  text += fmt::format("\n{:>9} {:>20} {:>9}  {}\n", "cycles", "of all rounds", "", "what");
  // Twice the bytes each: those between are for the machine file.
  uint64_t next = 0;
  for (const CurvePoint& point : calibration.curve) {
    if (point.bytes < next) continue;
    next = 2 * point.bytes;
    text += describe_point(point) + "\n";
  }
  return text + print_kernels(calibration);
}

}  // namespace culprit
