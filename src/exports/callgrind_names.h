#pragma once

// Names as callgrind's format writes them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// Name compression: "(1) name" at first, then "(1)". "???" is callgrind's word for
/// what has no name.
class CompressedNames {
 public:
  std::string name(std::string_view text);

 private:
  std::map<std::string, size_t> ids_;
};

/// The events' names as columns: letters, digits and '_' only, distinct.
std::vector<std::string> callgrind_event_names(const Profile& profile);

}  // namespace culprit
