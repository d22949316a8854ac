#pragma once

// A word of RegionValue::part, beside those of region_words.h.

#include <string_view>

namespace culprit::region {

/// Of executions that had not ended when their process did: how many there are, in `executions`,
/// and the time that they took until then. It is no part of its own: the other parts have it.
inline constexpr std::string_view kUnfinished = "unfinished";

}  // namespace culprit::region
