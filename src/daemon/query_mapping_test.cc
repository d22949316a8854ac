#include "daemon/query_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

const uint32_t kSelf = static_cast<uint32_t>(::getpid());

// The text of /proc/PID/maps says the same.
TEST(QueryMapping, SaysWhatTheTextSays) {
  if (!query_mapping(kSelf, RunAddress(0))) GTEST_SKIP() << "this kernel has no such question";
  size_t files = 0;
  const Result<std::string> text = read_file("/proc/self/maps");
  ASSERT_TRUE(text);
  for (const ProcMapping& line : parse_proc_maps(*text)) {
    if (line.inode == 0) continue;  // the heap and stacks may grow meanwhile
    const auto asked = query_mapping(kSelf, RunAddress(line.end.value - 1));
    ASSERT_TRUE(asked);
    ASSERT_TRUE(*asked);
    const ProcMapping& mapping = **asked;
    EXPECT_EQ(mapping.start, line.start);
    EXPECT_EQ(mapping.end, line.end);
    EXPECT_EQ(mapping.executable, line.executable);
    EXPECT_EQ(mapping.file_offset, line.file_offset);
    EXPECT_EQ(mapping.device_major, line.device_major);
    EXPECT_EQ(mapping.device_minor, line.device_minor);
    EXPECT_EQ(mapping.inode, line.inode);
    EXPECT_EQ(mapping.path, line.path);
    ++files;
  }
  EXPECT_GT(files, 3u);
}

TEST(QueryMapping, NothingIsMappedAtZeroAndInProcessesThatAreNot) {
  const auto at_zero = query_mapping(kSelf, RunAddress(0));
  if (!at_zero) GTEST_SKIP() << at_zero.error().message;
  EXPECT_FALSE(*at_zero);
  const auto of_nobody = query_mapping(UINT32_MAX, RunAddress(4096));
  ASSERT_TRUE(of_nobody);
  EXPECT_FALSE(*of_nobody);
}

}  // namespace
}  // namespace culprit
