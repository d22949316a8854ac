#pragma once

// What `culprit why` names, beside the causes of stalls: whether they agree, and if not, why.
//
//     culprit why names load latency (firm). Its causes here (d2 d3 dm dx t l) are not behind any
//     other: up to 80.0 %.
//     culprit why names port saturation (candidate). Here data from memory can have had more: ...
//
// And the other way round: what a verdict that was not found would have heard from them.
//
//     its instructions tell more of what is unexplained: data from memory can have had 18 to 66 %

#include <string>

#include "stalls/stall_summary.h"
#include "why/why.h"

namespace culprit {

/// A sentence or two, about the same part of one profile.
std::string compare_with_verdict(const WhyReport& why, const StallSummary& stalls);

/// Whether much is unexplained where there is no verdict, so that stalls can say more.
bool lacks_explanation(const WhyReport& why);
/// What the stalls of instructions say where the model does not explain what was measured, of
/// everything or of a function; "" if no cause stands out.
std::string describe_unexplained(const StallSummary& stalls);

}  // namespace culprit
