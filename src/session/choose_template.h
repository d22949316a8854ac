#pragma once

#include <string>

#include "base/result.h"
#include "model/profile.h"
#include "templates/template.h"

namespace culprit {

/// The template for a profile: the one that `wanted` names (a name, a file), else that of the
/// simulated core, of the CPU it was recorded on, or one that covers time only.
/// Errors: there is no template of that name, or it cannot be read.
Result<Template> choose_template(const Profile& profile, const std::string& wanted);

}  // namespace culprit
