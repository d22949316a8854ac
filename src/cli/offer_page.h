#pragma once

#include <string>

#include "base/result.h"

namespace culprit {

/// Prints below a report's last line how to see the profile in a browser, if this build has the
/// page. `file`: the profile.
/// Errors: as write_output()
Result<void> offer_page(const std::string& file);

}  // namespace culprit
