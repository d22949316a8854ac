#pragma once

// Measures the regions of a command while something else records it:
//
//     ASSIGN_OR_RETURN(RegionsRecording regions, RegionsRecording::prepare(command, shim_path));
//     {
//       const ScopedEnvironment environment(regions.environment());   // what it starts inherits it
//       recording = record({..., .regions = regions.sampled()});   // or without it
//     }
//     regions.add_to(recording.profile, {});

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/regions/region_requests.h"
#include "collect/regions/sampled_regions.h"
#include "collect/regions/tick_clock.h"
#include "model/profile.h"
#include "recording/shared_folder.h"

namespace culprit {

class RegionsRecording {
 public:
  /// `shim_path`: libculprit_regions.so.
  /// Errors: a command that cannot be preloaded; a shim that is not there; no room for its files;
  ///         more is asked for than there is room for.
  static Result<RegionsRecording> prepare(const std::vector<std::string>& command,
                                          const std::string& shim_path,
                                          const RegionRequests& requests = {});

  /// What the command's environment needs, beyond ours.
  [[nodiscard]] const std::map<std::string, std::string>& environment() const {
    return environment_;
  }
  struct Outcome {
    size_t constructs = 0;             // in the profile
    std::vector<std::string> remarks;  // what the user should know at once
  };
  /// Call it after the command. Adds its regions to the last run of `profile`. `counters`: rows of
  /// the events that were asked for.
  Outcome add_to(Profile& profile, const std::vector<EventId>& counters = {});
  /// What tells the samples of a recording apart by region; it must not outlive this.
  SampleRegions* sampled() { return sampled_.get(); }

 private:
  RegionsRecording(SharedFolder folder, const std::string& shim_path);

  SharedFolder folder_;
  std::vector<std::string> functions_;  // names of those that were asked for
  ClockMoment start_;
  std::unique_ptr<SampledRegions> sampled_;
  std::map<std::string, std::string> environment_;
};

}  // namespace culprit
