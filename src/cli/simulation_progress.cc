#include "cli/simulation_progress.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {

std::optional<RunForecast> forecast_run(const SimulateProgress& now, double native_cycles) {
  if (!(native_cycles > 0) || now.cycles < 0.01 * native_cycles) return std::nullopt;
  // A model that is slower than the CPU would be done before the program is.
  const double done = std::min(0.99, now.cycles / native_cycles);
  return RunForecast{done, now.elapsed_s * (1 - done) / done};
}

void SimulationProgress::show(const SimulateProgress& now) {
  constexpr double kMessageEveryS = 10;
  const bool is_due = !line_.is_on_terminal() && now.elapsed_s >= next_message_s_;
  if (!line_.is_on_terminal() && !is_due) return;
  std::string part;
  if (const auto forecast = forecast_run(now, native_cycles_)) {
    part = fmt::format("{:.0f} %, about {} to go   ", 100 * forecast->done,
                       format_duration_ns(forecast->left_s * 1e9));
  }
  const std::string text =
      fmt::format("simulating {:6.1f} s   {}{} instructions   {:.0f} million per second",
                  now.elapsed_s, part, format_thousands(now.instructions),
                  static_cast<double>(now.instructions) / now.elapsed_s * 1e-6);
  line_.show(text);
  if (!is_due) return;
  print_message(text);
  next_message_s_ = now.elapsed_s + kMessageEveryS;
}

}  // namespace culprit
