#include "print/event_display.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "stats/counting.h"

namespace culprit {

char provenance_mark(Provenance provenance) {
  switch (provenance) {
    case Provenance::counted:
      return '=';
    case Provenance::sampled:
      return '~';
    case Provenance::modelled:
      return '?';
  }
  return '?';
}

const char* provenance_name(Provenance provenance) {
  switch (provenance) {
    case Provenance::counted:
      return "counted";
    case Provenance::sampled:
      return "sampled";
    case Provenance::modelled:
      return "modelled";
  }
  return "modelled";
}

const ClockCalibration* find_clock(const Machine& machine) {
  const bool usable =
      machine.clock && std::isfinite(machine.clock->hertz) && machine.clock->hertz > 0;
  return usable ? &*machine.clock : nullptr;
}

EventDisplay::EventDisplay(const Profile& profile, const Event& event)
    : mark_(provenance_mark(event.provenance)), word_(printable(profile.strings.text(event.name))) {
  if (event.unit != Unit::ns) return;
  const ClockCalibration* clock = find_clock(profile.machine);
  // Waits were counted: none of their time is cycles of this program.
  is_time_ = clock == nullptr || event.provenance == Provenance::counted;
  if (event.provenance != Provenance::counted) word_ = is_time_ ? "time" : "cycles";
  if (!is_time_) factor_ = clock->hertz / 1e9;
}

std::string EventDisplay::format(const Value& value) const {
  if (value.samples == 0 && value.value == 0) return "-";
  return is_time_ ? format_duration_ns(value.value) : format_si(value.value * factor_);
}

std::string EventDisplay::format_named(const Value& value) const {
  return is_time_ ? format(value) : format(value) + " " + word_;
}

std::string format_share(const Value& part, const Value& whole) {
  if ((part.samples == 0 && part.value == 0) || whole.value == 0) return "-";
  return fmt::format("{:.1f} %", 100 * part.value / whole.value);
}

std::string format_derived(const DerivedColumn& column, const std::vector<Value>& values) {
  const std::optional<Estimate> known = column.compute(values);
  if (!known) return "-";
  switch (column.form) {
    case DerivedColumn::Form::percent:
      return fmt::format("{:.2f} %", 100 * known->value);
    case DerivedColumn::Form::share:
      return known->value == 0 ? "-" : fmt::format("{:.1f} %", 100 * known->value);
    case DerivedColumn::Form::amount:
      return known->value == 0 ? "-" : format_si(known->value);
    case DerivedColumn::Form::ratio:
      break;
  }
  return known->value < 10 ? fmt::format("{:.2f}", known->value) : format_si(known->value);
}

namespace {

/// Of a part of a whole, which errs with its part: all of it is 100 % for certain.
double find_share_error(const Value& part, const Value& whole) {
  const double share = std::min(1.0, part.value / whole.value);
  const double of_part = part.error * part.error;
  const double of_rest = std::max(0.0, whole.error * whole.error - of_part);
  return std::sqrt((1 - share) * (1 - share) * of_part + share * share * of_rest) / whole.value;
}

}  // namespace

std::string format_half_width(const Event& event, const Value& part, const Value& whole) {
  if (part.samples == 0 && part.error > 0 && whole.value > 0) {
    return fmt::format("{:.1f}", 100 * std::min(1.0, kNormal95 * part.error / whole.value));
  }
  if (event.provenance != Provenance::sampled || part.samples == 0) return "";
  const double by_samples = estimate_share(part.samples, whole.samples).half_width();
  // Samples that are not independent have an error of their own, above that of their number.
  const double poisson = part.value / std::sqrt(static_cast<double>(part.samples));
  const bool has_own = whole.value > 0 && part.error > 1.001 * poisson;
  const double by_error = has_own ? std::min(1.0, kNormal95 * find_share_error(part, whole)) : 0;
  return fmt::format("{:.1f}", 100 * std::max(by_samples, by_error));
}

}  // namespace culprit
