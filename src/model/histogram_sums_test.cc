#include "model/histogram_sums.h"

#include <gtest/gtest.h>
#include <random>

#include "model/merge.h"

namespace culprit {
namespace {

const std::vector<Event> kThreeEvents(3);

Histogram one_column(uint32_t context, std::vector<uint64_t> offsets, EventColumn column) {
  Histogram histogram{ContextId(context), ImageId(0u), {}, {std::move(column)}};
  for (const uint64_t offset : offsets) histogram.offsets.emplace_back(offset);
  return histogram;
}

TEST(HistogramSums, KeepAHistogramAsItIs) {
  HistogramSums sums;
  const Histogram one = one_column(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}});
  const Histogram other = one_column(0, {4, 8}, {EventId(0u), {}, {1, 2}, {}});
  sums.add(one, kThreeEvents);
  sums.add(other, kThreeEvents);
  EXPECT_EQ(sums.entries(), 4u);
  EXPECT_EQ(sums.take(kThreeEvents), (std::vector{other, one}));
  EXPECT_EQ(sums.entries(), 0u);
  EXPECT_TRUE(sums.take(kThreeEvents).empty());
}

TEST(HistogramSums, AddWhatMeets) {
  HistogramSums sums;
  sums.add(one_column(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}}), kThreeEvents);
  sums.add(one_column(1, {8, 9}, {EventId(0u), {}, {10, 20}, {}}), kThreeEvents);
  sums.add(one_column(1, {9}, {EventId(0u), {}, {100}, {}}), kThreeEvents);
  sums.add(one_column(2, {4}, {EventId(0u), {}, {7}, {}}), kThreeEvents);
  sums.add(HistogramRow{ContextId(2u), {ImageId(0u), FileOffset(5)}, {EventId(0u), 0, 8, 0}},
           kThreeEvents);
  EXPECT_EQ(sums.take(kThreeEvents),
            (std::vector{one_column(1, {4, 8, 9}, {EventId(0u), {}, {1, 12, 120}, {}}),
                         one_column(2, {4, 5}, {EventId(0u), {}, {7, 8}, {}})}));
}

/// Whatever is wrong with the order or the size of a histogram: it ends in canonical order.
TEST(HistogramSums, BringHistogramsInOrder) {
  const auto taken = [](Histogram histogram) {
    HistogramSums sums;
    sums.add(std::move(histogram), kThreeEvents);
    return sums.take(kThreeEvents);
  };
  const std::vector good{one_column(1, {4, 8}, {EventId(0u), {}, {1, 2}, {}})};
  EXPECT_EQ(taken(one_column(1, {8, 4}, {EventId(0u), {}, {2, 1}, {}})), good);
  EXPECT_EQ(taken(one_column(1, {4, 8, 8}, {EventId(0u), {}, {1, 1, 1}, {}})), good);
  EXPECT_EQ(taken(one_column(1, {4, 6, 8}, {EventId(0u), {}, {1, 0, 2}, {}})), good);
  EXPECT_EQ(taken(one_column(1, {4, 8}, {EventId(0u), {0, 0}, {1, 2}, {0, 0}})), good);
  Histogram columns = one_column(1, {4, 8}, {EventId(1u), {}, {0, 0}, {}});
  columns.columns.push_back({EventId(0u), {}, {1, 2}, {}});
  EXPECT_EQ(taken(columns), good);
  Histogram objects = good.front();
  objects.objects.resize(2);
  EXPECT_EQ(taken(objects), good);
  EXPECT_TRUE(taken(one_column(1, {}, {EventId(0u), {}, {}, {}})).empty());
}

/// As if all had come row by row.
TEST(HistogramSums, AgreeWithRows) {
  std::mt19937 random(1);
  HistogramSums sums;
  std::vector<HistogramRow> rows;
  for (int i = 0; i < 50; ++i) {
    std::vector<HistogramRow> some;
    for (int row = 0; row < 40; ++row) {
      some.push_back(
          {ContextId(static_cast<uint32_t>(random() % 20)),
           {ImageId(static_cast<uint32_t>(random() % 3)), FileOffset(random() % 30)},
           {EventId(static_cast<uint32_t>(random() % 3)), random() % 2, 1 + random() % 5, 0},
           ObjectId(static_cast<uint32_t>(random() % 2))});
    }
    rows.insert(rows.end(), some.begin(), some.end());
    if (i % 5 == 0) {
      for (const HistogramRow& row : some) sums.add(row, kThreeEvents);
    } else {
      for (Histogram& one : make_histograms(some, kThreeEvents))
        sums.add(std::move(one), kThreeEvents);
    }
  }
  EXPECT_EQ(sums.take(kThreeEvents), make_histograms(rows, kThreeEvents));
}

}  // namespace
}  // namespace culprit
