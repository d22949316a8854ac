#include "cli/simulation_progress.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {

std::optional<RunForecast> forecast_run(const SimulateProgress& before, const SimulateProgress& now,
                                        const RunExpectation& expected) {
  const auto& [native_cycles, most_s] = expected;
  if (!(native_cycles > 0) || now.cycles < 0.01 * native_cycles) return std::nullopt;
  if (!(now.cycles > before.cycles)) return std::nullopt;
  // A model that is slower than the CPU would be done before the program is.
  const double done = std::min(0.99, now.cycles / native_cycles);
  const double s_per_cycle = (now.elapsed_s - before.elapsed_s) / (now.cycles - before.cycles);
  // A model whose cycles are more than the program's goes on as if each were less of it.
  const double whole = std::max(native_cycles, now.cycles);
  const RunForecast by_cycles{done, (1 - done) * whole * s_per_cycle};
  const bool is_likely = most_s == 0 || now.elapsed_s + by_cycles.left_s <= 2 * most_s;
  if (is_likely) return by_cycles;
  constexpr double kNearlyAll = 0.9;
  if (now.elapsed_s > kNearlyAll * most_s) return std::nullopt;
  return RunForecast{now.elapsed_s / most_s, most_s - now.elapsed_s};
}

const SimulateProgress& SimulationProgress::find_half(const SimulateProgress& now) {
  constexpr double kNoteEveryS = 1;
  while (earlier_.size() > 1 && earlier_[1].elapsed_s <= now.elapsed_s / 2) earlier_.pop_front();
  if (now.elapsed_s >= earlier_.back().elapsed_s + kNoteEveryS) earlier_.push_back(now);
  return earlier_.front();
}

void SimulationProgress::show(const SimulateProgress& now) {
  constexpr double kMessageEveryS = 10;
  const SimulateProgress& before = find_half(now);
  const bool is_due = !line_.is_on_terminal() && now.elapsed_s >= next_message_s_;
  if (!line_.is_on_terminal() && !is_due) return;
  std::string part;
  if (const auto forecast = forecast_run(before, now, expected_)) {
    part = fmt::format("{:.0f} %, about {} to go   ", 100 * forecast->done,
                       format_duration_ns(forecast->left_s * 1e9));
  }
  const std::string text =
      fmt::format("simulating {:6.1f} s   {}{} instructions   {} per second", now.elapsed_s, part,
                  format_thousands(now.instructions),
                  format_si(static_cast<double>(now.instructions) / now.elapsed_s));
  line_.show(text);
  if (!is_due) return;
  print_message(text);
  next_message_s_ = now.elapsed_s + kMessageEveryS;
}

}  // namespace culprit
