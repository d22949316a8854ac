#pragma once

// What each row of a flat report holds with all that was called from it: samples at whose stack
// it stands, each counted once however often it stands there (recursion).
//
//     stacks      main;f;g 3     main;f 1       self: f 1, g 3       inclusive: main 4, f 4, g 3

#include <functional>
#include <optional>
#include <vector>

#include "attribute/code_index.h"
#include "model/sums.h"
#include "report/row_key.h"

namespace culprit {

/// Whether rows by these levels can stand above others on a stack.
bool has_inclusive(const Profile& profile, const Levels& by);

/// The row of a key; none if it is not in the report.
using FindRow = std::function<std::optional<size_t>(const RowKey&)>;

/// Adds to `sums` what stacks hold of each row and event beyond the row's own samples (rows x
/// events; it grows with what `find_row` gives).
void add_callers(CodeIndex& code, const RowKeys& keys, const Levels& by, const FindRow& find_row,
                 std::vector<Sum>& sums);

/// Samples whose stack goes through addresses in no known mapping: frame pointers led nowhere.
uint64_t count_broken_stacks(const Profile& profile);

}  // namespace culprit
