#pragma once

// What the events made of branch records are called. Each counts at one instruction.

namespace culprit::branch_events {

inline constexpr const char* kInstructions = "lbr:instructions";  // executions of each
inline constexpr const char* kBlocks = "lbr:blocks";              // of blocks, at their first
inline constexpr const char* kRuns = "lbr:runs";                  // straight runs, at their start
inline constexpr const char* kCycles = "lbr:cycles";              // spread over each run
inline constexpr const char* kTaken = "lbr:branches-taken";       // at the source
inline constexpr const char* kTargets = "lbr:branch-targets";     // the same, at the target
inline constexpr const char* kCalls = "lbr:calls";                // at the function called
inline constexpr const char* kCallsMade = "lbr:calls-made";       // the same, at the source
inline constexpr const char* kIndirectCalls = "lbr:indirect-calls";  // of these, at the source
inline constexpr const char* kJudged = "lbr:branches-judged";        // taken, known if predicted
inline constexpr const char* kMisses = "lbr:branch-misses";          // of these, mispredicted

}  // namespace culprit::branch_events
