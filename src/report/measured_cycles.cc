#include "report/measured_cycles.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "model/engine.h"
#include "print/event_display.h"

namespace culprit {
namespace {

std::set<std::string> kernel_modules(const Profile& profile) {
  std::set<std::string> names;
  for (const Image& image : profile.images) {
    if (image.kind == ImageKind::kernel || image.kind == ImageKind::module) {
      names.insert(profile.strings.text(image.path));
    }
  }
  return names;
}

}  // namespace

std::optional<TwoRuns> find_two_runs(const Profile& profile) {
  const ClockCalibration* const clock = find_clock(profile.machine);
  if (clock == nullptr) return std::nullopt;
  std::optional<size_t> time;
  std::optional<size_t> instructions;
  std::optional<size_t> cycles;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Event& what = profile.events[event];
    const std::string& name = profile.strings.text(what.name);
    const bool is_simulated = engine_of(profile, what) == Engine::simulate;
    if (!time && what.unit == Unit::ns && what.provenance == Provenance::sampled) time = event;
    if (is_simulated && name == "instructions") instructions = event;
    if (is_simulated && name == "sim:cycles") cycles = event;
  }
  if (!time || !instructions) return std::nullopt;
  return TwoRuns{*time, clock->hertz / 1e9, *instructions, cycles};
}

std::optional<Estimate> estimate_cpi(const TwoRuns& runs, const std::vector<Value>& values) {
  const Value& time = values[runs.time];
  const Value& executed = values[runs.instructions];
  if (time.samples == 0 || executed.value == 0) return std::nullopt;
  return divide(Estimate{time.value, time.error} * runs.cycles_per_ns,
                {executed.value, executed.error});
}

std::optional<MeasuredCycles> find_measured_cycles(const Profile& profile,
                                                   const ReportTable& table) {
  const std::optional<TwoRuns> runs = find_two_runs(profile);
  if (!runs || !runs->cycles) return std::nullopt;
  const auto estimate = [&](const Value& time) {
    return Estimate{time.value, time.error} * runs->cycles_per_ns;
  };
  MeasuredCycles found;
  found.measured = estimate(table.shown[runs->time]);
  found.modelled = table.shown[*runs->cycles].value;
  const std::set<std::string> kernel = kernel_modules(profile);
  for (const ReportRow& row : table.rows) {
    if (!row.module || !kernel.contains(*row.module)) continue;
    found.kernel = found.kernel + estimate(row.values[runs->time]);
  }
  // The kernel's samples are some of those measured: what is left has the error of the others.
  const double variance = found.measured.standard_error * found.measured.standard_error -
                          found.kernel.standard_error * found.kernel.standard_error;
  found.unexplained = {found.measured.value - found.kernel.value - found.modelled,
                       std::sqrt(std::max(0.0, variance))};
  return found;
}

}  // namespace culprit
