#pragma once

// `culprit annotate --columns locality`: what became of the lines that each instruction and each
// source line brought into L1D, beside the counts.
//
//      ~cycles   ~share^   L1miss  spatial temporal   addr  instruction
//        800 M    61.5 %  100.0 %   12.5 %     0.00   1210  addsd (%rax),%xmm0

#include "annotate/annotation.h"
#include "attribute/attribution.h"
#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// Errors: as find_caches()
Result<void> add_locality_columns(const Profile& profile, const FactsLookup& facts,
                                  Annotation& annotation);

}  // namespace culprit
