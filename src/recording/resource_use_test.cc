#include "recording/resource_use.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// proc(5): what /proc/PID/io of `dd bs=4k count=1000` had.
constexpr const char* kIo =
    "rchar: 4106956\nwchar: 4096101\nsyscr: 1018\nsyscw: 1003\nread_bytes: 12288\n"
    "write_bytes: 0\ncancelled_write_bytes: 0\n";

TEST(ParseTransfers, TakesCallsAndBytesAndNotWhatDisksMoved) {
  ResourceUse use;
  parse_transfers(kIo, use);
  EXPECT_EQ(use.read_calls, 1018);
  EXPECT_EQ(use.read_bytes, 4106956);
  EXPECT_EQ(use.write_calls, 1003);
  EXPECT_EQ(use.written_bytes, 4096101);
}

TEST(ParseTransfers, LeavesUnknownWhatIsNotThereOrNoNumber) {
  ResourceUse use;
  parse_transfers("", use);
  parse_transfers("rchar: \nwchar: x\nsyscr", use);
  parse_transfers("syscw: 99999999999999999999\n", use);
  EXPECT_EQ(use, ResourceUse{});
}

TEST(AddUsage, KeepsKernelTimeAndFaults) {
  rusage usage{};
  usage.ru_stime = {2, 500};
  usage.ru_minflt = 465;
  ResourceUse use;
  add_usage(usage, use);
  EXPECT_EQ(use.system_time_ns, 2'000'500'000);
  EXPECT_EQ(use.minor_faults, 465);
  EXPECT_EQ(use.major_faults, 0);
}

}  // namespace
}  // namespace culprit
