#include "model/histogram_sums.h"

#include <gtest/gtest.h>
#include <random>

#include "model/merge.h"

namespace culprit {
namespace {

const std::vector<Event> kEvents(3);

Histogram make(uint32_t context, std::vector<uint64_t> offsets, EventColumn column) {
  Histogram histogram{ContextId(context), ImageId(0u), {}, {std::move(column)}};
  for (const uint64_t offset : offsets) histogram.offsets.emplace_back(offset);
  return histogram;
}

TEST(HistogramSums, KeepAHistogramAsItIs) {
  HistogramSums sums;
  const Histogram one = make(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}});
  const Histogram other = make(0, {4, 8}, {EventId(0u), {}, {1, 2}, {}});
  sums.add(one, kEvents);
  sums.add(other, kEvents);
  EXPECT_EQ(sums.entries(), 4u);
  EXPECT_EQ(sums.take(kEvents), (std::vector{other, one}));
  EXPECT_EQ(sums.entries(), 0u);
  EXPECT_TRUE(sums.take(kEvents).empty());
}

TEST(HistogramSums, AddWhatMeets) {
  HistogramSums sums;
  sums.add(make(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}}), kEvents);
  sums.add(make(1, {8, 9}, {EventId(0u), {}, {10, 20}, {}}), kEvents);
  sums.add(make(1, {9}, {EventId(0u), {}, {100}, {}}), kEvents);
  sums.add(make(2, {4}, {EventId(0u), {}, {7}, {}}), kEvents);
  sums.add(HistogramRow{ContextId(2u), {ImageId(0u), FileOffset(5)}, {EventId(0u), 0, 8, 0}},
           kEvents);
  EXPECT_EQ(sums.take(kEvents),
            (std::vector{make(1, {4, 8, 9}, {EventId(0u), {}, {1, 12, 120}, {}}),
                         make(2, {4, 5}, {EventId(0u), {}, {7, 8}, {}})}));
}

/// Whatever is wrong with the order or the size of a histogram: it ends in canonical order.
TEST(HistogramSums, BringHistogramsInOrder) {
  const auto taken = [](Histogram histogram) {
    HistogramSums sums;
    sums.add(std::move(histogram), kEvents);
    return sums.take(kEvents);
  };
  const std::vector good{make(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}})};
  EXPECT_EQ(taken(make(1, {8, 4}, {EventId(0u), {}, {2, 1}, {}})), good);
  EXPECT_EQ(taken(make(1, {4, 8, 8}, {EventId(0u), {}, {1, 1, 1}, {}})), good);
  EXPECT_EQ(taken(make(1, {4, 6, 8}, {EventId(0u), {}, {1, 0, 2}, {}})), good);
  EXPECT_EQ(taken(make(1, {4, 8}, {EventId(0u), {0, 0}, {1, 2}, {0, 0}})), good);
  Histogram columns = make(1, {4, 8}, {EventId(1u), {}, {0, 0}, {}});
  columns.columns.push_back({EventId(0u), {}, {1, 2}, {}});
  EXPECT_EQ(taken(columns), good);
  Histogram objects = good.front();
  objects.objects.resize(2);
  EXPECT_EQ(taken(objects), good);
  EXPECT_TRUE(taken(make(1, {}, {EventId(0u), {}, {}, {}})).empty());
}

/// As if all had come row by row.
TEST(HistogramSums, AgreeWithRows) {
  std::mt19937 random(1);
  HistogramSums sums;
  std::vector<HistogramRow> rows;
  for (int i = 0; i < 50; ++i) {
    std::vector<HistogramRow> some;
    for (int row = 0; row < 40; ++row) {
      some.push_back({ContextId(static_cast<uint32_t>(random() % 20)),
                      {ImageId(static_cast<uint32_t>(random() % 3)), FileOffset(random() % 30)},
                      {EventId(static_cast<uint32_t>(random() % 3)), random() % 2, random() % 5, 0},
                      ObjectId(static_cast<uint32_t>(random() % 2))});
    }
    rows.insert(rows.end(), some.begin(), some.end());
    if (i % 5 == 0) {
      for (const HistogramRow& row : some) sums.add(row, kEvents);
    } else {
      for (Histogram& one : make_histograms(some, kEvents)) sums.add(std::move(one), kEvents);
    }
  }
  EXPECT_EQ(sums.take(kEvents), make_histograms(rows, kEvents));
}

}  // namespace
}  // namespace culprit
