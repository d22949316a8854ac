#pragma once

// ReaderPriority: what is not read in time is lost, however little the reader takes in all.
// Gives whoever reads the rings priority: beside many busy programs it must not wait for its turn.

namespace culprit {

/// While it lives, our thread comes before others, as far as permitted (root, CAP_SYS_NICE).
class ReaderPriority {
 public:
  ReaderPriority() = default;
  ReaderPriority(const ReaderPriority&) = delete;
  ReaderPriority& operator=(const ReaderPriority&) = delete;
  ~ReaderPriority();

  /// Call it after the command has started, which keeps the priority that it was given.
  void raise();

 private:
  int before_ = 0;
  bool is_raised_ = false;
};

}  // namespace culprit
