#pragma once

// What sampled events of the hardware leave possible at some instructions of a function.
//
// An event is sampled where control was when the counter overflowed, which is not where it was
// caused: behind it, or before it where it was caused out of order. So all samples within
// kSkidInstructions on any way of the function are taken for the instructions' own, and of their
// number what is the most that it can stand for:
//
//     no sample within reach, one for 200,000 events    at most 3.7 x 200,000 events (95 %)
//     873 samples for 2,080 events each                 at most 933 x 2,080

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "flow/function_flow.h"
#include "stalls/bound_sources.h"
#include "stalls/event_rules.h"

namespace culprit {

/// Into other functions it is not followed.
/// Source: measured, 86 to 99.6 % of the samples of one slow instruction are at the next one, the
///         rest at the end of the same or the next group that retires together, of 8 at most
inline constexpr size_t kSkidInstructions = 16;

struct EventBound {
  double most = 0;  // [cycles] of all executions
  BoundSources sources;
};
/// By cause; none: no event counts any way of it.
using EventBoundsByCause = std::array<std::optional<EventBound>, kStallCauses>;

/// What an instruction can do, and how often it did.
struct BoundedInstruction {
  CodeFeatures features;
  double executions = 0;  // at most; infinity: not known
};

/// Events of one kind, sampled.
struct SampledEvents {
  uint64_t samples = 0;
  double value = 0;     // [events]
  double variance = 0;  // [events^2]
  SampledEvents& operator+=(const SampledEvents& more) {
    samples += more.samples;
    value += more.value;
    variance += more.variance;
    return *this;
  }
};

/// The most that samples can stand for, of which each usually stands for `weight` events.
/// Units:  [events]
/// Errors: the upper end of the 95 % interval of a Poisson count (`stats/counting.h`)
double find_most_events(const SampledEvents& seen, double weight);
/// And the least: the lower end.
double find_least_events(const SampledEvents& seen, double weight);

class FunctionEvents {
 public:
  FunctionEvents() = default;
  /// `rules` and `flow` must outlive it.
  FunctionEvents(const EventRules& rules, const FunctionFlow& flow, bool is_of_kernel);

  /// By instruction of the function, and by event of the rules.
  void add(size_t instruction, size_t event, const SampledEvents& seen);

  /// Shape:  `instructions`: in ascending order; `all`: of each instruction of the function
  [[nodiscard]] EventBoundsByCause find_bounds(const std::vector<size_t>& instructions,
                                               const std::vector<BoundedInstruction>& all) const;
  /// What was sampled at them, without what is near; by event of the rules.
  [[nodiscard]] std::vector<SampledEvents> add_up(const std::vector<size_t>& instructions) const;

 private:
  [[nodiscard]] std::vector<SampledEvents> add_up_near(
      const std::vector<size_t>& instructions) const;
  [[nodiscard]] std::optional<EventBound> find_bound(const WayBound& bound,
                                                     const std::vector<SampledEvents>& near) const;

  const EventRules* rules_ = nullptr;
  bool is_of_kernel_ = false;
  std::vector<std::vector<uint32_t>> after_, before_;  // instructions, by instruction
  std::vector<std::vector<SampledEvents>> seen_;       // by event, by instruction
};

}  // namespace culprit
