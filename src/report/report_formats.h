#pragma once

// The three forms of a ReportTable.

#include <string>

#include "report/report.h"

namespace culprit {

std::string print_report_text(const Profile& profile, const ReportTable& table,
                              const TextStyle& style);
std::string print_report_json(const Profile& profile, const ReportTable& table);
std::string print_report_csv(const ReportTable& table);

}  // namespace culprit
