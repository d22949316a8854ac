#include "stalls/stall_summary.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

#include "stalls/test_profile.h"

namespace culprit {
namespace {

// Bytes that are no code, samples within instructions, counts that contradict each other: cycles
// are neither lost nor made.
TEST(StallSummary, ClosesForAnyBytesAndCounts) {
  std::mt19937 random(23);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(1 + random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    MadeProfile made(random() % 4 == 0 ? "aarch64" : "x86_64", bytes);
    const auto draw = [&] {
      std::map<uint64_t, MadeProfile::Seen> seen;
      for (int i = 0; i < 20; ++i) {
        const uint64_t samples = 1 + random() % 50;
        seen[random() % bytes.size()] = {samples, samples * 1000};
      }
      return seen;
    };
    const auto count = [&] {
      std::map<uint64_t, uint64_t> values;
      for (int i = 0; i < 20; ++i) values[random() % bytes.size()] = random() % 100'000;
      return values;
    };
    made.add("cycles", 1000, draw());
    if (random() % 2 == 0) made.add("instructions", 1000, draw());
    if (random() % 2 == 0) made.add("branch-misses", 1000, draw());
    if (random() % 2 == 0) {
      const uint64_t head = random() % bytes.size();
      made.add_records(head, head + random() % (bytes.size() - head), 2 + random() % 100,
                       random() % 2 == 0 ? 500 : 0);
    }
    if (random() % 2 == 0) {
      for (const char* event :
           {"instructions", "sim:base-cycles", "sim:port-cycles", "LLC-loads"}) {
        made.add_counted(event, count());
      }
    }
    const StallSummary summary = made.summarize({});
    expect_to_close(summary);
    for (const StallPlace& place : summary.places) {
      for (size_t cause = 0; cause < kStallCauses; ++cause) {
        ASSERT_LE(place.stalls.low[cause], place.stalls.high[cause]) << "round " << round;
      }
    }
  }
}

TEST(StallSummary, OfCodeThatIsGoneIsNotKnown) {
  MadeProfile made("x86_64", std::string(40, '\x90'));
  made.add("cycles", 1000, {{0, {10, 10'000}}, {20, {5, 5'000}}});
  made.lose_code();
  const StallSummary summary = made.summarize({});
  EXPECT_EQ(summary.other, 15'000);
  EXPECT_EQ(summary.cycles, 15'000);
  EXPECT_TRUE(summary.places.empty());
}

}  // namespace
}  // namespace culprit
