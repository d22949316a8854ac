#include "top/top_view.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TopTable processes(std::initializer_list<uint32_t> pids) {
  TopTable table;
  for (const uint32_t pid : pids) {
    TopRow row;
    row.process = {"p", pid};
    row.samples = pid;
    table.rows.push_back(row);
  }
  return table;
}

TEST(TopView, EnterAndBackGoThroughTheLevels) {
  TopView view;
  TopTable table = processes({7, 8});
  press(view, TopKey::down, table, 10);
  EXPECT_TRUE(press(view, TopKey::enter, table, 10));
  EXPECT_EQ(view.question.level, TopLevel::functions);
  EXPECT_EQ(view.question.process, (TopProcess{"p", 8}));
  EXPECT_EQ(view.selected, 0u);

  TopTable functions;
  functions.question = view.question;
  functions.rows.resize(1);
  functions.rows[0].function = {"f", "m"};
  EXPECT_TRUE(press(view, TopKey::enter, functions, 10));
  EXPECT_EQ(view.question.level, TopLevel::instructions);
  EXPECT_EQ(view.question.function, (TopFunction{"f", "m"}));
  EXPECT_TRUE(view.question.by_name);

  EXPECT_TRUE(press(view, TopKey::back, functions, 10));
  EXPECT_EQ(view.question.level, TopLevel::functions);
  EXPECT_TRUE(press(view, TopKey::back, functions, 10));
  EXPECT_EQ(view.question.level, TopLevel::processes);
  EXPECT_FALSE(press(view, TopKey::back, table, 10));
}

TEST(TopView, EnterOnATableThatIsNotShownAnyMoreDoesNothing) {
  TopView view;
  view.question.level = TopLevel::functions;
  EXPECT_FALSE(press(view, TopKey::enter, processes({1}), 10));
  EXPECT_EQ(view.question.level, TopLevel::functions);
}

TEST(TopView, SelectionStaysOnTheScreenAndInTheTable) {
  TopView view;
  const TopTable table = processes({1, 2, 3, 4, 5});
  for (int i = 0; i < 9; ++i) press(view, TopKey::down, table, 3);
  EXPECT_EQ(view.selected, 4u);
  EXPECT_EQ(view.first, 2u);
  press(view, TopKey::first, table, 3);
  EXPECT_EQ(view.selected, 0u);
  EXPECT_EQ(view.first, 0u);
  press(view, TopKey::page_down, table, 3);
  EXPECT_EQ(view.selected, 2u);
  press(view, TopKey::last, table, 3);
  EXPECT_EQ(view.selected, 4u);
  press(view, TopKey::up, TopTable{}, 3);
  EXPECT_EQ(view.selected, 0u);
}

TEST(TopView, SelectedRowIsFollowedWhereverItGoes) {
  TopView view;
  const TopTable before = processes({1, 2, 3});
  view.selected = 1;
  follow_selection(view, before, processes({3, 1, 2}), 10);
  EXPECT_EQ(view.selected, 2u);
  // The first row is the first one, whoever is in it.
  view.selected = 0;
  follow_selection(view, before, processes({3, 1, 2}), 10);
  EXPECT_EQ(view.selected, 0u);
  view.selected = 2;
  follow_selection(view, before, processes({9}), 10);
  EXPECT_EQ(view.selected, 0u);
}

TEST(TopView, CodeBeginsWhereMostOfItHappens) {
  TopView view;
  TopTable code = processes({1, 5, 2});
  code.question.level = TopLevel::instructions;
  follow_selection(view, processes({1}), code, 2);
  EXPECT_EQ(view.selected, 1u);
}

TEST(TopView, WindowsTakeTurns) {
  TopView view;
  const TopTable table;
  std::vector<uint64_t> seen;
  for (int i = 0; i < 4; ++i) {
    seen.push_back(view.window_ns);
    EXPECT_TRUE(press(view, TopKey::window, table, 10));
  }
  EXPECT_EQ(seen, (std::vector<uint64_t>{10'000'000'000, 60'000'000'000, 0, 2'000'000'000}));
  EXPECT_EQ(view.window_ns, seen.front());
  view.window_ns = 5'000'000'000;  // of an option
  press(view, TopKey::window, table, 10);
  EXPECT_EQ(view.window_ns, seen.front());
}

TEST(TopView, AnyKeyLeavesTheHelp) {
  TopView view;
  const TopTable table = processes({1, 2});
  press(view, TopKey::help, table, 10);
  EXPECT_TRUE(view.shows_help);
  press(view, TopKey::down, table, 10);
  EXPECT_FALSE(view.shows_help);
  EXPECT_EQ(view.selected, 0u);
  press(view, TopKey::help, table, 10);
  press(view, TopKey::other, table, 10);
  EXPECT_FALSE(view.shows_help);
  press(view, TopKey::help, table, 10);
  press(view, TopKey::quit, table, 10);
  EXPECT_TRUE(view.is_over);
}

TEST(TopView, PauseEndsWithANewTable) {
  TopView view;
  EXPECT_FALSE(press(view, TopKey::pause, {}, 10));
  EXPECT_TRUE(view.is_paused);
  EXPECT_TRUE(press(view, TopKey::pause, {}, 10));
  EXPECT_FALSE(view.is_paused);
}

}  // namespace
}  // namespace culprit
