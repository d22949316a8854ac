#pragma once

// The words of Region::kind that are no construct's, and of RegionValue::part.

#include <string_view>

namespace culprit::region {

/// Waiting to be let into the construct around, or at its end: samples are told apart by it.
inline constexpr std::string_view kWaiting = "waiting";
/// Nobody knows which region it was.
inline constexpr std::string_view kNotKnown = "[not known]";

constexpr bool is_construct(std::string_view kind) {
  return kind != kWaiting && kind != kNotKnown;
}

inline constexpr std::string_view kEnter = "enter";
inline constexpr std::string_view kBody = "body";
inline constexpr std::string_view kExit = "exit";
inline constexpr std::string_view kExitBarrier = "exit barrier";
inline constexpr std::string_view kWait = "wait";
/// The time in the exit barrier of a parallel region that ends with a single. It is no part of its
/// own: the barrier has it.
inline constexpr std::string_view kBehindSingle = "behind single";
/// The time of tasks that the thread ran while it waited there. It is no part of its own: the body
/// has it.
inline constexpr std::string_view kInnerTasks = "inner tasks";
/// Of executions that had not ended when their process did: how many there are, in `executions`,
/// and the time that they took until then. It is no part of its own: the other parts have it.
inline constexpr std::string_view kUnfinished = "unfinished";
/// A number and no time: chunks of a loop, sections or singles that the thread ran, tasks that it
/// created.
inline constexpr std::string_view kPieces = "pieces";

/// A RegionValue with an event is what the thread counted in the construct itself, or waiting for
/// it or at its end. Measured runs have them; simulated ones have histograms.
inline constexpr std::string_view kCounted = "counted";
inline constexpr std::string_view kCountedWaiting = "counted waiting";

}  // namespace culprit::region
