#pragma once

// The tree of cycles as a table for people:
//
//       cycles    share   +-       what                       events
//       4.07 G  100.0 %     ~  unhalted
//       3.15 G   77.4 %          stalled
//       3.05 G   74.9 %     ?      load latency   <== culprit
//       1.06 G   26.0 %     ?        DRAM                     =  14.9 M x 225
//            -        -            multi-thread collisions: not covered

#include <string>
#include <vector>

#include "print/text_table.h"
#include "why/why.h"

namespace culprit {

/// What costs less than this of everything is left out, unless all is asked for.
inline constexpr double kLeastShownShare = 0.005;

std::vector<TextColumn> make_why_table(const Profile& profile, const WhyReport& why);

/// Labels of the branches that are left out for costing nothing.
std::vector<std::string> list_next_to_nothing(const Profile& profile, const WhyReport& why);

/// Whether no branch has cycles, all for one reason: then one sentence says so.
bool is_bare(const WhyReport& why);

}  // namespace culprit
