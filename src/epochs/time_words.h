#pragma once

// Moments and lengths of time as people write them.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

/// "90s", "10m", "2h", "3d", "1w" -> [s]. A whole number and a unit.
Result<int64_t> parse_seconds(std::string_view text);

/// A moment, in the local time zone: "2026-11-25 10:00[:30]", "2026-11-25", "yesterday 10:00",
/// "today", "10:00" (of today), "now", "2h ago" or "2h" (before `now_s`), "@1795000000".
/// Units:  -> [s], CLOCK_REALTIME
Result<int64_t> parse_moment(std::string_view text, int64_t now_s);

/// "2026-11-25 10:00:30", local time.
std::string format_moment(int64_t moment_s);

}  // namespace culprit
