#include "simulate/machine/edge_table.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

namespace culprit::simulate {
namespace {

auto tuple_of(const EdgeKey& key) {
  return std::tuple(key.from, key.to, key.kind);
}

TEST(EdgeTable, CountsAsAMapDoes) {
  EdgeTable table(1'000'000);
  std::map<decltype(tuple_of({})), uint64_t> expected;
  uint64_t random = 3;
  for (int i = 0; i < 300'000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const auto thread = static_cast<uint8_t>((random >> 34) % 2);
    const EdgeKey key{.from = static_cast<Site>(random >> 40) % 300,
                      .to = Origin(static_cast<Site>(random >> 50) % 400, LineUse::load, thread),
                      .kind = static_cast<LineEdgeKind>(1 + (random >> 36) % (kEdgeKinds - 1))};
    if ((random >> 33) % 2 == 0) {
      table.add(key, 3);
      expected[tuple_of(key)] += 3;
    } else {
      table.add_reuse(key.from, key.to);
      ++expected[tuple_of({key.from, key.to, LineEdgeKind::reuse})];
    }
    if (i == 150'000) {
      EXPECT_EQ(table.collect().size(), expected.size());
    }
  }
  const std::vector<LineEdge> edges = table.collect();
  EXPECT_EQ(edges.size(), expected.size());
  for (const auto& [key, count] : edges) EXPECT_EQ(count, expected[tuple_of(key)]);
  EXPECT_TRUE(table.take_rest().empty());
}

TEST(EdgeTable, WhatIsBeyondTheLimitIsTakenOnce) {
  EdgeTable table(1);
  for (Site to = 1; to <= 3; ++to) table.add_reuse(7, to);
  EXPECT_EQ(table.collect().size(), 1U);
  const std::vector<LineEdge> rest = table.take_rest();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].key, (EdgeKey{7, 0, LineEdgeKind::reuse}));
  EXPECT_EQ(rest[0].count, 2U);
  EXPECT_TRUE(table.take_rest().empty());
}

}  // namespace
}  // namespace culprit::simulate
