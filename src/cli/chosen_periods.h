#pragma once

// Sampling periods by a counting run (`culprit stat -o FILE`): each event is sampled so often that
// about as many samples come as were asked for, in a run like the one that was counted.
//
//     counted 2.00 G cycles, 1,204 page faults; 1,000 samples of each
//        → cycles every 2,000,003, page-faults every 2

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_request.h"
#include "model/profile.h"

namespace culprit {

struct PeriodChoice {
  uint64_t samples = 10'000;  // of each event
  std::string source;         // what the counts are called: their file
  bool keeps_own = true;      // events that say a period, or a frequency, keep it
};

/// Fills in the periods of `groups`: primes, so not in step with anything; at least 1, and of time
/// what `record -c` takes.
/// Errors: nothing was counted in the profile; an event that it has not, or that had no counter
Result<std::string> choose_periods(const Profile& counts, const PeriodChoice& choice,
                                   std::vector<EventGroup>& groups);

}  // namespace culprit
