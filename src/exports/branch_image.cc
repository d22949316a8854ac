#include "exports/branch_image.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "base/names.h"
#include "base/text.h"
#include "branches/branch_events.h"

namespace culprit {

namespace {

using Weights = std::map<ImageId, uint64_t>;

Weights count_branches(const CodeIndex& code) {
  const Profile& profile = code.profile();
  Weights weights;
  for (const BranchCount& branch : profile.branch_counts) {
    for (const ImageId image : {branch.from.image, branch.to.image}) {
      if (code.image(image) != nullptr) weights[image] += branch.count;
    }
  }
  for (const FallThrough& range : profile.fall_throughs) {
    if (code.image(range.image) != nullptr) weights[range.image] += range.count;
  }
  return weights;
}

Error no_match(const CodeIndex& code, const Weights& weights, const std::string& pattern) {
  constexpr size_t kMost = 10;
  std::vector<std::string> names;
  for (const auto& [image, count] : weights) {
    if (names.size() < kMost) names.push_back(printable(base_name(code.module(image))));
  }
  return Error{fmt::format("no image '{}' with branch records; there are: {}{}", printable(pattern),
                           fmt::join(names, ", "), weights.size() > kMost ? ", ..." : "")};
}

}  // namespace

bool image_matches(const CodeIndex& code, ImageId image, const std::string& pattern) {
  if (pattern.empty()) return true;
  const std::string path = code.module(image);
  return matches_pattern(path, pattern) || matches_pattern(base_name(path), pattern);
}

Result<ImageId> choose_branch_image(CodeIndex& code, const std::string& pattern) {
  Weights weights = count_branches(code);
  if (weights.empty()) {
    return Error{"the profile has no branch records, which this format is made of\n" +
                 advise_branch_records(code.profile())};
  }
  const Weights all = weights;
  std::erase_if(weights, [&](const auto& one) { return !image_matches(code, one.first, pattern); });
  if (weights.empty()) return no_match(code, all, pattern);
  return std::max_element(weights.begin(), weights.end(),
                          [](auto& a, auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace culprit
