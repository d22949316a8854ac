#pragma once

// DescriptorSet: descriptors that come and go, as one that can be polled: it is readable while one
// of them is. Whoever waits need not know when they change.

#include "base/file.h"

namespace culprit {

class DescriptorSet {
 public:
  DescriptorSet();
  /// A closed descriptor leaves the set by itself.
  void add(int descriptor);
  [[nodiscard]] int get() const { return set_.get(); }
  /// Whether one is readable now.
  [[nodiscard]] bool is_readable() const;

 private:
  Fd set_;
};

}  // namespace culprit
