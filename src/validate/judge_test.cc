// Verdicts on counts made by hand: a kernel of 8 loads and 10 instructions a round, one whose
// branch is wrong half of the time, and one without.

#include "validate/judge.h"

#include <gtest/gtest.h>
#include <map>

#include "validate/validation.h"

namespace culprit {
namespace {

Family make_family(const char* name, std::vector<Expectation> causes) {
  Family family;
  family.name = family.kernel = name;
  family.what = "by hand";
  family.causes = std::move(causes);
  return family;
}

EventCount counted(double per_round) {
  return {per_round, ""};
}

class Judge : public ::testing::Test {
 protected:
  Judge() {
    families_ = {
        make_family("loads", {{"instructions", 9.95, 10.05}, {"L1-dcache-loads", 7.9, 8.1}}),
        make_family("random", {{"instructions", 13, 13}, {"branch-misses", 0.45, 0.55}}),
        make_family("regular", {{"instructions", 11, 11}})};
    families_[1].costs = "branch-misses";
    families_[1].reference = "regular";
    events_ = {{"instructions", "instructions", "", std::nullopt},
               {"loads", "L1-dcache-loads", "", std::nullopt},
               {"misses", "branch-misses", "branch_misprediction", 18.0}};
    counts_ = {{{counted(10), counted(8), counted(0)}, 2.5},
               {{counted(13), counted(0), counted(0.5)}, 13},
               {{counted(11), counted(0), counted(0.001)}, 4}};
  }

  std::vector<FamilyVerdict> judge() const { return judge_families(families_, events_, counts_); }

  Validation validate() const {
    Validation validation;
    validation.engine = "pmu";
    validation.template_name = "made";
    validation.events = events_;
    validation.families = judge();
    return validation;
  }

  std::vector<Family> families_;
  std::vector<ValidatedEvent> events_;
  std::vector<FamilyCounts> counts_;
};

TEST_F(Judge, FindsWhatIsCountedAsItIsCaused) {
  const std::vector<FamilyVerdict> verdicts = judge();
  ASSERT_EQ(verdicts.size(), 3u);
  for (const FamilyVerdict& family : verdicts) {
    for (const EventVerdict& one : family.events) {
      EXPECT_EQ(one.verdict, CountVerdict::right) << family.family.name << ' ' << one.event->event;
    }
    EXPECT_EQ(family.twice, "");
  }
  EXPECT_TRUE(validate().is_right());
}

// 13 and 4 cycles a round, half a miss and a thousandth.
TEST_F(Judge, FindsWhatAnEventCosts) {
  const std::vector<FamilyVerdict> verdicts = judge();
  ASSERT_TRUE(verdicts[1].penalty);
  EXPECT_DOUBLE_EQ(*verdicts[1].penalty, 9 / 0.499);
  EXPECT_FALSE(verdicts[0].penalty);
}

// A template with the code of cycles where that of instructions should be.
TEST_F(Judge, FindsAWrongCode) {
  for (FamilyCounts& counts : counts_) counts.counts[0] = counted(*counts.cycles_per_round);
  const Validation validation = validate();
  EXPECT_FALSE(validation.is_right());
  EXPECT_EQ(summarize_events(validation.families)[0].wrong, 2u);  // 13 of 13 is right by chance
  EXPECT_NE(print_validation(validation).find("wrong: instructions on loads: 2.5 a round"),
            std::string::npos);
}

// Each load counted once by each of two units.
TEST_F(Judge, FindsADoubleCount) {
  counts_[0].counts[1] = counted(16);
  EXPECT_EQ(judge()[0].events[1].verdict, CountVerdict::wrong);
}

// What must not be: a counter that counts something beside what it is said to.
TEST_F(Judge, FindsWhatKernelsDoNotCause) {
  counts_[2].counts[1] = counted(0.4);
  EXPECT_EQ(judge()[2].events[1].verdict, CountVerdict::wrong);
  counts_[2].counts[1] = counted(0.02);  // 0.01 a round, and one in 500 of 11 instructions
  EXPECT_EQ(judge()[2].events[1].verdict, CountVerdict::right);
  counts_[2].counts[1] = counted(-0.001);  // of two lengths the longer one had less
  EXPECT_EQ(judge()[2].events[1].verdict, CountVerdict::right);
}

// Two rows that count the same misses: 0.5 x 18 + 0.5 x 18 of 13 cycles.
TEST_F(Judge, FindsRowsThatChargeABranchTwice) {
  events_.push_back({"misses again", "", "branch_misprediction", 18.0});
  for (FamilyCounts& counts : counts_) counts.counts.push_back(counts.counts[2]);
  const Validation validation = validate();
  EXPECT_EQ(validation.families[1].twice, "branch_misprediction");
  EXPECT_DOUBLE_EQ(validation.families[1].charged_cycles, 18);
  EXPECT_FALSE(validation.is_right());
  EXPECT_NE(print_validation(validation).find("counted twice: branch_misprediction"),
            std::string::npos);
}

TEST_F(Judge, SaysWhatWasNotCounted) {
  for (FamilyCounts& counts : counts_) {
    counts.counts[2] = {std::nullopt, "this machine does not count it"};
  }
  const Validation validation = validate();
  EXPECT_EQ(validation.families[1].events[2].verdict, CountVerdict::not_counted);
  EXPECT_NE(print_validation(validation).find("not counted: this machine does not count it"),
            std::string::npos);
  // What the kernel must cause stands in for the count: 0.5.
  EXPECT_DOUBLE_EQ(*validation.families[1].penalty, 18);
}

TEST_F(Judge, IsNotRightWhereNothingWasCounted) {
  for (FamilyCounts& counts : counts_) {
    for (EventCount& count : counts.counts) count = {std::nullopt, "no counter"};
  }
  EXPECT_FALSE(validate().is_right());
}

TEST_F(Judge, LeavesOpenWhatNobodyCanTell) {
  families_[0].open = {"branch-misses"};
  counts_[0].counts[2] = counted(0.3);
  EXPECT_EQ(judge()[0].events[2].verdict, CountVerdict::open);
}

// --- families

TEST(Families, AreTwentyAndMoreOfDifferentNames) {
  const std::vector<Family> all = list_families({32 << 10, 1 << 20, 32 << 20, 3072});
  EXPECT_GE(all.size(), 20u);
  std::map<std::string, int> names;
  for (const Family& family : all) {
    EXPECT_EQ(++names[family.name], 1) << family.name;
    EXPECT_GE(family.rounds, 2u);
    for (const Expectation& one : family.causes) EXPECT_LE(one.least, one.most) << family.name;
  }
  for (const Family& family : all) {
    const bool has_reference = family.reference.empty() || names.contains(family.reference);
    EXPECT_TRUE(has_reference) << family.name;
  }
}

TEST(Families, AreOfTheCachesSizes) {
  const auto bytes = [](const CacheSizes& sizes, const std::string& name) -> uint64_t {
    for (const Family& family : list_families(sizes)) {
      if (family.name == name) return family.bytes;
    }
    return 0;
  };
  const CacheSizes sizes{32 << 10, 1 << 20, 32 << 20, 3072};
  EXPECT_EQ(bytes(sizes, "chase-l1"), 16u << 10);
  EXPECT_EQ(bytes(sizes, "chase-l2"), 512u << 10);
  EXPECT_EQ(bytes(sizes, "chase-l3"), 3u << 20);
  EXPECT_EQ(bytes(sizes, "chase-memory"), 64u << 20);
  EXPECT_EQ(bytes({32 << 10, 1 << 20, 0, 3072}, "chase-l3"), 0u);  // no such level
  EXPECT_EQ(bytes({}, "chase-l1"), 16u << 10);                     // nothing is known
}

}  // namespace
}  // namespace culprit
