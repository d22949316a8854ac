#pragma once

#include <sys/resource.h>

namespace culprit {

/// While it lives, as many descriptors as permitted: events, rings and held images take many.
class DescriptorLimit {
 public:
  DescriptorLimit() = default;
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  /// Held images may be more than the old limit; that only bars further ones.
  ~DescriptorLimit();

  /// Call it after the command has started, which keeps the limit it was given.
  void raise();

 private:
  rlimit before_{};
  bool is_raised_ = false;
};

}  // namespace culprit
