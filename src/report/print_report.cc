#include "report/report.h"
#include "report/report_formats.h"

namespace culprit {

std::string print_report(const Profile& profile, const ReportTable& table, Format format,
                         const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_report_text(profile, table, style);
    case Format::json:
      return print_report_json(profile, table);
    case Format::csv:
      return print_report_csv(table);
  }
  return "";
}

}  // namespace culprit
