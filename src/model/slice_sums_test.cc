// Expected slices by hand: 200 of 10 ms are 2 s, so that 2 s is the first time in slices of 20 ms,
// 4 s in slices of 40 ms.

#include "model/slice_sums.h"

#include <gtest/gtest.h>
#include <random>

namespace culprit {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kStart = 5'000 * kMs;
const std::vector<Event> kEvents(2);

/// A sample of 1,001 events.
SliceCount sample(uint32_t context = 0) {
  return {ContextId(context), 0, 0, {EventId(0u), 1, 1001, 0}};
}

SliceCount wait_of(uint64_t value) {
  return {ContextId(0u), 0, 0, {EventId(1u), 1, value, 0}};
}

SliceCount row(uint64_t width_ns, uint64_t begin_ns, Cell cell, uint32_t context = 0) {
  return {ContextId(context), width_ns, begin_ns, cell};
}

using Rows = std::vector<SliceCount>;

TEST(SliceSums, SamplesCountInTheSliceOfTheirTime) {
  SliceSums sums;
  sums.begin(kStart);
  sums.add(sample(), kStart, kStart, kEvents);
  sums.add(sample(), kStart + 10 * kMs - 1, kStart + 10 * kMs - 1, kEvents);
  sums.add(sample(), kStart + 10 * kMs, kStart + 10 * kMs, kEvents);
  sums.add(sample(1), kStart + 10 * kMs, kStart + 10 * kMs, kEvents);
  EXPECT_EQ(sums.take(kEvents), (Rows{row(10 * kMs, 0, {EventId(0u), 2, 2002, 0}),
                                      row(10 * kMs, 10 * kMs, {EventId(0u), 1, 1001, 0}),
                                      row(10 * kMs, 10 * kMs, {EventId(0u), 1, 1001, 0}, 1)}));
  EXPECT_EQ(sums.entries(), 0u);
}

TEST(SliceSums, WhatIsEarlyCountsInTheFirstSlice) {
  SliceSums sums;
  sums.begin(kStart);
  sums.add(sample(), kStart - 20 * kMs, kStart - 20 * kMs, kEvents);
  EXPECT_EQ(sums.take(kEvents), (Rows{row(10 * kMs, 0, {EventId(0u), 1, 1001, 0})}));
}

TEST(SliceSums, NothingIsKeptWithoutATime) {
  SliceSums sums;
  sums.add(sample(), kStart, kStart, kEvents);  // of no run
  sums.begin(kStart);
  sums.add(sample(), 0, 0, kEvents);
  EXPECT_TRUE(sums.take(kEvents).empty());
}

TEST(SliceSums, SlicesBecomeTwiceAsWideInsteadOfMore) {
  SliceSums sums;
  sums.begin(kStart);
  sums.add(sample(), kStart + 1'999 * kMs, kStart + 1'999 * kMs, kEvents);
  sums.add(sample(), kStart + 2'000 * kMs, kStart + 2'000 * kMs, kEvents);
  sums.add(sample(), kStart + 15 * kMs, kStart + 15 * kMs, kEvents);  // late
  sums.add(sample(), kStart + 4'000 * kMs, kStart + 4'000 * kMs, kEvents);
  const Cell one{EventId(0u), 1, 1001, 0};
  EXPECT_EQ(sums.take(kEvents),
            (Rows{row(10 * kMs, 1'990 * kMs, one), row(20 * kMs, 0, one),
                  row(20 * kMs, 2'000 * kMs, one), row(40 * kMs, 4'000 * kMs, one)}));
  // Another run begins narrow.
  sums.begin(kStart + 9'000 * kMs);
  sums.add(sample(2), kStart + 9'000 * kMs, kStart + 9'000 * kMs, kEvents);
  EXPECT_EQ(sums.take(kEvents), (Rows{row(10 * kMs, 0, one, 2)}));
}

TEST(SliceSums, WaitsLieInEachSliceThatTheyLast) {
  SliceSums sums;
  sums.begin(kStart);
  // From 7 ms to 34 ms: 3, 10, 10 and 4 ms; it is one wait, which ended in the last slice.
  sums.add(wait_of(27 * kMs), kStart + 7 * kMs, kStart + 34 * kMs, kEvents);
  EXPECT_EQ(sums.take(kEvents), (Rows{row(10 * kMs, 0, {EventId(1u), 0, 3 * kMs, 0}),
                                      row(10 * kMs, 10 * kMs, {EventId(1u), 0, 10 * kMs, 0}),
                                      row(10 * kMs, 20 * kMs, {EventId(1u), 0, 10 * kMs, 0}),
                                      row(10 * kMs, 30 * kMs, {EventId(1u), 1, 4 * kMs, 0})}));
}

TEST(SliceSums, NoLongWaitTakesMoreSlicesThanARun) {
  SliceSums sums;
  sums.begin(kStart);
  const uint64_t day_ns = 86'400'000 * kMs;
  sums.add(wait_of(day_ns), kStart, kStart + day_ns, kEvents);
  const Rows rows = sums.take(kEvents);
  EXPECT_LE(rows.size(), SliceSums::kMostSlices);
  EXPECT_GT(rows.size(), SliceSums::kMostSlices / 2 - 1);
}

TEST(SliceSums, NothingIsLostOrTwice) {
  std::mt19937 random(7);
  SliceSums sums;
  sums.begin(kStart);
  Cell in[2] = {{EventId(0u), 0, 0, 0}, {EventId(1u), 0, 0, 0}};
  uint64_t now_ns = kStart;
  for (int i = 0; i < 5'000; ++i) {
    now_ns += random() % (3 * kMs);
    sums.add(sample(static_cast<uint32_t>(random() % 3)), now_ns, now_ns, kEvents);
    ++in[0].samples;
    in[0].value += 1001;
    const uint64_t wait_ns = std::min<uint64_t>(random() % (200 * kMs), now_ns - kStart);
    sums.add(wait_of(wait_ns), now_ns - wait_ns, now_ns, kEvents);
    ++in[1].samples;
    in[1].value += wait_ns;
  }
  Cell out[2] = {{EventId(0u), 0, 0, 0}, {EventId(1u), 0, 0, 0}};
  for (const SliceCount& one : sums.take(kEvents)) {
    EXPECT_EQ(one.begin_ns % one.width_ns, 0u);
    out[one.cell.event.value].samples += one.cell.samples;
    out[one.cell.event.value].value += one.cell.value;
  }
  EXPECT_EQ(out[0], in[0]);
  EXPECT_EQ(out[1], in[1]);
}

}  // namespace
}  // namespace culprit
