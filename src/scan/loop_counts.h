#pragma once

// The loop counts of a kernel where nobody chose any: those of kUsualRuns, the first of which is
// run first. A kernel that executes more than kManyInstructions there is long enough: it is run at
// fewer, so that a matrix product of a millisecond takes seconds, not minutes. What is executed
// decides, not how long it took: another machine chooses the same.

#include <array>
#include <cstdint>

namespace culprit::scan {

inline constexpr std::array<uint64_t, 3> kUsualRuns = {100, 300, 700};
inline constexpr std::array<uint64_t, 2> kFewRuns = {20, 50};  // beside the first of the usual
inline constexpr uint64_t kManyInstructions = 100'000'000;

}  // namespace culprit::scan
