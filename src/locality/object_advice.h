#pragma once

// Advice on data, wherever it is accessed: layout, blocks, pages, data that nobody reads.

#include "locality/advice_context.h"

namespace culprit {

/// Splitting and reordering structs, pools, huge pages, stores that nobody reads; of a profile
/// without data objects the layout of what loops access.
void advise_on_objects(AdviceContext& context);

}  // namespace culprit
