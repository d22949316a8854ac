#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/context_filter.h"
#include "session/profile_view.h"

namespace culprit {

/// What one run of a profile that holds several left ("old 3", labelled_runs.h), with the facts of
/// the whole file and the counts that the filters let through.
/// Errors: the file cannot be read, or has no such run
Result<ProfileView> open_labelled_run(const std::string& path, const std::string& name,
                                      const std::vector<ContextFilter>& filters);

}  // namespace culprit
