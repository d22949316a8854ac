#pragma once

// What is known of each instruction of a function: measured cycles, executions, the best case of
// the code, and how many cycles each cause can have cost at most.
//
// Best case and upper bounds are of the software PMU's counts where there are some: what the model
// says that the code costs by itself, and counted events x the largest cost that is plausible on
// any machine (LargestCosts). Without them a cause is possible, without a bound, or it is ruled out
// by what the instruction is.

#include <optional>
#include <vector>

#include "flow/function_flow.h"
#include "stalls/code_features.h"
#include "stalls/stall_causes.h"

namespace culprit {

/// The largest plausible costs of an event. [cycles]
/// Source: nothing was measured for them: they are round figures above what such events are known
///         to cost on servers under load. Upper bounds rest on them, and so are no estimates
struct LargestCosts {
  static constexpr double kL2 = 30;
  static constexpr double kL3 = 250;
  static constexpr double kMemory = 1000;
  static constexpr double kOtherCore = 600;
  static constexpr double kSecondTlb = 15;
  static constexpr double kWalk = 400;     // of nested tables, with misses of its own
  static constexpr double kRedirect = 40;  // of a mispredicted branch, beside its operands
  static constexpr double kCodeL2 = 60;
  static constexpr double kLine = 100;  // to move a line at the bandwidth that one core has
  static constexpr double kAtomic = 100;
  static constexpr double kMicrocode = 200;
  /// A modelled cost of the code itself may be too small by this part of it.
  static constexpr double kModelError = 0.5;
};

struct StaticCycles {
  double execution = 0;  // to dispatch its micro-operations
  double port = 0;
  double chain = 0;  // operands of operations, not of loads that missed
  double divider = 0;
  double other = 0;  // microcode, calls, serializing instructions
  [[nodiscard]] double total() const { return execution + port + chain + divider + other; }
  StaticCycles& operator+=(const StaticCycles& more);
};

struct InstructionEvidence {
  double cycles = 0;  // measured
  uint64_t samples = 0;
  double executions = 0;
  StaticCycles best;   // of all executions
  CauseCycles most{};  // of all executions; infinity: possible, nothing counted
};

/// What a profile has of these.
class StallEvidence {
 public:
  /// Errors: a profile without measured time (simulated only, counts only)
  static Result<StallEvidence> make(const Profile& profile);

  [[nodiscard]] bool has_model() const { return !model_.empty(); }
  [[nodiscard]] bool is_in_cycles() const { return is_in_cycles_; }
  /// The evidence of each instruction of the function.
  [[nodiscard]] std::vector<InstructionEvidence> find(ImageId image,
                                                      const FunctionFlow& flow) const;
  /// Measured cycles of a value of the event of time.
  [[nodiscard]] double to_cycles(double value) const { return value * cycles_per_unit_; }
  [[nodiscard]] size_t time() const { return time_; }

 private:
  explicit StallEvidence(const Profile& profile) : profile_(&profile) {}
  void find_model_events();

  /// What an event of the model adds to.
  struct ModelEvent {
    size_t event = 0;
    double StaticCycles::* best = nullptr;
    std::optional<StallCause> cause;
    double cost = 0;  // of one, to the cause
  };

  const Profile* profile_;
  size_t time_ = 0;
  double cycles_per_unit_ = 1;
  bool is_in_cycles_ = false;
  std::vector<ModelEvent> model_;
};

}  // namespace culprit
