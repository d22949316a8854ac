#pragma once

// Every sample of a profile exactly once: with its call stack where there is one, else
// by its address alone. A profile may have stacks for a part of its samples only:
//
//   histogram  0x10: 100        stacks  main > 0x10: 70
//   call paths  main > 0x10: 70,  0x10: 30                 = 100, as the report says

#include <functional>
#include <vector>

#include "model/profile.h"
#include "model/sums.h"

namespace culprit {

struct CallPath {
  ContextId context;
  std::vector<Location> frames;  // leaf first; never empty
  bool has_stack = false;        // false: only the sampled address is known
  Sums sums;                     // parallel to Profile::events
};

/// Visits call paths by context, those without a stack last. Sums over all paths are the
/// histograms' exactly: stacks that claim more than their address has are cut.
void for_each_call_path(const Profile& profile, const std::function<void(const CallPath&)>& visit);

/// One value in the event's unit, rounded; 0 for what no integer can hold.
uint64_t scaled(const Event& event, uint64_t raw);

/// Integers in the events' units. Fractions of scaled events are carried from one to the
/// next, so that what comes out adds up to the rounded total.
class Scaler {
 public:
  explicit Scaler(const Profile& profile);
  /// `raw` as the profile stores it.
  uint64_t next(size_t event, uint64_t raw);

 private:
  struct State {
    double scale = 1;
    long double seen = 0;
    uint64_t given = 0;
  };
  std::vector<State> states_;
};

/// The process and thread of a context; nullptr where it does not say.
struct Who {
  const Process* process = nullptr;
  const Thread* thread = nullptr;
};
Who find_who(const Profile& profile, ContextId context);

}  // namespace culprit
