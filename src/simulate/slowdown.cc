#include "simulate/slowdown.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {

namespace {

/// The slow-down where threads run as they come.
Slowdown of_what_is_simulated(const SimulateOptions& options, bool has_machine) {
  if (!has_machine) return {5, 60};
  if (options.sample_sets > 1) {  // a program may end before the sample begins
    return options.sample_first == 0 ? Slowdown{10, 70} : Slowdown{10, 260};
  }
  if (options.windows.are_wanted()) return {8, 40};
  const bool has_locality = options.locality != simulate::Locality::off;
  if (options.cycles) return has_locality ? Slowdown{100, 330} : Slowdown{80, 240};
  return has_locality ? Slowdown{55, 260} : Slowdown{40, 130};
}

}  // namespace

Slowdown expect_slowdown(const SimulateOptions& options, bool has_machine, bool has_threads) {
  // What turns cost depends on how often threads meet: nothing where one runs, most where they
  // hand one line, or one lock, to and fro.
  constexpr int kMostByTurns = 10;
  Slowdown slowdown = of_what_is_simulated(options, has_machine);
  if (options.deterministic && has_threads) slowdown.most *= kMostByTurns;
  return slowdown;
}

std::string advise_windows(const SimulateOptions& options, bool has_machine, double cpu_ns,
                           double most_ns) {
  constexpr double kLongNs = 60e9;
  const bool may_have_windows =
      !options.windows.are_wanted() && has_machine && options.sample_sets == 1 &&
      !options.objects && !options.deterministic && options.locality == simulate::Locality::off;
  if (most_ns < kLongNs || !may_have_windows) return "";
  SimulateOptions in_windows = options;
  in_windows.windows.per_million = 1;  // any
  const Slowdown slowdown = of_what_is_simulated(in_windows, has_machine);
  return fmt::format("; --windows auto, which estimates: {} to {}",
                     format_duration_ns(slowdown.least * cpu_ns),
                     format_duration_ns(slowdown.most * cpu_ns));
}

}  // namespace culprit
