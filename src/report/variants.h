#pragma once

// Rows of one function whose variants (variant_family.h) two runs chose differently.

#include <string>
#include <vector>

#include "attribute/variant_family.h"
#include "report/report.h"

namespace culprit {

/// Rows of a table that are by module and function, of a profile of both runs.
struct VariantRows {
  std::vector<const ReportRow*> rows;  // one function, or variants of one in one module
  std::string family;  // of several variants of which each run chose others; else ""
};

/// Takes rows together that are variants of one function in one module, if the native run has
/// samples in one that the simulated run did not execute, and that one executed another. All
/// others stay by themselves.
/// Shape:  each row is in one of them, in the order of their first rows
std::vector<VariantRows> join_variants(const std::vector<const ReportRow*>& rows, size_t time,
                                       size_t instructions);

}  // namespace culprit
