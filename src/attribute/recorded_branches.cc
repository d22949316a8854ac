#include "attribute/recorded_branches.h"

#include <algorithm>

namespace culprit {

RecordedBranches::RecordedBranches(const Profile& profile) : of_images_(profile.images.size()) {
  for (const BranchCount& branch : profile.branch_counts) {
    if (branch.from.image != branch.to.image || branch.from.image.value >= of_images_.size()) {
      continue;
    }
    of_images_[branch.from.image.value].push_back(
        {branch.from.offset, branch.to.offset, static_cast<double>(branch.count)});
  }
  for (std::vector<RecordedBranch>& branches : of_images_) {
    std::sort(branches.begin(), branches.end());
    size_t kept = 0;
    for (const RecordedBranch& one : branches) {
      RecordedBranch& last = branches[kept == 0 ? 0 : kept - 1];
      if (kept > 0 && last.from == one.from && last.to == one.to) {
        last.count += one.count;
      } else {
        branches[kept++] = one;
      }
    }
    branches.resize(kept);
  }
}

std::span<const RecordedBranch> RecordedBranches::within(ImageId image, FileOffset begin,
                                                         FileOffset end) const {
  if (image.value >= of_images_.size()) return {};
  const std::vector<RecordedBranch>& all = of_images_[image.value];
  const auto before = [](const RecordedBranch& one, FileOffset at) { return one.from < at; };
  const auto first = std::lower_bound(all.begin(), all.end(), begin, before);
  return {first, std::lower_bound(first, all.end(), std::max(begin, end), before)};
}

}  // namespace culprit
