#pragma once

// What is known of each instruction of a function: measured cycles, executions, the best case of
// the code, and how many cycles each cause can have cost at most.
//
// Best case and upper bounds are of the software PMU's counts where there are some: what the model
// says that the code costs by itself, and counted events x the largest cost that is plausible on
// any machine (LargestCosts). Without a model, and where executions are known, the best case is to
// dispatch them, and each execution can cost the largest cost of each cause once. Without
// executions a cause is possible, without a bound, or it is ruled out by what the instruction is.
//
// Branch records count no executions, but say how many cycles a recorded one took. Executions are
// those by which the recorded cycles of a region are its measured ones:
//
//     loop: 99 rounds recorded, 594 cycles in them; 50,000 cycles measured
//       executions of each instruction   99 x 50,000 / 594 = 8,333
//
// Sampled events of the hardware are the better evidence of what they count: event_bounds.h.

#include <optional>
#include <string>
#include <vector>

#include "flow/executions.h"
#include "flow/function_flow.h"
#include "stalls/event_bounds.h"
#include "stalls/event_rules.h"
#include "stalls/stall_causes.h"
#include "templates/template.h"

namespace culprit {

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
  uint64_t execution_samples = 0;  // that these are known from; 0: counted
  StaticCycles best;               // of all executions
  CauseCycles most{};              // of all executions; infinity: possible, nothing counted
  CauseSources sources{};          // of `most`
  CauseCycles likely{};            // what a model says that each took; as `most` where it does not
};

/// How many cycles each cause can have had of some instructions, and by what that is known.
struct PartBounds {
  CauseCycles most{};
  CauseSources sources{};
  CauseCycles likely{};  // says which comes first where bounds are alike (order_causes)

  void take(size_t cause, const PartBounds& from) {
    most[cause] = from.most[cause];
    sources[cause] = from.sources[cause];
    likely[cause] = from.likely[cause];
  }
  void add(size_t cause, const PartBounds& more) {
    most[cause] += more.most[cause];
    sources[cause] |= more.sources[cause];
    likely[cause] += more.likely[cause];
  }
};

struct FunctionEvidence {
  std::vector<InstructionEvidence> instructions;
  std::vector<BoundedInstruction> bounded;  // parallel to them
  FunctionEvents events;
  bool has_best = false;  // there is a best case: of a model, or of known executions

  [[nodiscard]] PartBounds bound(const std::vector<size_t>& part) const;
};

/// Where time and executions are compared: in each innermost loop (its number), and in the rest of
/// the function.
std::optional<uint32_t> find_region(const FunctionGraph& function, uint32_t block);

/// The bounds of parts, of which events know better where they know anything.
PartBounds add_up_bounds(const std::vector<const InstructionEvidence*>& parts,
                         const EventBoundsByCause& events);

/// What a profile has of these.
class StallEvidence {
 public:
  /// `cpu`: whose events the profile has; one without a name where that is not known.
  /// Errors: a profile without measured time (simulated only, counts only)
  static Result<StallEvidence> make(const Profile& profile, const Template& cpu);

  [[nodiscard]] bool has_model() const { return !model_.empty(); }
  /// Whether there is a best case: of the model, or because executions are known in numbers.
  [[nodiscard]] bool has_best(ExecutionSource source) const;
  /// Executions in numbers, if there are any: sampled ones go before records without cycles.
  [[nodiscard]] ExecutionEvents find_executions(const FactsLookup& facts) const;
  [[nodiscard]] bool is_in_cycles() const { return is_in_cycles_; }
  [[nodiscard]] double dispatch_width() const { return dispatch_width_; }
  [[nodiscard]] const EventRules& rules() const { return rules_; }
  /// The evidence of each instruction of the function.
  /// `executions`: where those of `flow` are from
  [[nodiscard]] FunctionEvidence find(ImageId image, const FunctionFlow& flow,
                                      const ExecutionEvents& executions) const;
  /// Names of the events that bound something, as name_sources() wants them.
  [[nodiscard]] std::vector<std::string> event_names() const;
  /// Measured cycles of a value of the event of time.
  [[nodiscard]] double to_cycles(double value) const { return value * cycles_per_unit_; }
  [[nodiscard]] size_t time() const { return time_; }

 private:
  explicit StallEvidence(const Profile& profile) : profile_(&profile) {}
  void find_model_events();
  /// By block: what one recorded execution stands for. 1 where executions are no records.
  [[nodiscard]] std::vector<double> find_scales(
      ImageId image, const FunctionFlow& flow, const ExecutionEvents& executions,
      const std::vector<InstructionEvidence>& measured) const;

  /// What an event of the model adds to: the best case, or a cause.
  struct ModelEvent {
    size_t event = 0;
    double StaticCycles::* best = nullptr;
    CauseCycles InstructionEvidence::* cycles = nullptr;
    StallCause cause = StallCause::load_l2;
    double cost = 0;  // of one, to the cause
  };

  const Profile* profile_;
  size_t time_ = 0;
  double cycles_per_unit_ = 1;
  bool is_in_cycles_ = false;
  bool has_timed_branches_ = false;
  double dispatch_width_ = 0;
  std::vector<ModelEvent> model_;
  EventRules rules_;
};

}  // namespace culprit
