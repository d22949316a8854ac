#pragma once

// Cause: why a row changed, as far as the profiles tell: which branches of the tree of cycles it
// spends more or less in, and which events of these changed. causes.h finds it.
//
// The tree may be of a model (simulated runs) or of counters; the change of the row is of measured
// time where there is some, so that both stand side by side. A change that no branch shows is said
// to be one.

#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// Why there is no tree, of profiles of time.
inline constexpr const char* kTimeAlone = "time alone";

/// The same, of simulated runs that counted what was executed.
inline constexpr const char* kCountsAlone = "no cycles were modelled";

/// A number of both groups, means over their runs.
struct CauseAmount {
  std::string label;
  bool is_cycles = false;  // else events
  double base = 0;
  double now = 0;
  double error = 0;  // standard error of now - base; 0: exact, or exact in the model

  [[nodiscard]] double change() const { return now - base; }
};

struct CauseBranch {
  std::string key;  // of the branch; "useful_work", "unexplained" of what none has
  CauseAmount cycles;
  Provenance provenance = Provenance::modelled;
  std::string most;                 // the part of it that changed most; "": it has no parts
  std::vector<CauseAmount> events;  // there, those that changed by the largest factor first
};

struct Cause {
  enum class State : uint8_t {
    found,    // `branches` says it
    none,     // there is a tree, and none of its branches changed
    unknown,  // there is no tree: `reason`
  };
  State state = State::unknown;
  std::string reason;
  std::optional<CauseAmount> tree;    // all cycles of it
  std::vector<CauseBranch> branches;  // those that changed, the largest change first
  std::optional<CauseAmount> instructions;
};

}  // namespace culprit
