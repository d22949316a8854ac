#pragma once

// Where no event of a CPU tells a branch, the static pipeline model may: rows and functions for
// its events (model/static_events.h), put into a template.

#include <string>

#include "model/profile.h"
#include "templates/template.h"

namespace culprit {

/// Shares of all executed instructions [0 to 1]: those whose costs are known, and those in loops
/// whose chains were followed.
struct StaticReach {
  double modelled = 0;
  double looped = 0;
};

/// Whether a template has use for the model: a scheduling model is named, and a branch that it
/// tells is not known by events of this profile.
bool needs_static_model(const Template& cpu, const Profile& profile);

/// Port saturation where no event of it was counted; chains of dependent instructions where the
/// template does not cover all of instruction serialization; calls where no event counts them.
Template with_static_rows(Template cpu, const Profile& profile, const StaticReach& reach);

}  // namespace culprit
