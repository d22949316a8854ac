#pragma once

// How much code is hot: the fewest cache lines that hold a part of all executed instructions.

#include <cstdint>
#include <vector>

#include "model/profile.h"

namespace culprit {

inline constexpr uint64_t kCodeLineBytes = 64;

struct WorkingSetPart {
  double percent = 0;  // of the executed instructions
  uint64_t lines = 0;  // of kCodeLineBytes

  [[nodiscard]] uint64_t size_bytes() const { return lines * kCodeLineBytes; }
};

/// How many lines have 50, 90, 99 and 100 % of the executions, in a profile with_branch_events().
/// Units:  executions of each instruction [count] -> lines of code [count]
/// Shape:  empty where nothing is known of instructions
/// Errors: lines that no record saw are missing: a lower bound, above all for 100 %. Code
///         made at run time is taken to begin with a line.
std::vector<WorkingSetPart> estimate_working_set(const Profile& profile);

}  // namespace culprit
