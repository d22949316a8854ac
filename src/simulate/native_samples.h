#pragma once

// Where samples of a native run fell, against what a simulated run of the same command executed:
// how much of the measured time the exact counts can say anything about.

#include <cstdint>
#include <map>
#include <string>

#include "model/counts.h"
#include "model/engine.h"
#include "model/profile.h"

namespace culprit {

/// Samples of the native run, each in exactly one part.
struct JoinedSamples {
  uint64_t simulated = 0;      // on instructions that the simulated run executed
  uint64_t not_simulated = 0;  // in user mode, on others
  uint64_t kernel = 0;         // not in user mode
  friend bool operator==(const JoinedSamples&, const JoinedSamples&) = default;
};

class NativeSamples {
 public:
  /// Counts of the native run that were not added before. The ids of its tables must stay.
  void add(const Profile& part);

  /// `both`: the native run's profile with that of the simulated run merged into it.
  [[nodiscard]] JoinedSamples join(const Profile& both) const;

  using Samples = std::map<Location, uint64_t>;
  /// The samples in user mode.
  [[nodiscard]] const std::map<ThreadId, Samples>& by_thread() const { return user_; }

 private:
  std::map<ThreadId, Samples> user_;
  uint64_t kernel_ = 0;
};

/// Calls visit(thread, location) for each instruction that a thread of a simulated run executed.
template <class Visit>
void for_each_executed(const Profile& profile, Visit visit) {
  for (const Histogram& histogram : profile.histograms) {
    const size_t context = histogram.context.value;
    const ThreadId thread =
        context < profile.contexts.size() ? profile.contexts[context].thread : ThreadId();
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum&) {
      const Event& what = profile.events[event];
      if (engine_of(profile, what) == Engine::simulate &&
          profile.strings.text(what.name) == "instructions") {
        visit(thread, at);
      }
    });
  }
}

/// "of 1,000 samples 2.3 % are on code that ..."
std::string describe_joined(const JoinedSamples& samples);

}  // namespace culprit
