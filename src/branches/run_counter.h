#pragma once

// Adds up straight runs over the instructions of one function: where a run begins its count
// is added, behind its last instruction it is taken away, and one pass sums them up. A run
// costs the same whether it has two instructions or two thousand.

#include <vector>

#include "branches/function_code.h"

namespace culprit {

class RunCounter {
 public:
  explicit RunCounter(const FunctionCode& code);

  /// `cycles`: of all `count` runs together, spread evenly over the instructions.
  void add(const FunctionCode::Run& run, double count, double cycles);

  struct Counts {
    double executions = 0;
    double cycles = 0;
    double weighted = 0;  // executions, each times the instructions of its run
    double blocks = 0;    // executions, each times the blocks that its run enters
  };
  /// Calls visit(index, Counts) for every instruction that ran. Call once, after all add().
  template <class Visit>
  void for_each(Visit visit) const {
    Counts now;
    for (size_t i = 0; i < code_.size(); ++i) {
      now.executions += steps_[i].executions;
      now.cycles += steps_[i].cycles;
      now.weighted += steps_[i].weighted;
      now.blocks += steps_[i].blocks;
      if (now.executions >= kHalf) visit(i, now);
    }
  }
  [[nodiscard]] const FunctionCode& code() const { return code_; }

 private:
  static constexpr double kHalf = 0.5;  // counts are whole: less is what rounding left

  const FunctionCode& code_;
  std::vector<Counts> steps_;            // what changes at each instruction
  std::vector<uint32_t> blocks_before_;  // block beginnings before each instruction
};

}  // namespace culprit
