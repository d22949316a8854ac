#pragma once

// CSV, one line at a time, fields quoted as in RFC 4180 where they must be. Names that a
// spreadsheet would run as formulas begin with an apostrophe.

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "print/values.h"

namespace culprit {

class CsvLine {
 public:
  explicit CsvLine(std::string& text) : text_(text) {}

  void add(std::string_view raw) {
    if (!first_) text_ += ',';
    first_ = false;
    const std::string clean = printable(raw);
    const std::string field = disarm_formula(clean);
    const bool is_disarmed = field.size() != clean.size();
    if (!is_disarmed && field.find_first_of(",\"") == std::string::npos) {
      text_ += field;
      return;
    }
    text_ += '"';
    for (const char c : field) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }
  void end() { text_ += '\n'; }

 private:
  std::string& text_;
  bool first_ = true;
};

/// Three columns for each event: "cpu-clock samples", "cpu-clock value", "cpu-clock error".
inline void add_value_headings(CsvLine& line, const std::vector<std::string>& event_names) {
  for (const std::string& event : event_names) {
    for (const char* part : {" samples", " value", " error"}) line.add(event + part);
  }
}

inline void add_values(CsvLine& line, const std::vector<Value>& values) {
  for (const Value& value : values) {
    line.add(std::to_string(value.samples));
    line.add(fmt::format("{}", value.value));
    line.add(fmt::format("{:.6g}", value.error));
  }
}

}  // namespace culprit
