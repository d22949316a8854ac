#include "epochs/epoch_name.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// date -u -d '2026-11-25 03:10:00' +%s
constexpr int64_t kStart = 1795576200;

EpochName name_at(int64_t start_s, uint64_t length_s, uint32_t first, uint32_t last) {
  return {start_s, length_s, "1a2b3c4d", first, last};
}

TEST(EpochName, SaysFromWhenToWhenInUtc) {
  EXPECT_EQ(format_epoch_name(name_at(kStart, 600, 12, 12)),
            "20261125T031000Z-600s-1a2b3c4d-12.culprit");
  EXPECT_EQ(format_epoch_name(name_at(kStart, 3600, 7, 12)),
            "20261125T031000Z-3600s-1a2b3c4d-7-12.culprit");
}

TEST(EpochName, ComesBackAsItWas) {
  for (const EpochName& name : {name_at(kStart, 600, 12, 12), name_at(0, 0, 0, 0),
                                name_at(951782400, 1, 1, UINT32_MAX)}) {  // 2000-02-29
    const auto parsed = parse_epoch_name(format_epoch_name(name));
    ASSERT_TRUE(parsed.has_value()) << format_epoch_name(name);
    EXPECT_EQ(*parsed, name);
  }
}

TEST(EpochName, RefusesNamesOfOtherFiles) {
  for (const char* text :
       {"", ".culprit", "profile.culprit", "20261125T031000Z-600s-1a2b3c4d-12",
        "20261125T031000Z-600s-1a2b3c4d-12.culprit-journal",
        "20261325T031000Z-600s-1a2b3c4d-12.culprit",  // a 13th month
        "20261125T251000Z-600s-1a2b3c4d-12.culprit", "20261125T031000Z-600-1a2b3c4d-12.culprit",
        "20261125T031000Z-600s-1A2B3C4D-12.culprit", "20261125T031000Z-600s-1a2b3c4d-.culprit",
        "20261125T031000Z-600s-1a2b3c4d-12-7.culprit",
        "20261125T031000Z-600s-1a2b3c4d-12-12.culprit",
        "20261125T031000Z-600s-1a2b3c4d-4294967296.culprit",
        "20261125T031000Z-99999999999999999999s-1a2b3c4d-1.culprit",
        "20261125T031000Z--600s-1a2b3c4d-12.culprit", "-+20261125T0310Z-600s-1a2b3c4d-1.culprit"}) {
    EXPECT_FALSE(parse_epoch_name(text).has_value()) << text;
  }
}

TEST(EpochName, ThoseOfASpanOverlapIt) {
  const std::vector<EpochName> names = {name_at(1200, 600, 3, 3), name_at(0, 600, 1, 1),
                                        name_at(600, 600, 2, 2)};
  const auto numbers = [&](int64_t from_s, int64_t to_s) {
    std::vector<uint32_t> found;
    for (const EpochName& name : choose_epochs(names, {from_s, to_s})) found.push_back(name.first);
    return found;
  };
  EXPECT_EQ(numbers(INT64_MIN, INT64_MAX), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(numbers(600, 1200), (std::vector<uint32_t>{2}));
  EXPECT_EQ(numbers(599, 1201), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(numbers(1799, 5000), (std::vector<uint32_t>{3}));
  EXPECT_TRUE(numbers(1800, 5000).empty());
}

TEST(EpochName, AnEpochWithoutLengthHasItsFirstSecond) {
  EXPECT_EQ(choose_epochs({name_at(100, 0, 1, 1)}, {100, 101}).size(), 1u);
  EXPECT_EQ(choose_epochs({name_at(100, 0, 1, 1)}, {101, 200}).size(), 0u);
}

// A compaction that was killed between its rename and its removals.
TEST(EpochName, PartsOfAMergedEpochAreNotCountedTwice) {
  const EpochName hour = name_at(0, 1200, 1, 2);
  const EpochName day = name_at(0, 1800, 1, 3);
  EpochName of_another_boot = name_at(0, 600, 1, 1);
  of_another_boot.boot = "ffffffff";
  const std::vector<EpochName> names = {
      name_at(0, 600, 1, 1),    name_at(600, 600, 2, 2), hour, day,
      name_at(1800, 600, 4, 4), of_another_boot};
  EXPECT_EQ(find_left_over(names), (std::vector<EpochName>{names[0], names[1], hour}));
  const std::vector<EpochName> chosen = choose_epochs(names, {});
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(chosen[0], of_another_boot);
  EXPECT_EQ(chosen[1], day);
  EXPECT_EQ(chosen[2], names[4]);
}

}  // namespace
}  // namespace culprit
