#pragma once

// One profile that holds several runs, told apart by labels: those of `culprit record -r 5
// --compare 'old=./a' --compare 'new=./b'`, and the ranks of an MPI program put together.

#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace culprit {

inline constexpr std::string_view kRepetitionLabel = "repetition";  // "1", "2", ...
inline constexpr std::string_view kVersionLabel = "version";        // "old"; none: there is but one

inline constexpr std::string_view kRankLabel = "rank";  // of a process of an MPI program: "0", ...

/// What a run is labelled with; "": nothing of that name.
std::string find_label(const Profile& profile, const Run& run, std::string_view wanted);

struct LabelledRun {
  std::string name;         // "old 3"
  std::string version;      // "old"; "": there is but one
  std::vector<RunId> runs;  // native and simulated
};

/// The runs in the order in which they ran; none in a profile that was not repeated.
std::vector<LabelledRun> find_labelled_runs(const Profile& profile);

/// Leaves the counts of one of them only.
void keep_runs(const LabelledRun& wanted, Profile& profile);

}  // namespace culprit
