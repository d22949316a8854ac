#pragma once

// Measures the regions of a command while something else records it:
//
//     ASSIGN_OR_RETURN(RegionsRecording regions, RegionsRecording::prepare(command, shim_path));
//     {
//       const ScopedEnvironment environment(regions.environment());   // what it starts inherits it
//       recording = record({..., .regions = regions.sampled()});   // or without it
//     }
//     regions.add_to(recording.profile);

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/regions/sampled_regions.h"
#include "collect/regions/tick_clock.h"
#include "model/profile.h"
#include "recording/shared_folder.h"

namespace culprit {

class RegionsRecording {
 public:
  /// `shim_path`: libculprit_regions.so.
  /// Errors: a command that cannot be preloaded; a shim that is not there; no room for its files.
  static Result<RegionsRecording> prepare(const std::vector<std::string>& command,
                                          const std::string& shim_path);

  /// What the command's environment needs, beyond ours.
  [[nodiscard]] const std::map<std::string, std::string>& environment() const {
    return environment_;
  }
  /// Call it after the command. Adds its regions to the last run of `profile`, and says how many
  /// there are.
  size_t add_to(Profile& profile);
  /// What tells the samples of a recording apart by region; it must not outlive this.
  SampleRegions* sampled() { return sampled_.get(); }

 private:
  RegionsRecording(SharedFolder folder, const std::string& shim_path);

  SharedFolder folder_;
  ClockMoment start_;
  std::unique_ptr<SampledRegions> sampled_;
  std::map<std::string, std::string> environment_;
};

/// Environment variables of ours that have other values for a while.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::map<std::string, std::string>& values);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::map<std::string, const char*> before_;  // nullptr: it was not set
  std::map<std::string, std::string> kept_;
};

}  // namespace culprit
