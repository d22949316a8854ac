#pragma once

// What `culprit why` names, beside the causes of stalls: whether they agree, and if not, why.
//
//     culprit why names load latency (firm): its causes (d2 d3 dm dx t l) have most here, too.
//     culprit why names port saturation (candidate): the model's cycles say so. Here ...

#include <string>

#include "stalls/stall_summary.h"
#include "why/why.h"

namespace culprit {

/// A sentence or two, about the same part of one profile.
std::string compare_with_verdict(const WhyReport& why, const StallSummary& stalls);

}  // namespace culprit
