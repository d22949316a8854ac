// Branch records and what must be counted of them, on paper. The latest comes first.

#include "records/sample_branches.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

BranchEntry branch(uint64_t from, uint64_t to) {
  return {RunAddress(from), RunAddress(to)};
}

/// Addresses below 0x10000 are in image 0, others in image 1.
Location place_of(RunAddress address) {
  return {ImageId(address.value < 0x10000 ? 0u : 1u), FileOffset(address.value)};
}

Profile counted(const std::vector<BranchEntry>& branches, bool has_all = true) {
  ProfileBuilder builder;
  builder.profile().images.resize(2);
  const ContextId context = builder.intern_context({});
  add_branches(branches, place_of, context, has_all, builder);
  builder.take_counts();
  return std::move(builder.profile());
}

std::vector<std::pair<uint64_t, uint64_t>> stretches_of(const Profile& profile) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (const FallThrough& one : profile.fall_throughs) {
    found.emplace_back(one.from.value, one.to.value);
  }
  return found;
}

using Stretches = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(SampleBranches, AreCountedByPlaceWithTheCodeBetweenThem) {
  // 0x100 → 0x200, ran to 0x210 → 0x300, ran to 0x320 → 0x400.
  const Profile profile =
      counted({branch(0x320, 0x400), branch(0x210, 0x300), branch(0x100, 0x200)});
  EXPECT_EQ(profile.branch_counts.size(), 3u);
  EXPECT_EQ(stretches_of(profile), (Stretches{{0x200, 0x210}, {0x300, 0x320}}));
}

TEST(SampleBranches, OfALoopAddUp) {
  const Profile profile =
      counted({branch(0x210, 0x200), branch(0x210, 0x200), branch(0x210, 0x200)});
  ASSERT_EQ(profile.branch_counts.size(), 1u);
  EXPECT_EQ(profile.branch_counts[0].count, 3u);
  ASSERT_EQ(profile.fall_throughs.size(), 1u);
  EXPECT_EQ(profile.fall_throughs[0].count, 2u);
}

TEST(SampleBranches, LeaveNoStretchWhereBranchesWereFilteredOut) {
  const Profile profile = counted({branch(0x320, 0x400), branch(0x210, 0x300)}, false);
  EXPECT_EQ(profile.branch_counts.size(), 2u);
  EXPECT_TRUE(profile.fall_throughs.empty());
}

TEST(SampleBranches, LeaveOutEntriesThatAreNotFilled) {
  // The middle one says nothing: no stretch touches it.
  const Profile profile = counted({branch(0x320, 0x400), branch(0, 0), branch(0x100, 0x200)});
  EXPECT_EQ(profile.branch_counts.size(), 2u);
  EXPECT_TRUE(profile.fall_throughs.empty());
}

TEST(SampleBranches, WithoutASourceOrTargetStillEndOrBeginAStretch) {
  // A branch from user code into a kernel that may not be seen has the target 0; its source ends
  // the stretch that began at 0x300.
  const Profile entry = counted({branch(0x320, 0), branch(0x210, 0x300)});
  EXPECT_EQ(entry.branch_counts.size(), 1u);
  EXPECT_EQ(stretches_of(entry), (Stretches{{0x300, 0x320}}));
}

TEST(SampleBranches, LeaveNoStretchThatCannotHaveRun) {
  const Profile backwards = counted({branch(0x200, 0x400), branch(0x100, 0x300)});
  EXPECT_TRUE(backwards.fall_throughs.empty());
  EXPECT_EQ(backwards.ledger.amount(ledger::kBranchesApart), 1u);
  EXPECT_TRUE(counted({branch(0x20000, 0x400), branch(0x100, 0x300)}).fall_throughs.empty());
  EXPECT_TRUE(counted({branch(0x400000, 0x400), branch(0x100, 0x20000)}).fall_throughs.empty());
}

TEST(SampleBranches, SayHowMuchTheyWereJudgedAndTimed) {
  BranchEntry wrong = branch(0x100, 0x200);
  wrong.mispredicted = true;
  wrong.cycles = 12;
  BranchEntry right = branch(0x100, 0x200);
  right.predicted = true;
  const Profile profile = counted({wrong, right, branch(0x100, 0x200)});
  ASSERT_EQ(profile.branch_counts.size(), 1u);
  const BranchCount& count = profile.branch_counts[0];
  EXPECT_EQ(count.count, 3u);
  EXPECT_EQ(count.mispredicted, 1u);
  EXPECT_EQ(count.judged, 2u);
  EXPECT_EQ(count.timed, 1u);
  EXPECT_EQ(count.cycles, 12u);
}

}  // namespace
}  // namespace culprit
