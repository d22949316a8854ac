#pragma once

// A profile as a command names it: a file, or a stretch of time of an epoch database.

#include <string>

#include "base/result.h"
#include "base/text_style.h"
#include "cli/options/command_line.h"
#include "session/profile_view.h"

namespace culprit {

/// Where `culprit daemon` collects when nobody says where: CULPRIT_DB, /var/lib/culprit (root, or
/// if it is there), else in the user's own state.
std::string find_database(const std::string& wanted);

/// The file, or what `choice` chooses, of which a running daemon is asked for what is new.
Result<ProfileView> open_profile(const std::string& file, const EpochChoice& choice);

/// How to print what was opened so, with commands to type that open the same.
TextStyle style_of(size_t width, const std::string& file, const EpochChoice& choice);

}  // namespace culprit
