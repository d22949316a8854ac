#pragma once

// Two cells side by side: the costs of both by event name and by line, and how much more A has.

#include <string>
#include <string_view>
#include <vector>

#include "scan/causes.h"

namespace culprit::scan {

/// What it is made of must outlive it.
class Sides {
 public:
  Sides(const Profile& profile, const Side& a, const Side& b)
      : profile_(profile), costs_{a.costs, b.costs}, lines_{a.lines, b.lines} {}

  [[nodiscard]] double a(std::string_view event) const { return cost(0, event).value; }
  [[nodiscard]] double b(std::string_view event) const { return cost(1, event).value; }
  /// How much more A has.
  [[nodiscard]] double excess(std::string_view event) const { return a(event) - b(event); }
  /// The standard error of that.
  [[nodiscard]] double error_of_excess(std::string_view event) const;
  [[nodiscard]] bool has(std::string_view event) const {
    return find_event(profile_, event) != SIZE_MAX;
  }

  /// The line where events differ most, taken together; "" if there is none.
  [[nodiscard]] std::string worst_line(const std::vector<std::string_view>& events) const;

  /// How often branches that close loops were executed. One that is never taken goes to code for
  /// errors, which compilers put before a function as well as behind it.
  [[nodiscard]] double loop_rounds(int side) const;

  /// Functions that one side executes each iteration and the other does not.
  [[nodiscard]] std::vector<std::string> only_in(int side) const;
  [[nodiscard]] double instructions_of(int side, const std::vector<std::string>& functions) const;

 private:
  /// Nothing of an event that was not counted.
  [[nodiscard]] Estimate cost(int side, std::string_view event) const;

  const Profile& profile_;
  const CellCosts* costs_[2];
  const PlaceTable* lines_[2];
};

}  // namespace culprit::scan
