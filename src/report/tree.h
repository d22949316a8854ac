#pragma once

// Call trees, from the stacks of a profile.

#include "attribute/code_index.h"
#include "base/result.h"
#include "report/report.h"
#include "report/row_order.h"

namespace culprit {

/// Fills rows, rest and shown of `table` by its options. Row values include what is
/// below them, `self` does not: the selfs of all rows and the rest add up to `shown`.
/// Samples without a stack are a row of their own.
Result<void> make_tree(CodeIndex& code, const RowOrder& before, ReportTable& table);

}  // namespace culprit
