#pragma once

// Columns of a report by data object: the events that objects have. What most reports show first,
// instructions or time, is of no object.

#include "report/report.h"
#include "report/row_order.h"

namespace culprit {

/// The order by what objects have most of, unless another is asked for; and what text shows.
/// Nothing for other reports, and for profiles that have no objects.
/// Errors: none of the profile's counts is of an object
Result<void> add_object_columns(const Profile& profile, ReportTable& table, RowOrder& order);

}  // namespace culprit
