#pragma once

// A table of counts for people (text), spreadsheets (CSV) and programs (JSON:
// schema/stat.schema.json).

#include <string>

#include "counts/count_table.h"

namespace culprit {

std::string print_counts_text(const CountTable& table);

/// One line per event: value,unit,event,counted_percent,low95,high95,rate,rate_unit,thread,reason
/// with `separator` between fields; what is unknown is empty. No header: as `perf stat -x`.
std::string print_counts_csv(const CountTable& table, const std::string& separator);

/// `one_line`: as one of several documents, one a line.
std::string print_counts_json(const CountTable& table, bool one_line = false);

/// One interval's rows; `end_s`: its end, since the start.
std::string print_interval_text(const std::vector<CountRow>& rows, double end_s);
std::string print_interval_csv(const std::vector<CountRow>& rows, double end_s,
                               const std::string& separator);
/// One line: schema/stat_interval.schema.json.
std::string print_interval_json(const std::vector<CountRow>& rows, double end_s);

}  // namespace culprit
