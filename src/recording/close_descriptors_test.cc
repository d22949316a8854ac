#include "recording/close_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace culprit {
namespace {

/// In a child, which would otherwise close what the test writes to.
TEST(CloseDescriptors, ButThoseThatAreKept) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int fd : {100, 101, 102, 103, 110}) ::dup2(STDOUT_FILENO, fd);
    close_descriptors(100, {103, -1, 100, 2});
    const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
    const bool is_right = is_open(1) && is_open(100) && !is_open(101) && !is_open(102) &&
                          is_open(103) && !is_open(110);
    close_descriptors(100);
    ::_exit(is_right && !is_open(100) && !is_open(103) && is_open(1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace culprit
