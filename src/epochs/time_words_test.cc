#include "epochs/time_words.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <time.h>

namespace culprit {
namespace {

class TimeWords : public testing::Test {
 protected:
  void SetUp() override {
    // Half an hour off, and without summer time: what is forgotten shows.
    ::setenv("TZ", "XST-5:30", 1);
    ::tzset();
  }
  void TearDown() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  // date -u -d '2026-11-25 04:30:15' +%s: 10:00:15 there
  static constexpr int64_t kNow = 1795581015;

  static int64_t moment(const char* text) {
    const Result<int64_t> parsed = parse_moment(text, kNow);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *parsed : 0;
  }
};

TEST_F(TimeWords, LengthsHaveAUnit) {
  EXPECT_EQ(*parse_seconds("90s"), 90);
  EXPECT_EQ(*parse_seconds("10m"), 600);
  EXPECT_EQ(*parse_seconds("2h"), 7200);
  EXPECT_EQ(*parse_seconds("3d"), 259200);
  EXPECT_EQ(*parse_seconds("1w"), 604800);
  for (const char* text :
       {"", "h", "2", "-2h", "2 h", "2.5h", "2y", "99999999999999999999s", "999999999999w"}) {
    EXPECT_FALSE(parse_seconds(text)) << text;
  }
}

TEST_F(TimeWords, MomentsAreInLocalTime) {
  EXPECT_EQ(moment("now"), kNow);
  EXPECT_EQ(moment("2h"), kNow - 7200);
  EXPECT_EQ(moment("2h ago"), kNow - 7200);
  EXPECT_EQ(moment("@1795581015"), kNow);
  EXPECT_EQ(moment("10:00:15"), kNow);
  EXPECT_EQ(moment("10:00"), kNow - 15);
  EXPECT_EQ(moment("yesterday 10:00:15"), kNow - 86400);
  EXPECT_EQ(moment("2026-11-25 10:00:15"), kNow);
  EXPECT_EQ(moment("2026-11-25T10:00:15"), kNow);
  EXPECT_EQ(moment("today"), kNow - 36015);
  EXPECT_EQ(moment("2026-11-25"), kNow - 36015);
  EXPECT_EQ(format_moment(kNow), "2026-11-25 10:00:15");
}

TEST_F(TimeWords, RefusesWhatIsNoMoment) {
  for (const char* text : {"", "tomorrow-ish", "25:00", "10:60", "10", "2026-13-01", "2026-1",
                           "yesterday noon", "@", "@-1", "@99999999999999", "10:00 today", "ago"}) {
    EXPECT_FALSE(parse_moment(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace culprit
