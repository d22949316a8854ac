#pragma once

// What both answers of this room are written with.

#include <string>
#include <vector>

#include "compare/compared_rows.h"
#include "print/text_table.h"

namespace culprit {

/// "=instructions", "~cycles".
std::string describe_measure(const Measure& measure);
/// "3.35 G", "1.15 s".
std::string format_amount(const Measure& measure, double value);
/// The columns of names, empty.
std::vector<TextColumn> name_columns(const std::vector<RowLevel>& by);
/// Appends a row's names, or a single word such as "total".
void add_names(std::vector<TextColumn>& columns, size_t first, const ComparedKey& key);

}  // namespace culprit
