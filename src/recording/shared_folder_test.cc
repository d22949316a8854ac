// Folders of the killed go with the next run; those of the living stay.

#include "recording/shared_folder.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace culprit {
namespace {

/// A process that makes a folder and lives on; its path.
pid_t start_owner(std::string& path) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<SharedFolder> made = SharedFolder::make(0);
    if (!made || ::write(ends[1], made->path().data(), made->path().size()) <= 0) ::_exit(1);
    ::close(ends[1]);
    ::pause();
  }
  ::close(ends[1]);
  char buffer[512];
  const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
  ::close(ends[0]);
  if (got > 0) path.assign(buffer, static_cast<size_t>(got));
  return child;
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(SharedFolder, IsRemovedAtTheEnd) {
  std::string path;
  {
    const Result<SharedFolder> made = SharedFolder::make(0);
    ASSERT_TRUE(made);
    path = made->path();
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(file_exists(path));
}

TEST(SharedFolder, OfTheKilledIsRemovedByTheNext) {
  std::string left;
  std::string alive;
  const pid_t killed = start_owner(left);
  const pid_t living = start_owner(alive);
  ASSERT_FALSE(left.empty());
  std::ofstream(left + "/file") << "x";
  end(killed);
  EXPECT_TRUE(file_exists(left));
  ASSERT_TRUE(SharedFolder::make(0));
  EXPECT_FALSE(file_exists(left));
  EXPECT_TRUE(file_exists(alive));
  end(living);
  ASSERT_TRUE(SharedFolder::make(0));
  EXPECT_FALSE(file_exists(alive));
}

TEST(SharedFolder, OfAProgramThatRunsOnStaysUntilItsEnd) {
  std::string left;
  const pid_t killed = start_owner(left);
  const pid_t program = ::fork();
  if (program == 0) {
    ::pause();
    ::_exit(0);
  }
  std::ofstream(left + "/" + std::to_string(program) + ".0") << "counts";
  end(killed);
  ASSERT_TRUE(SharedFolder::make(0));
  EXPECT_TRUE(file_exists(left));
  end(program);
  ASSERT_TRUE(SharedFolder::make(0));
  EXPECT_FALSE(file_exists(left));
}

}  // namespace
}  // namespace culprit
