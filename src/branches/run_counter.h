#pragma once

// Adds up straight runs over the instructions of one function: where a run begins its count
// is added, behind its last instruction it is taken away, and one pass over what ran sums
// them up. A run costs the same whether it has two instructions or two thousand, and code
// that did not run costs nothing.

#include <cstddef>
#include <iterator>
#include <map>

#include "branches/function_code.h"

namespace culprit {

class RunCounter {
 public:
  /// `code` must outlive it.
  explicit RunCounter(const FunctionCode& code) : code_(code) {}

  /// `cycles`: of all `count` runs together, spread evenly over the instructions.
  void add(const FunctionCode::Run& run, double count, double cycles);

  struct Counts {
    double executions = 0;
    double cycles = 0;
    double weighted = 0;  // executions, each times the instructions of its run
    double blocks = 0;    // executions, each times the blocks that its run enters

    void add(const Counts& other, double sign);
  };
  /// Calls visit(index, Counts) for every instruction that ran, in order of address.
  template <class Visit>
  void for_each(Visit visit) const {
    constexpr double kHalf = 0.5;  // counts are whole: less is what rounding left
    Counts now;
    for (auto at = steps_.begin(); at != steps_.end(); ++at) {
      now.add(at->second, 1);
      const auto next = std::next(at);
      if (now.executions < kHalf || next == steps_.end()) continue;
      for (size_t i = at->first; i < next->first; ++i) visit(i, now);
    }
  }
  [[nodiscard]] const FunctionCode& code() const { return code_; }

 private:
  const FunctionCode& code_;
  std::map<size_t, Counts> steps_;  // what changes at an instruction; the last one ends all runs
};

}  // namespace culprit
