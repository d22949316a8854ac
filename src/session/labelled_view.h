#pragma once

#include <string>

#include "base/result.h"
#include "session/profile_view.h"

namespace culprit {

/// What one run of a profile that holds several left ("old 3", labelled_runs.h), with the facts of
/// the whole file.
/// Errors: the file cannot be read, or has no such run
Result<ProfileView> open_labelled_run(const std::string& path, const std::string& name);

}  // namespace culprit
