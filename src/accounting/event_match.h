#pragma once

// Which events of a profile are which rows of a template, and what a part of the profile
// counted of each row.
//
//     const EventMatch match = match_events(profile, cpu);
//     const RowAmounts amounts = match.amounts(values);   // values: parallel to profile.events

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/profile.h"
#include "stats/estimate.h"
#include "templates/template.h"

namespace culprit {

/// What was counted of one row's event.
struct RowAmount {
  Estimate events;  // in the event's unit: events, or cycles
  Provenance provenance = Provenance::counted;
};

/// Parallel to Template::rows; nothing: not measured.
using RowAmounts = std::vector<std::optional<RowAmount>>;

class EventMatch {
 public:
  /// One event of the profile that belongs to a row.
  struct Part {
    size_t event = 0;
    double factor = 1;          // to the row's unit, and for the time it had no counter
    double relative_error = 0;  // standard error of that factor, of 1
  };

  /// `values`: of the profile's events, as a report has them (in units, with standard errors).
  [[nodiscard]] RowAmounts amounts(std::span<const Estimate> values) const;

  [[nodiscard]] bool is_measured(size_t row) const { return !rows_[row].empty(); }
  [[nodiscard]] const std::vector<Part>& parts(size_t row) const { return rows_[row]; }
  /// Events of the profile that the template does not name.
  [[nodiscard]] const std::vector<size_t>& others() const { return others_; }
  /// What weakens the match: events that were not corrected for sharing counters, ...
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  friend EventMatch match_events(const Profile& profile, const Template& cpu);
  std::vector<std::vector<Part>> rows_;
  std::vector<Provenance> provenance_;  // of the profile's events
  std::vector<size_t> others_;
  std::vector<std::string> remarks_;
};

/// Events match by raw code where the profile has it, else by name ("mem_load_retired.l2_hit" is
/// "MEM_LOAD_RETIRED:L2_HIT"); the kernel's generic `cycles` and `instructions`, and time where
/// the clock is known, are the template's first rows of that kind. Several events of one row
/// (of user and of kernel code) are added; an event that was collected twice counts once.
EventMatch match_events(const Profile& profile, const Template& cpu);

}  // namespace culprit
