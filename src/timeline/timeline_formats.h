#pragma once

// The formats of print_timeline().

#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace culprit {

std::string print_timeline_text(const Profile& profile, const Timeline& timeline,
                                const TextStyle& style);
std::string print_timeline_json(const Profile& profile, const Timeline& timeline);
std::string print_timeline_csv(const Timeline& timeline);

/// "user", "kernel", "guest user", "guest kernel", "hypervisor"; "" where it is not known.
std::string_view mode_word(Mode mode);

}  // namespace culprit
