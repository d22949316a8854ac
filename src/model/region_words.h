#pragma once

// The words of RegionValue::part.

#include <string_view>

namespace culprit::region {

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
/// A number and no time: chunks of a loop, sections or singles that the thread ran, tasks that it
/// created.
inline constexpr std::string_view kPieces = "pieces";

}  // namespace culprit::region
