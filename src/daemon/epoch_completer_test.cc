#include "daemon/epoch_completer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"

namespace culprit {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;

/// What reap() says once the child is gone; "" where it is content.
std::string wait_for_child(EpochCompleter& completer) {
  const uint64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + 20'000 * kMillisecondNs;
  while (read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
    if (const Result<void> done = completer.reap(); !done) return done.error().message;
    if (!completer.is_busy()) return "";
    ::usleep(2000);
  }
  return "still busy";
}

TEST(EpochCompleter, EndsAChildThatHangsAndBeginsTheNext) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  DaemonOptions options;
  options.complete = [](const ClosedEpoch& epoch) {
    if (epoch.path == "hangs") ::pause();
  };
  EpochCompleter completer(options, folder->path(), 200 * kMillisecondNs);
  ASSERT_TRUE(completer.add({.path = "hangs"}));
  ASSERT_TRUE(completer.add({.path = "does not"}));
  EXPECT_NE(wait_for_child(completer).find("took too long"), std::string::npos);
  EXPECT_TRUE(completer.is_busy());  // the second
  completer.stop();
  EXPECT_FALSE(completer.is_busy());
}

TEST(EpochCompleter, IsContentWithOneThatEnds) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  DaemonOptions options;
  EpochCompleter completer(options, folder->path());
  ASSERT_TRUE(completer.add({.path = "nothing there"}));
  EXPECT_EQ(wait_for_child(completer), "");
}

}  // namespace
}  // namespace culprit
