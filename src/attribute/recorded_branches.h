#pragma once

// The taken branches of a profile that stay within an image, found by where they start.

#include <compare>
#include <span>
#include <vector>

#include "model/profile.h"

namespace culprit {

struct RecordedBranch {
  FileOffset from;
  FileOffset to;
  double count = 0;  // of records, or of branches where all were counted
  friend auto operator<=>(const RecordedBranch&, const RecordedBranch&) = default;
};

class RecordedBranches {
 public:
  explicit RecordedBranches(const Profile& profile);

  /// Those from [begin, end), wherever they lead; in order of `from`, then `to`.
  [[nodiscard]] std::span<const RecordedBranch> within(ImageId image, FileOffset begin,
                                                       FileOffset end) const;

 private:
  std::vector<std::vector<RecordedBranch>> of_images_;
};

}  // namespace culprit
