// The profile of test_profile.h has 120 of its 1,000 samples in the kernel's clear_page; stacks are
// added by hand.

#include "why/kernel_time.h"

#include <cmath>
#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

constexpr ImageId kMill(0u);
constexpr ImageId kLibc(1u);
constexpr ImageId kKernel(2u);

class KernelTimes : public ::testing::Test {
 protected:
  KernelTimes() {
    ImageFacts& kernel = test_.facts[kKernel];
    const auto add = [&](uint64_t begin, const char* name) {
      kernel.functions.push_back(
          {FileOffset(begin), FileOffset(begin + 0x100), kernel.strings.intern(name), {}, {}, 0});
    };
    add(0x100, "do_anonymous_page");
    add(0x200, "exc_page_fault");
    add(0x300, "__x64_sys_pread64");
  }

  /// Frames innermost first.
  void add_stack(const std::vector<Location>& frames, uint64_t samples) {
    StackId stack;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      test_.profile.stacks.push_back({stack, *frame});
      stack = StackId(test_.profile.stacks.size() - 1);
    }
    test_.profile.kernel_stacks.push_back(
        {ContextId(1u), stack, {EventId(0u), samples, samples * 1'000'000, 0}});
  }

  void add_stacks() {
    const auto kernel = [](uint64_t offset) { return Location{kKernel, FileOffset(offset)}; };
    add_stack({kernel(0x10), kernel(0x110), kernel(0x210), {kMill, FileOffset(0x214)}}, 70);
    add_stack({kernel(0x10), kernel(0x310), {kLibc, FileOffset(0x40)}, {kMill, FileOffset(0x310)}},
              40);
    add_stack({kernel(0x10)}, 10);
  }

  std::optional<KernelTime> find(const std::vector<Filter>& filters = {}) {
    return find_kernel_time(test_.profile, test_.lookup(), filters);
  }

  TestProfile test_ = make_test_profile();
};

TEST_F(KernelTimes, PartsAddUpAndNameWhoAsks) {
  add_stacks();
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  EXPECT_TRUE(time->has_stacks);
  EXPECT_EQ(time->samples, 1000u);
  EXPECT_NEAR(time->share.value, 0.12, 1e-12);
  EXPECT_NEAR(time->share.standard_error, 0.12 / std::sqrt(120), 1e-12);
  ASSERT_EQ(time->parts.size(), 2u);
  const KernelPart& fresh = time->parts[0];
  EXPECT_EQ(fresh.kind->key, "fresh_memory");
  EXPECT_NEAR(fresh.share.value, 0.08, 1e-12);  // 70 by stacks, 10 by the innermost function
  EXPECT_EQ(fresh.function, "grind");
  EXPECT_EQ(fresh.line, "mill.c:12");
  EXPECT_NEAR(fresh.place_share, 70.0 / 80, 1e-12);
  const KernelPart& files = time->parts[1];
  EXPECT_EQ(files.kind->key, "files");
  EXPECT_EQ(describe_calls(files), "pread64");
  EXPECT_EQ(files.function, kLongName);  // not libc, which is in between
}

TEST_F(KernelTimes, WithoutStacksTheInnermostFunctionTells) {
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  EXPECT_FALSE(time->has_stacks);
  ASSERT_EQ(time->parts.size(), 1u);
  EXPECT_EQ(time->parts[0].kind->key, "fresh_memory");
  EXPECT_NEAR(time->parts[0].share.value, 0.12, 1e-12);
  EXPECT_EQ(time->parts[0].function, "");
}

TEST_F(KernelTimes, OfAPartIsWhatItAsksFor) {
  add_stacks();
  const std::optional<KernelTime> grind = find({{RowLevel::function, "grind"}});
  ASSERT_TRUE(grind);
  EXPECT_NEAR(grind->share.value, 0.07, 1e-12);
  const std::optional<KernelTime> libc = find({{RowLevel::module, "libc.so.6"}});
  ASSERT_TRUE(libc);
  EXPECT_NEAR(libc->share.value, 0.04, 1e-12);
  EXPECT_FALSE(find({{RowLevel::thread, "worker"}}));
}

TEST_F(KernelTimes, AreUnknownWhereTheKernelWasNotSampled) {
  std::erase_if(test_.profile.histograms,
                [](const Histogram& one) { return one.image == kKernel; });
  EXPECT_FALSE(find());
}

TEST_F(KernelTimes, TheKernelsAccountSaysHowMuchACallMoves) {
  add_stacks();
  ResourceUse& use = test_.profile.runs[0].use;
  use.read_calls = 1000;
  use.read_bytes = 4'096'000;
  use.write_calls = 0;
  use.written_bytes = 0;
  use.minor_faults = 12'345;
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  EXPECT_EQ(describe_use(*time, time->parts[0]), "the whole run: 12,345 page faults");
  EXPECT_EQ(describe_use(*time, time->parts[1]),
            "the whole run: 1,000 reads of 4.10 kB on average");
}

}  // namespace
}  // namespace culprit
