#pragma once

// Where most of an event is: the first row that a report by function or by line would have, for
// any number of events, without making a report for each. What is inlined from headers of a system
// (std::vector, std::atomic) counts as the program's code that it is inlined into, whose line is
// the one that uses it, unless the filters name lines. Filters by function leave all code of it,
// with what is inlined into it.
//
//     LargestRows rows(profile, facts, filters);
//     rows.find_function(event)     grind, 62 % of the event
//     rows.find_line(event)         grind.c:9, 70 %: many functions may have a copy of it

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace culprit {

/// A row of a report by function or by line.
struct LargestRow {
  std::string function;  // by line: "" where the line is known
  bool inlined = false;
  std::string file;
  uint32_t line = 0;  // 0: unknown
  double share = 0;   // of what the filters leave of the event [0 to 1]
};

/// The names of such a row, which live as long as the rows.
struct LargestRowNames {
  std::string_view function;
  bool inlined = false;
  std::string_view file;
  uint32_t line = 0;
};

/// All of a function, or of a line: its values are parallel to the profile's events.
using VisitSums = std::function<void(const LargestRowNames&, std::span<const Value>)>;

class LargestRows {
 public:
  enum class Of : uint8_t { functions, functions_and_lines };

  /// Both must outlive it. Of functions alone it takes less time, and has no lines.
  LargestRows(const Profile& profile, const FactsLookup& facts, const std::vector<Filter>& filters,
              Of of = Of::functions_and_lines);
  ~LargestRows();

  /// nullopt: nothing is left of the event.
  [[nodiscard]] std::optional<LargestRow> find_function(size_t event) const;
  [[nodiscard]] std::optional<LargestRow> find_line(size_t event) const;
  /// The line with most of it within code of that name; its share is of the function.
  [[nodiscard]] std::optional<LargestRow> find_line_within(const std::string& function,
                                                           size_t event) const;

  /// Visits every row of what the filters leave, in no order. By line, code without one is by
  /// function.
  void sum_functions(const VisitSums& visit) const;
  void sum_lines(const VisitSums& visit) const;

  /// What `culprit annotate` opens the function by; "" for code without a name.
  [[nodiscard]] std::string make_words(const LargestRowNames& function) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace culprit
