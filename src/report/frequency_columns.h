#pragma once

// `--columns frequency`: what a table shows of a profile with_flow_events().
//
//     =executed  =share    =rounds  =entered  =rounds/entry  ~CPI  loop       function
//        200 M   40.1 %    20.0 M         1         20.0 M  1.77  1380-139e  divs

#include "base/result.h"
#include "model/profile.h"
#include "report/report.h"

namespace culprit {

/// Chooses the columns of `table`, whose values are filled in, by its levels.
/// Errors: a tree was asked for.
Result<void> add_frequency_columns(const Profile& profile, ReportTable& table);

}  // namespace culprit
