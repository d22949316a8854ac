// perf2bolt's pre-aggregated text, of one image:
//
//     B 1169 1150 900 9     a taken branch from .. to, how often, how often mispredicted
//     F 1150 1169 900       code that ran straight on from .. to, how often
//     B X:0 1170 1 0        a place outside of the image
//
// Addresses are the image's link addresses, in hexadecimal.

#include <fmt/format.h>
#include <map>
#include <utility>

#include "exports/branch_image.h"
#include "exports/exports.h"

namespace culprit {

namespace {

struct Branches {
  uint64_t count = 0;
  uint64_t mispredicted = 0;
};

std::string place(CodeIndex& code, ImageId image, const Location& at) {
  return at.image == image ? fmt::format("{:x}", code.link_address(at).value) : "X:0";
}

}  // namespace

Result<std::string> export_bolt(const Profile& profile, const FactsLookup& facts,
                                const std::string& pattern) {
  CodeIndex code(profile, facts);
  ASSIGN_OR_RETURN(const ImageId image, choose_branch_image(code, pattern));
  using Ends = std::pair<std::string, std::string>;
  std::map<Ends, Branches> branches;
  for (const BranchCount& branch : profile.branch_counts) {
    if (branch.from.image != image && branch.to.image != image) continue;
    Branches& sum = branches[{place(code, image, branch.from), place(code, image, branch.to)}];
    sum.count += branch.count;
    sum.mispredicted += branch.mispredicted;
  }
  std::map<Ends, uint64_t> ranges;
  for (const FallThrough& range : profile.fall_throughs) {
    if (range.image != image) continue;
    ranges[{place(code, image, {image, range.from}), place(code, image, {image, range.to})}] +=
        range.count;
  }
  std::string text;
  for (const auto& [ends, sum] : branches) {
    text += fmt::format("B {} {} {} {}\n", ends.first, ends.second, sum.count, sum.mispredicted);
  }
  for (const auto& [ends, count] : ranges) {
    text += fmt::format("F {} {} {}\n", ends.first, ends.second, count);
  }
  return text;
}

}  // namespace culprit
