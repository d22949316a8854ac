#pragma once

// WaitingSamples: samples in code that has no file. Its compiler may name it later, so they
// are kept until it has, or until its process is gone.

#include <cstdint>
#include <optional>
#include <vector>

#include "collect/live_images.h"
#include "follow/record_follower.h"
#include "model/builder.h"

namespace culprit {

class WaitingSamples {
 public:
  WaitingSamples(ProfileBuilder& builder, LiveImages& images, RecordFollower& follower)
      : builder_(builder), images_(images), follower_(follower) {}

  void add(PlacedSample sample);
  /// Counts those whose names have come.
  void resolve();
  /// Counts all of a process: no more names will come.
  void end(uint32_t pid) { resolve(pid, true); }
  /// Counts all.
  void end() { resolve(std::nullopt, true); }

 private:
  void resolve(std::optional<uint32_t> only_pid, bool is_last);
  bool find_places(PlacedSample& sample, bool is_last);
  void merge();

  ProfileBuilder& builder_;
  LiveImages& images_;
  RecordFollower& follower_;
  std::vector<PlacedSample> samples_;
};

}  // namespace culprit
