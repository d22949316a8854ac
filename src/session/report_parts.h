#pragma once

#include "report/report.h"
#include "store/fact_parts.h"

namespace culprit {

/// The parts of facts that a report needs: the others are not read.
FactParts needed_parts(const ReportOptions& options);

/// Whether its rows, or those that it leaves out, are of data objects.
bool asks_for_objects(const ReportOptions& options);

}  // namespace culprit
