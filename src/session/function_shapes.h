#pragma once

// The shapes of functions' code in an open profile (flow/code_shape.h).

#include <set>
#include <string>

#include "compare/function_names.h"
#include "session/profile_view.h"

namespace culprit {

/// The build-ids of a profile's images.
std::set<std::string> find_builds(const Profile& profile);

/// Shapes that no other function of the profile has, of those functions that are named, without
/// clone suffixes.
/// `known_builds`: images whose code both sides have, so that nothing was renamed there.
FunctionShapes find_function_shapes(const ProfileView& view, const std::set<std::string>& names,
                                    const std::set<std::string>& known_builds);

}  // namespace culprit
