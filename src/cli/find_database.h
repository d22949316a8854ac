#pragma once

#include <string>

namespace culprit {

/// Where `culprit daemon` collects when nobody says where: CULPRIT_DB, /var/lib/culprit (root, or
/// if it is there), else in the user's own state.
std::string find_database(const std::string& wanted);

}  // namespace culprit
