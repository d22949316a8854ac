// What goes out, and when: by the rule in time_order.h, on paper.

#include "perfdata/time_order.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

struct OneBlock {
  HeldBlock held;
  [[nodiscard]] HeldBlock hold() const { return held; }
  [[nodiscard]] const RecordBlock* block() const { return held.get(); }
};

/// Records with a number in their type; what has gone out, in order.
class Order {
 public:
  explicit Order(size_t most_waiting = 100)
      : order_(
            [this](const RawRecord& record) -> Result<void> {
              passed_.push_back(record.header.type);
              return {};
            },
            most_waiting) {}

  /// Each in a block of its own.
  void push(uint64_t time_ns, uint32_t number, size_t block_bytes = 64) {
    RawRecord record;
    record.header.type = number;
    const OneBlock source{std::make_shared<const RecordBlock>(block_bytes)};
    blocks_.push_back(source.held);
    ASSERT_TRUE(order_.push(time_ns, record, source));
  }
  /// Whether each block is still held, in the order of their coming.
  [[nodiscard]] std::vector<bool> held() const {
    std::vector<bool> held;
    for (const std::weak_ptr<const RecordBlock>& block : blocks_) held.push_back(!block.expired());
    return held;
  }
  void end_round() { ASSERT_TRUE(order_.end_round()); }
  void end() { ASSERT_TRUE(order_.end()); }
  [[nodiscard]] uint64_t late() const { return order_.late(); }
  std::vector<uint32_t> take() { return std::exchange(passed_, {}); }

 private:
  std::vector<uint32_t> passed_;
  std::vector<std::weak_ptr<const RecordBlock>> blocks_;
  TimeOrder order_;
};

using Numbers = std::vector<uint32_t>;

TEST(TimeOrder, PassesOnWhatTheRoundBeforeHadSeen) {
  Order order;
  order.push(30, 1);
  order.push(10, 2);
  order.end_round();
  EXPECT_EQ(order.take(), Numbers{});  // another CPU may still have older ones
  order.push(20, 3);
  order.push(40, 4);
  order.end_round();
  EXPECT_EQ(order.take(), (Numbers{2, 3, 1}));  // up to 30
  order.push(35, 5);
  order.end();
  EXPECT_EQ(order.take(), (Numbers{5, 4}));
  EXPECT_EQ(order.late(), 0u);
}

TEST(TimeOrder, KeepsTheOrderOfTheFileAmongEqualTimes) {
  Order order;
  order.push(10, 1);
  order.push(10, 2);
  order.end_round();
  order.push(10, 3);
  order.push(5, 4);
  order.push(10, 5);
  order.end();
  EXPECT_EQ(order.take(), (Numbers{4, 1, 2, 3, 5}));
}

TEST(TimeOrder, CountsWhatComesTooLateAndPassesItOn) {
  Order order;
  order.push(10, 1);
  order.push(20, 2);
  order.end_round();
  order.end_round();
  EXPECT_EQ(order.take(), (Numbers{1, 2}));
  order.push(15, 3);
  order.push(20, 4);  // as late as what has gone out, not later
  EXPECT_EQ(order.late(), 1u);
  order.end();
  EXPECT_EQ(order.take(), (Numbers{3, 4}));
}

TEST(TimeOrder, PassesOnTheOlderHalfWhenTooManyWait) {
  Order order(4);
  order.push(40, 4);
  order.push(30, 3);
  order.push(10, 1);
  EXPECT_EQ(order.take(), Numbers{});
  order.push(20, 2);
  EXPECT_EQ(order.take(), (Numbers{1, 2, 3}));  // the median of 10 20 30 40 is at 30
  order.end();
  EXPECT_EQ(order.take(), Numbers{4});
}

TEST(TimeOrder, CountsTheBlocksThatWaitingRecordsHold) {
  Order order(1000);
  constexpr size_t kBlock = TimeOrder::kMostWaitingBytes / 4;
  order.push(10, 1, kBlock);
  order.push(20, 2, kBlock);
  order.push(30, 3, kBlock);
  EXPECT_EQ(order.take(), Numbers{});
  order.push(40, 4, kBlock);
  EXPECT_EQ(order.take(), (Numbers{1, 2, 3}));
  order.push(50, 5, kBlock);
  order.push(60, 6, kBlock);
  EXPECT_EQ(order.take(), Numbers{});  // those that have gone out count no more
}

TEST(TimeOrder, HoldsTheBlocksOfWhatWaitsAndNoOthers) {
  Order order;
  order.push(10, 1);
  order.push(30, 2);
  order.push(20, 3);
  order.end_round();  // 30 is the newest; nothing goes out yet
  EXPECT_EQ(order.held(), (std::vector<bool>{true, true, true}));
  order.push(40, 4);
  order.end_round();  // up to 30
  EXPECT_EQ(order.held(), (std::vector<bool>{false, false, false, true}));
  order.end();
  order.push(50, 5);  // the block before it has nothing that waits
  EXPECT_EQ(order.held(), (std::vector<bool>{false, false, false, false, true}));
}

TEST(TimeOrder, EndsWithTheSinksError) {
  TimeOrder order([](const RawRecord&) -> Result<void> { return Error{"full"}; });
  ASSERT_TRUE(order.push(1, {}, OneBlock{std::make_shared<const RecordBlock>(64)}));
  const auto ended = order.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "full");
}

}  // namespace
}  // namespace culprit
