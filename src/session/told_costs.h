#pragma once

#include "model/profile.h"

namespace culprit {

/// Whether reports of the profile can have the branches of the tree of cycles as columns
/// (Columns::hca), as far as its events tell.
bool has_costs(const Profile& profile);

}  // namespace culprit
