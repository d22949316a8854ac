#pragma once

#include <string_view>

namespace culprit {

/// Path of the image (of unknown kind) of what sampling itself took, where it is known.
inline constexpr std::string_view kProfilerPath = "[profiler]";

/// Paths of images of unknown kind that say why nothing is known begin so:
/// "[unknown: nothing is mapped there]".
inline constexpr std::string_view kReasonPrefix = "[unknown: ";

}  // namespace culprit
