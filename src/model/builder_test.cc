#include "model/builder.h"

#include <algorithm>
#include <map>
#include <random>

#include "model/random_profile.h"

namespace culprit {
namespace {

constexpr EventId kEvent{0u};

TEST(ProfileBuilder, InternsEqualRowsOnce) {
  ProfileBuilder builder;
  const Context user{{}, {}, {}, Mode::user, {}, {}};
  const ContextId first = builder.intern_context(user);
  EXPECT_EQ(builder.intern_context(user), first);
  EXPECT_NE(builder.intern_context({}), first);
  const StackId root = builder.intern_stack({{}, {ImageId(0u), FileOffset(1)}});
  EXPECT_EQ(builder.intern_stack({{}, {ImageId(0u), FileOffset(1)}}), root);
  EXPECT_NE(builder.intern_stack({root, {ImageId(0u), FileOffset(1)}}), root);
  EXPECT_EQ(builder.profile().stacks.size(), 2u);
}

TEST(ProfileBuilder, CountsAddUpToWhatWasPutIn) {
  ProfileBuilder builder;
  std::mt19937 random(1);
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>, uint64_t> want;
  uint64_t total = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto context = static_cast<uint32_t>(random() % 3);
    const auto image = static_cast<uint32_t>(random() % 4);
    const uint64_t offset = random() % 50;
    const auto event = static_cast<uint32_t>(random() % 2);
    builder.add(ContextId(context), {ImageId(image), FileOffset(offset)}, EventId(event), 1, 7);
    ++want[{context, image, offset, event}];
    ++total;
  }
  builder.take_counts();
  uint64_t samples = 0;
  for (const Histogram& histogram : builder.profile().histograms) {
    for (const EventColumn& column : histogram.columns) {
      for (size_t row = 0; row < histogram.offsets.size(); ++row) {
        const auto key = std::tuple(histogram.context.value, histogram.image.value,
                                    histogram.offsets[row].value, column.event.value);
        EXPECT_EQ(column.samples_at(row), want[key]);
        EXPECT_EQ(column.value[row], want[key] * 7);
        samples += column.samples_at(row);
      }
    }
  }
  EXPECT_EQ(samples, total);
}

TEST(ProfileBuilder, HistogramsAreInThePromisedOrder) {
  ProfileBuilder builder;
  for (const uint32_t context : {2u, 0u, 1u}) {
    for (const uint64_t offset : {9u, 3u, 5u}) {
      for (const uint32_t event : {1u, 0u}) {
        builder.add(ContextId(context), {ImageId(1 - context % 2), FileOffset(offset)},
                    EventId(event), 1, 1);
      }
    }
  }
  builder.profile().events.resize(2);
  builder.take_counts();
  const std::vector<Histogram>& got = builder.profile().histograms;
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got, merge_histograms(got, builder.profile().events));  // canonical already
}

TEST(ProfileBuilder, ContextsWithoutALabelGetTheOneThatIsSet) {
  ProfileBuilder builder;
  const ContextId before = builder.intern_context({});
  builder.label_contexts("build=17");
  const ContextId labelled = builder.intern_context({});
  EXPECT_NE(labelled, before);
  Context own;
  own.label = builder.intern("build=18");
  const std::vector<Context>& contexts = builder.profile().contexts;
  const ContextId of_own = builder.intern_context(own);
  EXPECT_EQ(builder.profile().strings.text(contexts[labelled.value].label), "build=17");
  EXPECT_EQ(builder.profile().strings.text(contexts[of_own.value].label), "build=18");
}

TEST(ProfileBuilder, TakingLeavesNothingBehind) {
  ProfileBuilder builder;
  builder.add(ContextId(0u), {ImageId(0u), FileOffset(1)}, kEvent, 1, 1);
  builder.add_stack(ContextId(0u), StackId(0u), kEvent, 2, 3);
  EXPECT_EQ(builder.entries(), 2u);
  builder.take_counts();
  EXPECT_EQ(builder.entries(), 0u);
  ASSERT_EQ(builder.profile().stack_counts.size(), 1u);
  EXPECT_EQ(builder.profile().stack_counts[0].cell.value, 3u);
  builder.take_counts();
  EXPECT_TRUE(builder.profile().histograms.empty());
  EXPECT_TRUE(builder.profile().stack_counts.empty());
}

}  // namespace
}  // namespace culprit
