#pragma once

// Events of experiments: the command ran again, natively, with one thing changed, in turns with
// runs as it is. Each has samples of user time by place, added up over its runs, and the user time
// of each run as a count.
//
//     saved = 1 - changed / as it is        of a place, or of each pair of runs

#include <cstdint>
#include <string>
#include <string_view>

namespace culprit {

enum class Experiment : uint8_t {
  one_cpu,        // all threads on one CPU: none holds a line that another one needs at once
  no_subnormals,  // results and operands below the smallest normal number are zero
};

struct ExperimentKind {
  Experiment experiment;
  std::string_view key;     // of events and JSON
  std::string_view change;  // for people: "with all threads on one CPU"
};

inline constexpr ExperimentKind kExperiments[] = {
    {Experiment::one_cpu, "one-cpu", "with all threads on one CPU"},
    {Experiment::no_subnormals, "no-subnormals", "with subnormal numbers flushed to zero"},
};

inline constexpr std::string_view kExperimentPrefix = "experiment:";
inline constexpr std::string_view kAsItIsTime = "experiment:as-it-is";

/// "experiment:one-cpu".
inline std::string experiment_event(const ExperimentKind& kind) {
  return std::string(kExperimentPrefix) + std::string(kind.key);
}

inline bool is_experiment_event(std::string_view name) {
  return name.starts_with(kExperimentPrefix);
}

}  // namespace culprit
