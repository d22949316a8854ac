#pragma once

// Expressions over the costs of a cell: "sim:cycles / instructions", "L1-dcache-loads - 2*DIM".
//
// Names of events hold what are operators elsewhere (`:` `-` `.`): of the names that are known the
// longest that fits is meant. A name in quotes is that name alone. There are + - * / ( ), numbers,
// and min(a, b), max(a, b), abs(a), log2(a), sqrt(a).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stats/estimate.h"

namespace culprit::scan {

/// The value of a name; nullopt: there is none at this cell.
using Lookup = std::function<std::optional<Estimate>(const std::string& name)>;

class Expression {
 public:
  /// `names`: all that may stand in it, in any order.
  /// Errors: what is wrong, and the nearest name
  static Result<Expression> parse(std::string_view text, const std::vector<std::string>& names);

  /// nullopt where a name has no value, or a divisor is 0.
  /// Errors: first-order propagation, of names as if they were independent
  [[nodiscard]] std::optional<Estimate> evaluate(const Lookup& lookup) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names in it, as often as they stand there.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  enum class Kind : uint8_t {
    number,
    name,
    negate,
    add,
    subtract,
    multiply,
    divide,
    min,
    max,
    abs,
    log2,
    sqrt
  };
  struct Node {
    Kind kind = Kind::number;
    double number = 0;
    std::string name = {};
    std::unique_ptr<Node> left = nullptr;
    std::unique_ptr<Node> right = nullptr;
  };
  class Parser;
  static std::optional<Estimate> evaluate(const Node& node, const Lookup& lookup);

  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
};

}  // namespace culprit::scan
