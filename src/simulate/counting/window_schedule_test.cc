#include "simulate/counting/window_schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace culprit::counting {
namespace {

struct Piece {
  Stretch stretch;
  uint64_t begin = 0;
};

std::vector<Piece> pieces_until(const WindowOptions& options, uint64_t end) {
  WindowSchedule schedule(options);
  std::vector<Piece> pieces;
  for (uint64_t begin = 0; begin < end; schedule.next()) {
    pieces.push_back({schedule.now(), begin});
    begin = schedule.now().end;
  }
  return pieces;
}

constexpr WindowOptions kFivePercent{.per_million = 50'000, .seed = 7, .first = 3200};

TEST(WindowSchedule, MeasuresTheBeginningWhole) {
  const Piece first = pieces_until(kFivePercent, 1).front();
  EXPECT_EQ(first.stretch.phase, WindowPhase::measured);
  EXPECT_EQ(first.stretch.window, 0U);
  EXPECT_EQ(first.stretch.end, 3200U);
}

// By hand: strata of 3200, 6400, 12800, ... instructions behind the first 3200, each of 32 segments
// with one window of 5 % in each; half of it warms up. For 12 windows' length before it the
// predictor learns, from the end of the window before at the earliest.
TEST(WindowSchedule, HasOneWindowInEachSegmentOfStrataThatDouble) {
  std::map<uint32_t, uint64_t> windows;  // by stratum
  uint64_t measured_until = 0;
  for (const auto& [stretch, begin] : pieces_until(kFivePercent, 3200 << 4)) {
    if (stretch.phase == WindowPhase::measured) measured_until = stretch.end;
    if (stretch.window == 0) continue;
    const uint64_t before = uint64_t{3200} << (stretch.stratum - 1);
    const uint64_t segment = before / 32;
    EXPECT_EQ(stretch.segment, segment);
    const uint64_t in_stratum = (stretch.window - 1) % 32;
    if (stretch.phase == WindowPhase::gap) continue;
    if (stretch.phase == WindowPhase::learning) {
      EXPECT_EQ(begin, std::max(measured_until, stretch.end - 12 * (segment / 20)));
      continue;
    }
    EXPECT_GE(begin, before + in_stratum * segment);
    EXPECT_LE(stretch.end, before + (in_stratum + 1) * segment);
    const uint64_t length = segment / 20;
    const bool is_warm = stretch.phase == WindowPhase::warming;
    EXPECT_EQ(stretch.end - begin, is_warm ? length / 2 : length - length / 2);
    windows[stretch.stratum] += is_warm ? 0 : 1;
  }
  EXPECT_EQ(windows, (std::map<uint32_t, uint64_t>{{1, 32}, {2, 32}, {3, 32}, {4, 32}}));
}

// In the first window of the second stratum, of segments of 100: its lengths stay as they are.
TEST(WindowSchedule, AShareIsThatOfTheNextSegment) {
  WindowSchedule schedule(kFivePercent);
  while (schedule.now().window != 1 || schedule.now().phase != WindowPhase::learning)
    schedule.next();
  schedule.set_share(200'000);
  schedule.set_share(0);  // as before
  const uint64_t begin = schedule.now().end;
  schedule.next();
  schedule.next();
  EXPECT_EQ(schedule.now().phase, WindowPhase::measured);
  EXPECT_EQ(schedule.now().end, begin + 5);
  while (schedule.now().window != 2 || schedule.now().phase != WindowPhase::measured)
    schedule.next();
  EXPECT_EQ(schedule.now().measured, 10u);  // of 20, half warm up
  EXPECT_EQ(schedule.now().segment, 100u);
}

TEST(WindowSchedule, PlacesAreTheSeeds) {
  const auto places = [](uint64_t seed) {
    WindowOptions options = kFivePercent;
    options.seed = seed;
    std::vector<uint64_t> ends;
    for (const Piece& piece : pieces_until(options, 100'000)) ends.push_back(piece.stretch.end);
    return ends;
  };
  EXPECT_EQ(places(1), places(1));
  EXPECT_NE(places(1), places(2));
}

// A segment of no more than an instruction still has one, and the schedule goes on.
TEST(WindowSchedule, WindowsAreNeverEmptyForLong) {
  const auto pieces = pieces_until({.per_million = 100, .seed = 1, .first = 1}, 10'000);
  uint64_t measured = 0;
  for (const auto& [stretch, begin] : pieces) {
    if (stretch.phase == WindowPhase::measured) measured += stretch.end - begin;
  }
  EXPECT_GT(measured, 32U);
}

}  // namespace
}  // namespace culprit::counting
