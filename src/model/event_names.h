#pragma once

#include <string>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// The events' names, made distinct: JSON, CSV and other formats name columns by them.
std::vector<std::string> distinct_event_names(const Profile& profile);

/// "cycles", "ns", "events", "bytes".
const char* unit_name(Unit unit);

}  // namespace culprit
