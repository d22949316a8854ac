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
    add(0x400, "entry_SYSCALL_64");
    add(0x500, "_copy_to_iter");
    add(0x600, "filemap_read");
    add(0x700, "ksys_read");
    add(0x800, "anon_pipe_read");
  }

  static Location kernel(uint64_t offset) { return {kKernel, FileOffset(offset)}; }
  static Location mill(uint64_t offset) { return {kMill, FileOffset(offset)}; }

  /// The 80 samples in libc are in its pread64.
  void name_libc() {
    ImageFacts& libc = test_.facts[kLibc];
    libc.functions = {
        {FileOffset(0), FileOffset(0x100), libc.strings.intern("pread64"), {}, {}, 0}};
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

// What a system's header has of a lock or a string is not what the programmer can change: 0x310 is
// in code of /usr/include/vector.h, which grind calls from 0x214; where nothing else is known it is
// named all the same.
TEST_F(KernelTimes, TheProgramsOwnSourcesAskNotHeadersOfTheSystem) {
  add_stack({kernel(0x10), kernel(0x110), kernel(0x210), mill(0x310), mill(0x214)}, 70);
  add_stack({kernel(0x310), mill(0x310)}, 50);
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->parts.size(), 2u);
  EXPECT_EQ(time->parts[0].function, "grind");
  EXPECT_EQ(time->parts[0].line, "mill.c:12");
  EXPECT_NEAR(time->parts[0].place_share, 1, 1e-12);
  EXPECT_EQ(time->parts[1].function, kLongName);
  EXPECT_EQ(time->parts[1].line, "vector.h:40");
}

TEST_F(KernelTimes, WhatIsInlinedFromHeadersIsOfTheLineThatUsesIt) {
  ImageFacts& mill_facts = test_.facts[kMill];
  for (LineFact& line : mill_facts.lines) {
    if (line.offset == FileOffset(0x220)) line.file = mill_facts.strings.intern("/usr/include/m.h");
  }
  add_stack({kernel(0x310), mill(0x220)}, 120);
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  EXPECT_EQ(time->parts[0].function, "grind");
  EXPECT_EQ(time->parts[0].line, "mill.c:13");
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

TEST_F(KernelTimes, EnteringTheKernelIsPartOfTheCallsOfThePlace) {
  add_stack({kernel(0x310), mill(0x214)}, 90);
  add_stack({kernel(0x410), mill(0x214)}, 20);  // grind calls pread64 and nothing else
  add_stack({kernel(0x410), mill(0x310)}, 10);  // of another function nothing is known
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->parts.size(), 2u);
  EXPECT_EQ(time->parts[0].kind->key, "files");
  EXPECT_NEAR(time->parts[0].share.value, 0.11, 1e-12);
  EXPECT_EQ(time->parts[0].samples, 110u);
  EXPECT_EQ(time->parts[1].kind->key, "calls");
  EXPECT_NEAR(time->parts[1].share.value, 0.01, 1e-12);
}

TEST_F(KernelTimes, AReadOfAnUnknownKindIsLikeTheOthersOfThePlace) {
  add_stack({kernel(0x810), kernel(0x710), mill(0x214)}, 60);
  add_stack({kernel(0x710), mill(0x214)}, 40);
  add_stack({kernel(0x710), mill(0x310)}, 20);  // not known: most are of files
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->parts.size(), 2u);
  EXPECT_EQ(time->parts[0].kind->key, "pipes");
  EXPECT_NEAR(time->parts[0].share.value, 0.1, 1e-12);
  EXPECT_EQ(describe_calls(time->parts[0]), "read");
  EXPECT_EQ(time->parts[1].kind->key, "files");
  EXPECT_NEAR(time->parts[1].share.value, 0.02, 1e-12);
  EXPECT_EQ(describe_calls(time->parts[1]), "read");
}

TEST_F(KernelTimes, TheFunctionThatMakesTheCallHasTimeAroundIt) {
  name_libc();
  add_stack({kernel(0x310), {kLibc, FileOffset(0x40)}, mill(0x214)}, 120);
  const std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->parts.size(), 1u);
  EXPECT_NEAR(time->parts[0].around.value, 0.08, 1e-12);
  EXPECT_NEAR(time->parts[0].around.standard_error, 0.08 / std::sqrt(80), 1e-12);
  EXPECT_EQ(time->parts[0].entries, std::vector<std::string>{"pread64"});
}

// 120 samples of 1,000 in reads of 1 KiB: 30 copy, 40 find pages, 50 are paid by the call; 80 more
// are in pread64 in user mode. In blocks of 64 KiB 63 of 64 calls, and 3 of 4 pages, go:
// 50 x 63/64 + 40 x 3/4 = 79.22, and 80 x 63/64 = 78.75. 1,000,000 reads are 1.024 GB: at 5 GB/s
// 204.8 ms, more than the 30 ms that the copies take. 100 ns for each call are a tenth of a second.
TEST_F(KernelTimes, LargerBlocksSaveCallsButNoCopies) {
  name_libc();
  const Location library{kLibc, FileOffset(0x40)};
  add_stack({kernel(0x510), kernel(0x310), library, mill(0x214)}, 30);
  add_stack({kernel(0x610), kernel(0x310), library, mill(0x214)}, 40);
  add_stack({kernel(0x310), library, mill(0x214)}, 50);
  ResourceUse& use = test_.profile.runs[0].use;
  use.read_calls = 1'000'000;
  use.read_bytes = 1'024'000'000;
  std::optional<KernelTime> time = find();
  ASSERT_TRUE(time);
  time->cpu_s = 1;
  const std::optional<GainForecast> gain = estimate_block_gain(*time, time->parts[0]);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->expected, 0.15797, 1e-5);
  const double chance = 1.96 / std::sqrt(120) * 0.12;
  EXPECT_NEAR(gain->low, 0.07922 - chance, 1e-5);
  EXPECT_NEAR(gain->high, 0.15797 + 0.1 + chance, 1e-5);
  time->use.read_bytes = 10'000'000;  // 10 bytes each: 2 ms at 5 GB/s, so that 28 ms go, and pages
  EXPECT_NEAR(estimate_block_gain(*time, time->parts[0])->expected, 0.05 + 0.04 + 0.08 + 0.028,
              2e-4);
  time->use.read_bytes = 16'384'000'000;  // large already
  EXPECT_FALSE(estimate_block_gain(*time, time->parts[0]));
  time->use.read_bytes = 1'024'000'000;
  time->parts[0].hint = "another repair";
  EXPECT_FALSE(estimate_block_gain(*time, time->parts[0]));
}

// mill has 900 samples of 1 ms, its child sort 100. Of 100 us it would be a short process.
TEST_F(KernelTimes, ShortProcessesAreThoseOfTenMilliseconds) {
  add_stacks();
  EXPECT_EQ(find()->short_process_count, 0u);
  EXPECT_EQ(find()->short_processes.value, 0);
  test_.profile.events[0].scale = 0.1;
  EXPECT_EQ(find()->short_process_count, 1u);
  EXPECT_NEAR(find()->short_processes.value, 0.1, 1e-12);
}

TEST_F(KernelTimes, WhatBeginsManyProgramsMaySaveAllOfTheShortOnes) {
  KernelTime time;
  time.short_process_count = 10;
  time.short_processes = {0.6, 0};
  KernelPart part;
  part.kind = &kernel_kind("processes");
  part.share = {0.2, 0.01};
  EXPECT_NEAR(find_upper_end(time, part), 0.2 + 0.6 + 1.96 * 0.01, 1e-4);
  EXPECT_EQ(describe_use(time, part), "10 processes of at most 10 ms each have 60 % of the time");
  time.short_process_count = 9;
  EXPECT_NEAR(find_upper_end(time, part), 0.2 + 1.96 * 0.01, 1e-4);
  part.kind = &kernel_kind("files");
  part.around = {0.1, 0};
  EXPECT_NEAR(find_upper_end(time, part), 0.3 + 1.96 * 0.01, 1e-4);
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
