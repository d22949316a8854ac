#include "model/context_filter.h"

#include <gtest/gtest.h>

#include "model/counts.h"
#include "model/merge.h"
#include "model/stacks_beside.h"

namespace culprit {
namespace {

using Field = ContextFilter::Field;

/// make in /build counted 1, cc1 there 10, cc1 in / 100, and a process of no group 1000. One stack
/// of each process, of contexts that know no group.
Profile of_a_build() {
  Profile profile;
  const StringId make = profile.strings.intern("make");
  const StringId cc1 = profile.strings.intern("cc1");
  const StringId build = profile.strings.intern("/build");
  const StringId root = profile.strings.intern("/");
  profile.processes.resize(3);
  profile.processes[0].name = make;
  profile.processes[1].name = cc1;
  profile.processes[2].name = profile.strings.intern("sh");
  profile.events.resize(1);
  profile.images.resize(1);
  std::vector<HistogramRow> rows;
  uint64_t value = 1;
  const auto add = [&](uint32_t process, StringId cgroup) {
    Context context;
    context.process = ProcessId(process);
    context.cgroup = cgroup;
    rows.push_back({ContextId(profile.contexts.size()),
                    {ImageId(0u), FileOffset(16)},
                    {EventId(0u), 0, value, 0},
                    ObjectId()});
    profile.contexts.push_back(context);
    value *= 10;
  };
  add(0, build);
  add(1, build);
  add(1, root);
  add(2, StringId());
  profile.histograms = make_histograms(rows, profile.events);
  for (uint32_t process = 0; process < 3; ++process) {
    Context context;
    context.process = ProcessId(process);
    profile.stack_counts.push_back(
        {ContextId(profile.contexts.size()), StackId(0u), {EventId(0u), 1, 1}});
    profile.contexts.push_back(context);
  }
  return profile;
}

uint64_t counted(const std::vector<ContextFilter>& filters) {
  Profile profile = of_a_build();
  keep_contexts(profile, filters);
  return total_sums(profile)[0].value;
}

TEST(ContextFilter, AllOfThemHold) {
  EXPECT_EQ(counted({}), 1111u);
  EXPECT_EQ(counted({{Field::comm, "cc1"}}), 110u);
  EXPECT_EQ(counted({{Field::comm, "*c*"}, {Field::cgroup, "/build"}}), 10u);
  EXPECT_EQ(counted({{Field::cgroup, "*"}}), 111u);  // who has none is in no group
  EXPECT_EQ(counted({{Field::comm, "nobody"}}), 0u);
}

TEST(ContextFilter, HoldsForCountsOfEveryKind) {
  const auto edge = [](uint32_t from, uint32_t to) {
    Edge one;
    one.from_context = ContextId(from);
    one.to_context = ContextId(to);
    return one;
  };
  Profile profile = of_a_build();
  profile.edges = {edge(0, 0), edge(0, 1), edge(1, 0), edge(0, 3)};
  for (uint32_t i = 0; i < 4; ++i) {
    profile.counts.push_back({ContextId(i), EventId(0u), 0, 0, 1, 0, 0});
  }
  profile.counts.push_back({ContextId(99u), EventId(0u), 0, 0, 1, 0, 0});  // of a damaged file
  keep_contexts(profile, {{Field::comm, "cc1"}});
  EXPECT_EQ(profile.edges, (std::vector{edge(0, 1), edge(1, 0)}));  // either end
  ASSERT_EQ(profile.counts.size(), 2u);
  EXPECT_EQ(profile.counts[0].context, ContextId(1u));
  EXPECT_EQ(profile.counts[1].context, ContextId(2u));
}

TEST(ContextFilter, StacksBesideCountsKnowCommandsAlone) {
  Profile profile = of_a_build();
  keep_contexts(profile, {{Field::comm, "cc1"}, {Field::cgroup, "/build"}});
  EXPECT_TRUE(profile.stack_counts.empty());  // of the counts themselves: they are of no group

  profile = of_a_build();
  profile.runs.resize(1);
  profile.runs[0].labels[profile.strings.intern(kStacksBeside)] = profile.strings.intern("3");
  keep_contexts(profile, {{Field::comm, "cc1"}, {Field::cgroup, "/build"}});
  ASSERT_EQ(profile.stack_counts.size(), 1u);
  EXPECT_EQ(profile.contexts[profile.stack_counts[0].context.value].process, ProcessId(1u));
}

TEST(ContextFilter, SaysWhoThereIs) {
  EXPECT_EQ(list_names(of_a_build(), Field::comm), (std::vector<std::string>{"cc1", "make", "sh"}));
  EXPECT_EQ(list_names(of_a_build(), Field::cgroup), (std::vector<std::string>{"/", "/build"}));
  EXPECT_TRUE(list_names(of_a_build(), Field::label).empty());
}

TEST(ContextFilter, WordsAreThoseThatAreTyped) {
  for (const std::string text : {"comm=cc*", "cgroup=/a=b", "label="}) {
    const std::optional<ContextFilter> filter = parse_filter(text);
    ASSERT_TRUE(filter) << text;
    EXPECT_EQ(format_filter(*filter), text);
  }
  for (const char* text : {"", "comm", "pid=4", "=cc1"}) EXPECT_FALSE(parse_filter(text)) << text;
}

}  // namespace
}  // namespace culprit
