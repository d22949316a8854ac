#pragma once

// Executions become events, so that every report and listing can show them, wherever they are
// known from:
//
//   flow:instructions   how often each instruction ran
//   flow:blocks         how often basic blocks ran, at their first instruction
//   flow:entries        how often functions were entered, at their first
//   flow:rounds         how often the heads of loops ran, at their first
//   flow:loop-entries   how often loops were entered from outside, at their head's first
//
// They are counted (`=`) or sampled (`~`) as their source is. Those that are nowhere known are
// not there.

#include "attribute/attribution.h"
#include "base/result.h"
#include "flow/executions.h"
#include "model/profile.h"

namespace culprit::flow_events {

inline constexpr const char* kInstructions = "flow:instructions";
inline constexpr const char* kBlocks = "flow:blocks";
inline constexpr const char* kEntries = "flow:entries";
inline constexpr const char* kRounds = "flow:rounds";
inline constexpr const char* kLoopEntries = "flow:loop-entries";

}  // namespace culprit::flow_events

namespace culprit {

struct FlowProfile {
  Profile profile;  // with these events before its own
  ExecutionSource source = ExecutionSource::none;
};

/// Units:  -> executions
/// Errors: variances are those of the source (function_flow.h); a function's are shared out over
///         threads as its samples are. An error where only time was sampled, which counts nothing
Result<FlowProfile> with_flow_events(const Profile& profile, const FactsLookup& facts);

}  // namespace culprit
