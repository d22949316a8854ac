#pragma once

#include <string>

namespace culprit {

/// The day of now in UTC: "2026-11-25".
std::string format_today();

}  // namespace culprit
