#pragma once

// What `culprit why` names, beside the causes of stalls: whether they agree, and if not, why.
//
//     culprit why names load latency (firm). Its causes here (d2 d3 dm dx t l) are not behind any
//     other: up to 80.0 %.
//     culprit why names port saturation (candidate). Here data from memory can have had more: ...

#include <string>

#include "stalls/stall_summary.h"
#include "why/why.h"

namespace culprit {

/// A sentence or two, about the same part of one profile.
std::string compare_with_verdict(const WhyReport& why, const StallSummary& stalls);

}  // namespace culprit
