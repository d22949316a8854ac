// The table that runs in the kernel is plain C: here it is given keys by the million.

#include "daemon/sample_table.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <utility>

namespace culprit {
namespace {

using Counts = std::map<std::pair<uint64_t, uint32_t>, uint64_t>;

/// What the set holds, by key; a key may be in the table and, several times, in the overflow.
Counts read_set(const sample_set& set) {
  Counts counts;
  const auto add = [&](const sample_entry& entry) {
    if (entry_count(&entry) != 0) counts[{entry.place, entry_who(&entry)}] += entry_count(&entry);
  };
  for (const auto& bucket : set.buckets) {
    for (const sample_entry& entry : bucket) add(entry);
  }
  for (uint64_t i = 0; i < set.overflow_used; ++i) add(set.overflow[i]);
  return counts;
}

uint64_t total(const Counts& counts) {
  uint64_t sum = 0;
  for (const auto& [key, count] : counts) sum += count;
  return sum;
}

TEST(SampleTable, CountsEachKeyExactlyWhileThereIsRoom) {
  const auto set = std::make_unique<sample_set>();
  std::minstd_rand random(1);
  Counts expected;
  // The squares of random numbers: some keys are far more frequent than others.
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t x = random() % 70;
    const uint64_t place = pack_file_place(static_cast<uint32_t>(3 + x % 5), x * x * 16);
    const auto who = static_cast<uint32_t>(1 + x % 3);
    count_sample(set.get(), place, who);
    ++expected[{place, who}];
  }
  EXPECT_EQ(read_set(*set), expected);
  EXPECT_EQ(set->counters.hits + set->counters.misses, 200'000u);
  EXPECT_EQ(set->counters.lost, 0u);
}

TEST(SampleTable, LosesNothingInSilence) {
  for (const uint64_t places : {1'000u, 20'000u, 1'000'000u}) {
    const auto set = std::make_unique<sample_set>();
    std::minstd_rand random(7);
    constexpr uint64_t kSamples = 300'000;
    for (uint64_t i = 0; i < kSamples; ++i) {
      count_sample(set.get(), pack_file_place(3, (random() * uint64_t{2654435761}) % places), 1);
    }
    EXPECT_EQ(set->counters.hits + set->counters.misses, kSamples);
    EXPECT_EQ(total(read_set(*set)) + set->counters.lost, kSamples) << places;
    EXPECT_EQ(set->counters.lost > 0, set->counters.evicted > SAMPLE_OVERFLOW) << places;
  }
}

TEST(SampleTable, KeepsWhatIsHitAndEvictsTheOldest) {
  const auto set = std::make_unique<sample_set>();
  // Five keys of one bucket, found by counting into an empty set.
  std::vector<uint64_t> alike;
  const auto bucket_of = [](uint64_t place) {
    const auto probe = std::make_unique<sample_set>();
    count_sample(probe.get(), place, 0);
    for (size_t i = 0; i < SAMPLE_BUCKETS; ++i) {
      if (entry_count(&probe->buckets[i][0]) != 0) return i;
    }
    return size_t{SAMPLE_BUCKETS};
  };
  const size_t wanted = bucket_of(0);
  alike.push_back(0);
  for (uint64_t place = 1; alike.size() < 5 && place < 40'000; ++place) {
    // The hash that the header states, checked against the table itself.
    if (((place * 0x9e3779b97f4a7c15ull) >> 40 & (SAMPLE_BUCKETS - 1)) != wanted) continue;
    ASSERT_EQ(bucket_of(place), wanted);
    alike.push_back(place);
  }
  ASSERT_EQ(alike.size(), 5u);
  for (size_t i = 0; i < 4; ++i) count_sample(set.get(), alike[i], 0);
  count_sample(set.get(), alike[0], 0);  // the oldest is the newest now
  count_sample(set.get(), alike[4], 0);
  ASSERT_EQ(set->overflow_used, 1u);
  EXPECT_EQ(set->overflow[0].place, alike[1]);
  EXPECT_EQ(read_set(*set)[std::make_pair(alike[0], 0u)], 2u);
}

TEST(SampleTable, ABucketIsALineOfTheCache) {
  EXPECT_EQ(sizeof(sample_entry) * SAMPLE_WAYS, 64u);
  EXPECT_EQ(offsetof(sample_set, buckets) % 64, 0u);
  EXPECT_EQ(sizeof(sample_set) % 64, 0u);
}

TEST(SampleTable, PlacesComeBack) {
  const uint64_t file = pack_file_place(0x3ffff, (uint64_t{1} << 38) - 1);
  EXPECT_EQ(place_kind_of(file), PLACE_FILE);
  EXPECT_EQ(place_image(file), 0x3ffffu);
  EXPECT_EQ(place_offset(file), (uint64_t{1} << 38) - 1);
  const uint64_t kernel = pack_address_place(PLACE_KERNEL, 0xffffffff81000010u);
  EXPECT_EQ(place_kind_of(kernel), PLACE_KERNEL);
  EXPECT_EQ(place_address(kernel), 0xffffffff81000010u);
  const uint64_t jit = pack_address_place(PLACE_PROCESS, 0x7fff12345678u);
  EXPECT_EQ(place_kind_of(jit), PLACE_PROCESS);
  // The event is part of a key, and changes nothing else of it.
  for (const uint64_t place : {file, kernel, jit}) {
    EXPECT_EQ(place_event(place), uint32_t{EVENT_TIME});
    const uint64_t other = with_event(place, SAMPLE_EVENTS - 1);
    EXPECT_EQ(place_event(other), 15u);
    EXPECT_EQ(place_kind_of(other), place_kind_of(place));
    EXPECT_EQ(place_image(other), place_image(place));
    EXPECT_EQ(place_address(other), place_address(place));
  }
  EXPECT_EQ(place_address(jit), 0x7fff12345678u);
}

}  // namespace
}  // namespace culprit
