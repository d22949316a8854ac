#pragma once

// How often the blocks, edges and loops of a function ran, from the best that a profile has.
//
//     FlowFinder finder(code, find_executions(profile, facts));
//     const std::optional<FunctionFlow> flow = finder.find(image, row);
//     flow->blocks[3].runs                     // 100 M, its error, and how far to believe it
//
// Counted executions are what was counted: where they do not add up (a signal, a call that did not
// come back, the end of the program), that is so. Sampled ones are made to fit the graph. From
// time alone a block's runs are known as a ratio to the block that ran most.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "flow/circulation.h"
#include "flow/code_flow.h"
#include "flow/executions.h"
#include "stats/estimate.h"

namespace culprit {

enum class Confidence : uint8_t { low, medium, high };
const char* word_of(Confidence confidence);

struct FlowCount {
  Estimate runs;  // [executions], or [ratio to the block that ran most] from time alone
  Confidence confidence = Confidence::low;
};

/// What was seen at the instructions of a function.
struct SeenInstruction {
  double value = 0;      // executions, sampled executions, or time
  double variance = 0;   // of value
  uint64_t samples = 0;  // 0: counted
};

struct FunctionFlow {
  const FunctionGraph* function = nullptr;
  ExecutionSource source = ExecutionSource::none;
  std::vector<std::optional<FlowCount>> blocks;
  std::vector<std::optional<FlowCount>> edges;
  std::vector<double> instructions;  // executions of each; empty from time alone

  /// Executions of the block `runs` of which are known, 0 of others.
  [[nodiscard]] double runs(size_t block) const {
    return blocks[block] ? blocks[block]->runs.value : 0;
  }
};

/// Shape:  `seen`: one per instruction of the function
/// Units:  [executions], [sampled executions] or time -> [executions], or ratios (see above)
/// Errors: counted: none. Sampled: standard error of the samples of the block's frequency class;
///         flows fit them with the least error. Time: see FlowCount::confidence
FunctionFlow make_function_flow(const FunctionGraph& function, ExecutionSource source,
                                std::span<const SeenInstruction> seen,
                                std::span<const RecordedBranch> taken, bool has_all_branches);

/// How often control came into a loop from outside, by all edges that are known, and from how many
/// of its blocks it left.
struct LoopBounds {
  Estimate entries{};
  uint32_t ways_out = 0;
};
/// By loop. Units:  as the flow's
std::vector<LoopBounds> find_loop_bounds(const FunctionFlow& flow);

class FlowFinder {
 public:
  /// `flow` must outlive it, and so must what `events` points to.
  FlowFinder(CodeFlow& flow, ExecutionEvents events) : flow_(flow), events_(std::move(events)) {}

  [[nodiscard]] ExecutionSource source() const { return events_.source; }
  [[nodiscard]] const ExecutionEvents& events() const { return events_; }
  [[nodiscard]] CodeFlow& code_flow() { return flow_; }
  /// `function` is a row of the image's functions. Nothing, if its code is not known.
  std::optional<FunctionFlow> find(ImageId image, uint32_t function);

 private:
  CodeFlow& flow_;
  ExecutionEvents events_;
};

}  // namespace culprit
