#include "report/measured_cycles.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "model/engine.h"
#include "print/event_display.h"
#include "report/variants.h"

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

/// Adds functions to a ModelFit.
class FitSum {
 public:
  void add(const Estimate& measured, uint64_t samples, const Estimate& modelled) {
    if (samples >= kLeastSamples) {
      note_difference(measured.value, modelled.value);
      fit_.judged += measured.value;
      if (fits(measured, modelled)) fit_.fitting += measured.value;
    } else {
      few_measured_ = few_measured_ + measured;
      few_samples_ += samples;
      few_modelled_ = few_modelled_ + modelled;
    }
  }
  ModelFit finish() {
    note_difference(few_measured_.value, few_modelled_.value);
    if (few_samples_ >= kLeastSamples) {
      fit_.together = few_measured_.value;
      fit_.together_fits = fits(few_measured_, few_modelled_);
    }
    return fit_;
  }

 private:
  static bool fits(const Estimate& measured, const Estimate& modelled) {
    const double chance = kNormal95 * std::hypot(measured.standard_error, modelled.standard_error);
    const double allowed = kLargestMisfit * measured.value + chance;
    return std::abs(modelled.value - measured.value) <= allowed;
  }
  void note_difference(double measured, double modelled) {
    fit_.missing += std::max(0.0, measured - modelled);
    fit_.excess += std::max(0.0, modelled - measured);
  }

  ModelFit fit_;
  Estimate few_measured_;
  uint64_t few_samples_ = 0;
  Estimate few_modelled_;
};

void note_other_code(const VariantRows& one, const TwoRuns& runs, OtherCode& other) {
  for (const ReportRow* const row : one.rows) {
    const uint64_t samples = row->values[runs.time].samples;
    if (row->values[runs.instructions].value > 0 || samples == 0) continue;
    if (one.family.empty()) {
      other.not_executed += samples;
      other.by_module[row->module.value_or("")] += samples;
    } else {
      other.variants += samples;
    }
  }
  if (!one.family.empty()) other.families.push_back(one.family);
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
  found.samples = table.shown[runs->time].samples;
  found.everything = estimate(table.totals[runs->time]);
  const auto modelled_of = [&](const std::vector<Value>& values) {
    const Value& cycles = values[*runs->cycles];
    return Estimate{cycles.value, cycles.error};
  };
  found.modelled = modelled_of(table.shown);
  const std::set<std::string> kernel = kernel_modules(profile);
  std::vector<const ReportRow*> functions;
  for (const ReportRow& row : table.rows) {
    if (row.module && kernel.contains(*row.module)) {
      found.kernel = found.kernel + estimate(row.values[runs->time]);
    } else {
      functions.push_back(&row);
    }
  }
  FitSum fit;
  for (const VariantRows& one : join_variants(functions, runs->time, runs->instructions)) {
    Estimate measured;
    uint64_t samples = 0;
    Estimate modelled;
    for (const ReportRow* const row : one.rows) {
      const Value& time = row->values[runs->time];
      measured = measured + estimate(time);
      samples += time.samples;
      modelled = modelled + modelled_of(row->values);
    }
    fit.add(measured, samples, modelled);
    note_other_code(one, *runs, found.other);
  }
  std::sort(found.other.families.begin(), found.other.families.end());
  found.fit = fit.finish();
  // The kernel's samples are some of those measured: what is left has the error of the others.
  const double variance = found.measured.standard_error * found.measured.standard_error -
                          found.kernel.standard_error * found.kernel.standard_error +
                          found.modelled.standard_error * found.modelled.standard_error;
  found.unexplained = {found.measured.value - found.kernel.value - found.modelled.value,
                       std::sqrt(std::max(0.0, variance))};
  return found;
}

}  // namespace culprit
