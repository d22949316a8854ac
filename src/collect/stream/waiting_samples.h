#pragma once

// WaitingSamples: samples in code that has no file. Its compiler may name it later, so they
// are kept until it has, or until its process is gone.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collect/stream/live_images.h"
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
  void end(uint32_t pid);
  /// Counts all.
  void end();

 private:
  using Samples = std::vector<PlacedSample>;
  void count_known(Samples& samples, bool is_last);
  bool find_places(PlacedSample& sample, bool is_last);

  ProfileBuilder& builder_;
  LiveImages& images_;
  RecordFollower& follower_;
  std::unordered_map<uint32_t, Samples> by_process_;
  size_t waiting_ = 0;
  static constexpr size_t kManySamples = size_t{1} << 16;
  size_t resolve_at_ = kManySamples;  // so many
};

}  // namespace culprit
