#include "session/joined_stacks.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>

#include "model/builder.h"
#include "model/counts.h"
#include "model/stacks_beside.h"

namespace culprit {
namespace {

constexpr uint64_t kStackNs = 50'000'000;  // what a stack stands for by its own clock

/// main at 0x300 calls a at 0x400 and b at 0x500, which call work (0x0-0x100); nap is at 0x200.
class JoinStacks : public testing::Test {
 protected:
  void SetUp() override {
    const auto name = [&](const char* text) { return facts_.strings.intern(text); };
    for (const auto& [begin, what] :
         {std::pair{0u, "work"}, {0x200u, "nap"}, {0x300u, "main"}, {0x400u, "a"}, {0x500u, "b"}}) {
      facts_.functions.push_back(
          {FileOffset(begin), FileOffset(begin + 0x100), name(what), {}, {}, 0});
    }
    Profile& profile = builder_.profile();
    builder_.begin_run({});
    Event time;
    time.name = builder_.intern("cpu-clock");
    time.unit = Unit::ns;
    time.provenance = Provenance::sampled;
    profile.events.push_back(time);
    profile.images.push_back({});
    spin_ = context("spin");
  }

  ContextId context(std::string_view command) {
    Profile& profile = builder_.profile();
    Context context;
    context.run = builder_.run_id();
    context.mode = Mode::user;
    context.process = ProcessId(profile.processes.size());
    profile.processes.push_back({builder_.run_id(), 0, 0, builder_.intern(command)});
    return builder_.intern_context(context);
  }

  void count(ContextId who, uint64_t offset, uint64_t samples, uint64_t ns) {
    builder_.add(who, {ImageId(0u), FileOffset(offset)}, EventId(0u), samples, ns);
  }
  void add_stack(ContextId who, std::initializer_list<uint64_t> outermost_first) {
    StackId at;
    for (const uint64_t offset : outermost_first) {
      at = builder_.intern_stack({at, {ImageId(0u), FileOffset(offset)}});
    }
    builder_.add_stack(who, at, EventId(0u), 1, kStackNs);
  }

  Profile join(bool are_beside = true) {
    if (are_beside) {
      builder_.run().labels[builder_.intern(kStacksBeside)] = builder_.intern("3");
    }
    builder_.take_counts();
    Profile profile = builder_.profile();
    join_stacks(profile, [this](ImageId) { return &facts_; });
    return profile;
  }

  /// By the offset of the caller, and of the code.
  static std::map<std::pair<uint64_t, uint64_t>, Cell> by_caller(const Profile& profile) {
    std::map<std::pair<uint64_t, uint64_t>, Cell> cells;
    for (const StackCount& count : profile.stack_counts) {
      const auto places = stack_locations(profile, count.stack);
      const uint64_t caller = places.size() > 1 ? places[1].offset.value : 0;
      cells[{caller, places[0].offset.value}] = count.cell;
    }
    return cells;
  }

  ProfileBuilder builder_;
  ImageFacts facts_;
  ContextId spin_;
};

TEST_F(JoinStacks, CallersShareWhatWasCounted) {
  count(spin_, 0x10, 3, 300);
  count(spin_, 0x18, 6, 600);
  add_stack(spin_, {0x300, 0x400, 0x10});  // by a: one of three
  add_stack(spin_, {0x300, 0x500, 0x10});
  add_stack(spin_, {0x300, 0x500, 0x14});  // another place in work: its callers are the same
  const auto cells = by_caller(join());
  ASSERT_EQ(cells.size(), 2u);
  const Cell& a = cells.at({0x400, 0x10});
  EXPECT_EQ(a.value, 300u);
  EXPECT_EQ(a.samples, 3u);
  EXPECT_DOUBLE_EQ(a.variance, 300.0 * 300);  // one stack, worth 900 / 3
  const Cell& b = cells.at({0x500, 0x18});
  EXPECT_EQ(b.value, 600u);
  EXPECT_EQ(b.samples, 6u);
  EXPECT_DOUBLE_EQ(b.variance, 2 * 300.0 * 300);
}

TEST_F(JoinStacks, NeverHoldsMoreOfAPlaceThanItsCounts) {
  count(spin_, 0x10, 1, 100);
  count(spin_, 0x11, 1, 101);
  count(spin_, 0x12, 5, 97);
  for (const uint64_t caller : {0x400U, 0x410U, 0x420U, 0x500U, 0x510U, 0x520U, 0x530U}) {
    add_stack(spin_, {0x300, caller, 0x10});
  }
  const Profile profile = join();
  std::map<uint64_t, Sum> sums;
  for_each_stack_count(profile, [&](const StackCount& count, size_t, const Sum& sum) {
    sums[profile.stacks[count.stack.value].location.offset.value] += sum;
  });
  EXPECT_EQ(sums[0x10].value, 100u);
  EXPECT_EQ(sums[0x10].samples, 1u);
  EXPECT_EQ(sums[0x11].value, 101u);
  EXPECT_EQ(sums[0x11].samples, 1u);
  EXPECT_EQ(sums[0x12].value, 97u);
  EXPECT_EQ(sums[0x12].samples, 5u);
}

TEST_F(JoinStacks, WhatHasNoStackHasNone) {
  count(spin_, 0x10, 3, 300);
  count(spin_, 0x210, 4, 400);            // nap, in no stack
  count(context("other"), 0x10, 5, 500);  // nor this command's work
  add_stack(spin_, {0x300, 0x400, 0x10});
  add_stack(spin_, {0x300, 0x510});  // b alone was not counted
  const Profile profile = join();
  const auto cells = by_caller(profile);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells.at({0x400, 0x10}).value, 300u);
  EXPECT_NE(profile.ledger.notes().front().find("3 call stacks"), std::string::npos);
}

TEST_F(JoinStacks, StacksOfTheCountsThemselvesStayAsTheyAre) {
  count(spin_, 0x10, 3, 300);
  add_stack(spin_, {0x300, 0x400, 0x10});
  const auto cells = by_caller(join(false));
  EXPECT_EQ(cells.at({0x400, 0x10}).value, kStackNs);
}

}  // namespace
}  // namespace culprit
