#include "scan/run/float_status.h"

#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>

#include "base/file.h"

namespace culprit::scan {
namespace {

constexpr uint64_t kLimitNs = 10'000'000'000;

/// The shell has no floating-point operations, and its children have none either. Programs that
/// have some are in tests/scan_rules_test.py.
TEST(FloatStatus, NothingHappensWithoutFloatingPoint) {
  const auto found = watch_float_events({"sh", "-c", "true & wait; true"}, kLimitNs);
  if (!found) GTEST_SKIP() << found.error().message;
  EXPECT_TRUE(found->empty());
}

TEST(FloatStatus, WhatCannotBeRunOrFailsIsAnError) {
  EXPECT_FALSE(watch_float_events({"/no/such/program"}, kLimitNs));
  const auto failed = watch_float_events({"sh", "-c", "exit 3"}, kLimitNs);
  ASSERT_FALSE(failed);
  EXPECT_FALSE(watch_float_events({"sh", "-c", "kill -9 $$"}, kLimitNs));
}

/// Such a file was read by the shell, which made what stands behind its ">".
TEST(FloatStatus, AProgramForAnotherMachineIsNotRun) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder) << folder.error().message;
  const std::string program = folder->path() + "/program";
  const std::string made = folder->path() + "/made";
  std::ofstream(program) << ELFMAG << "\n>" << made << "\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  EXPECT_FALSE(watch_float_events({program}, kLimitNs));
  EXPECT_FALSE(file_exists(made));
}

TEST(FloatStatus, WhatDoesNotEndIsEnded) {
  EXPECT_FALSE(watch_float_events({"sh", "-c", "sleep 60 & wait"}, 100'000'000));
}

}  // namespace
}  // namespace culprit::scan
